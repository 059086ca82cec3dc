package discord

import "net/http"

// editMessage is messages.edit: fields that were not sent stay. Mentions are
// parsed again if the content was sent or allowed_mentions was not: an edit that
// does not limit its mentions may ping everyone, whatever the post said. Discord's
// guide says so of an edited content only; this stricter reading finds clients
// that forgot.
func (s *Server) editMessage(r *http.Request) (any, error) {
	f, formErr := readForm(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	c, i, err := s.message(r)
	switch {
	case err != nil:
		return nil, err
	case c.Archived:
		return nil, coded(codeThreadArchived)
	case c.posted[i].message.Author.ID != BotID:
		return nil, coded(codeOthersMessage)
	case formErr != nil:
		return nil, formErr
	}
	if len(f.embeds) > 0 && !c.allows(EmbedLinks) {
		return nil, coded(codeMissingPermissions)
	}
	m := c.posted[i].message
	m.take(f)
	if m.empty() {
		return nil, coded(codeEmptyMessage)
	}
	if f.content != nil || f.allowed == nil {
		m.mention(f.allowed, c.Channel, s.world.guilds[c.GuildID])
	}
	edited := stamp(s.clock.Now())
	m.EditedTimestamp = &edited
	if err := s.commit(record{Message: &m}); err != nil {
		return nil, err
	}
	return m.public(), nil
}

// deleteMessage is messages.delete.
func (s *Server) deleteMessage(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, i, err := s.message(r)
	switch {
	case err != nil:
		return nil, err
	case c.Archived:
		return nil, coded(codeThreadArchived)
	case c.posted[i].message.Author.ID != BotID && !c.allows(ManageMessages):
		return nil, coded(codeMissingPermissions)
	}
	return nil, s.commit(record{Deleted: &deletion{c.ID, c.posted[i].message.ID}})
}
