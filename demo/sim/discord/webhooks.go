package discord

import (
	"net/http"
	"time"
)

// tokenLife is how long an interaction's token can be used.
const tokenLife = 15 * time.Minute

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
