package discord

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// nonceWindow is Discord's "past few minutes".
const nonceWindow = 3 * time.Minute

// isComponentsV2 is the flag of a message that is made of components alone.
const isComponentsV2 = 1 << 15

// createMessage is messages.create. With enforce_nonce, a nonce of the past few
// minutes returns the message that has it, whatever else the body says: from any
// channel, since Discord compares by author, and 10008 if it was deleted since,
// which Discord calls intended (pull request 6647 of discord/discord-api-docs).
func (s *Server) createMessage(r *http.Request) (any, error) {
	f, formErr := readForm(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.channel(r, SendMessages)
	if err != nil {
		return nil, err
	}
	if c.Archived {
		return nil, coded(codeThreadArchived)
	}
	if formErr != nil {
		return nil, formErr
	}
	if len(f.embeds) > 0 && !c.allows(EmbedLinks) {
		return nil, coded(codeMissingPermissions)
	}
	now := s.clock.Now()
	m := blank(c.ID, bot(), now)
	m.TTS, m.Nonce = f.tts, f.nonce
	m.take(f)
	if m.empty() {
		return nil, coded(codeEmptyMessage)
	}
	if f.enforce {
		if earlier, err := s.world.byNonce(nonceText(f.nonce), now); earlier != nil || err != nil {
			return earlier, err
		}
	}
	m.mention(f.allowed, c.Channel, s.world.guilds[c.GuildID])
	m.ID = s.newID(now)
	if err := s.commit(record{Message: &m}); err != nil {
		return nil, err
	}
	return m.posted(), nil
}

// blank is an empty message.
func blank(channelID string, author User, now time.Time) Message {
	return Message{
		ChannelID: channelID, Author: author, Timestamp: stamp(now), Mentions: []User{}, MentionRoles: []string{},
		Attachments: []json.RawMessage{}, Embeds: []json.RawMessage{}, Components: []json.RawMessage{},
	}
}

// byNonce finds the message with a nonce of the past few minutes; (nil, nil) if
// there is none.
func (w *world) byNonce(nonce string, now time.Time) (any, error) {
	use, ok := w.nonces[nonce]
	if nonce == "" || !ok || now.Sub(use.at) >= nonceWindow {
		return nil, nil
	}
	c := w.channels[use.channelID]
	i, found := c.find(use.id)
	if !found {
		return nil, coded(codeUnknownMessage)
	}
	return c.posted[i].message.posted(), nil
}

// take writes the fields that a form sent into a message and leaves the others.
func (m *Message) take(f form) {
	if f.content != nil {
		m.Content = *f.content
	}
	if f.embeds != nil {
		m.Embeds = f.embeds
	}
	if f.components != nil {
		m.Components = f.components
	}
	if f.flags != nil {
		m.Flags = *f.flags
	}
}

// empty reports whether a message shows nothing. Components count only if the
// message's flag says that it consists of them.
func (m *Message) empty() bool {
	if m.Flags&isComponentsV2 != 0 && len(m.Components) > 0 {
		return false
	}
	return strings.TrimSpace(m.Content) == "" && len(m.Embeds) == 0
}
