package discord

import (
	"net/http"
	"slices"
	"time"
)

// tokenLife is how long an interaction's token can be used.
const tokenLife = 15 * time.Minute

// ephemeral is a message that one person sees.
type ephemeral struct {
	User    string  `json:"user"`
	Message Message `json:"message"`
}

func (w *world) putEphemeral(e ephemeral) {
	w.use(e.Message.ID)
	list := slices.Clone(w.ephemerals[e.User])
	i := slices.IndexFunc(list, func(m Message) bool { return m.ID == e.Message.ID })
	if i < 0 {
		list = append(list, e.Message)
	} else {
		list[i] = e.Message
	}
	w.ephemerals[e.User] = list
}

// shownTo finds a message that the person of an interaction sees in its channel.
func (w *world) shownTo(it interaction, id string) (Message, bool) {
	for _, m := range slices.Concat(w.ephemerals[it.User], w.messages(it.Channel)) {
		if m.ID == id && m.ChannelID == it.Channel {
			return m, true
		}
	}
	return Message{}, false
}

// byToken finds the interaction of a call. The caller holds the lock.
func (s *Server) byToken(r *http.Request) (interaction, error) {
	it, known := s.world.interactions[r.PathValue("token")]
	switch {
	case !known || r.PathValue("application") != BotID || it.State == stateSent:
		return interaction{}, coded(codeUnknownWebhook)
	case it.State == stateFailed:
		return interaction{}, coded(codeUnknownInteraction)
	case s.clock.Now().Sub(it.At) > tokenLife:
		return interaction{}, coded(codeInvalidToken)
	}
	return it, nil
}

// editOriginal is webhooks.edit. Before the endpoint's answer has come the webhook is not
// known yet; after an answer without a message there is none to edit.
func (s *Server) editOriginal(r *http.Request) (any, error) {
	fields, formErr := readFields(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.byToken(r)
	if err != nil {
		return nil, err
	}
	if formErr != nil {
		return nil, formErr
	}
	m, err := s.update(it, fields)
	if err != nil {
		return nil, err
	}
	return m.public(), nil
}

// createFollowup is webhooks.create: another message, or the first after a deferral,
// which takes the place of the deferred one.
func (s *Server) createFollowup(r *http.Request) (any, error) {
	fields, formErr := readFields(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.byToken(r)
	if err != nil {
		return nil, err
	}
	if formErr != nil {
		return nil, formErr
	}
	if original, found := s.world.shownTo(it, it.Original); found && original.Flags&flagLoading != 0 {
		m, err := s.update(it, fields)
		if err != nil {
			return nil, err
		}
		return m.public(), nil
	}
	m, err := s.newAnswer(it, fields)
	if err != nil {
		return nil, err
	}
	return m.public(), s.keep(it, m)
}
