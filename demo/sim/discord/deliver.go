package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"questscheduler/demo/sim/control"
)

// sendMethod is the name by which faults match what is sent to the endpoint.
const sendMethod = "interactions.send"

// outcome is what a person's act led to, as POST /_sim/interactions answers it.
type outcome struct {
	ID     string          `json:"id"`
	Token  string          `json:"token"`
	Status int             `json:"status,omitempty"` // the endpoint's; 0 if it did not answer
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// simInteraction is POST /_sim/interactions: it sends an interaction and waits for the
// answer. 400 is an act that no person can do, 502 an endpoint that does not answer 200
// with JSON in time, 422 an answer that Discord refuses.
func (s *Server) simInteraction(w http.ResponseWriter, r *http.Request) {
	var a act
	if !control.Decode(w, r, &a) {
		return
	}
	s.mu.Lock()
	refusal := http.StatusBadRequest
	it, payload, err := s.begin(a)
	if err == nil {
		refusal, err = http.StatusInternalServerError, s.commit(record{Interaction: &it})
	}
	endpoint := s.world.Endpoint
	s.mu.Unlock()
	if err != nil {
		control.Refuse(w, refusal, err)
		return
	}
	f := s.control.Take(control.Call{Method: sendMethod})
	if f.Wait(r.Context()) != nil {
		panic(http.ErrAbortHandler)
	}
	answer, err := s.deliver(r.Context(), endpoint, payload, f)
	status, o := s.conclude(it, answer, err)
	for range f.Duplicate {
		// The first answer counts, whatever the repeats are answered.
		_, _ = s.send(r.Context(), endpoint, payload, f.BadSignature)
	}
	writeJSON(w, status, o)
}

// conclude does what the endpoint answered, or makes the token void. It gives what the
// control answers.
func (s *Server) conclude(it interaction, answer reply, err error) (int, outcome) {
	o := outcome{ID: it.ID, Token: it.Token, Status: answer.status}
	if json.Valid(answer.body) {
		o.Answer = answer.body
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	status := http.StatusBadGateway
	if err == nil {
		err = answer.check()
	}
	if err == nil {
		status = http.StatusUnprocessableEntity
		err = s.takeAnswer(it, answer.body)
	}
	if err == nil {
		return http.StatusOK, o
	}
	o.Error, it.State = sentence(err), stateFailed
	if err := s.commit(record{Interaction: &it}); err != nil {
		return http.StatusInternalServerError, o
	}
	return status, o
}

// deliver sends an interaction, or does what a planted fault demands.
func (s *Server) deliver(ctx context.Context, endpoint string, payload []byte, f control.Fault) (reply, error) {
	switch {
	case f.Drop:
		return reply{}, errors.New("a planted fault dropped the interaction")
	case !f.LostAnswer && (f.Status != 0 || f.Body != ""):
		return reply{cmp.Or(f.Status, http.StatusOK), "application/json", []byte(f.Body)}, nil
	}
	answer, err := s.send(ctx, endpoint, payload, f.BadSignature)
	if f.LostAnswer && err == nil {
		return reply{}, errors.New("a planted fault lost the endpoint's answer")
	}
	return answer, err
}

// sentence is an error, with every place in the answer that is wrong.
func sentence(err error) string {
	if p, ok := errors.AsType[*problem](err); ok {
		if len(p.Errors) > 0 {
			return strings.Join(p.Errors.sentences(), "; ")
		}
		return fmt.Sprintf("%s (%d)", p.Message, p.Code)
	}
	return err.Error()
}
