package discord

import (
	"errors"
	"net/http"

	"questscheduler/demo/sim/control"
)

// simMessages is GET /_sim/channels/{id}/messages: every message of a channel,
// oldest first, with its nonce and _sim_pinged, whatever the bot may see.
func (s *Server) simMessages(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	_, known := s.world.channels[r.PathValue("channel")]
	list := s.world.messages(r.PathValue("channel"))
	s.mu.Unlock()
	if !known {
		control.Refuse(w, http.StatusNotFound, errors.New("no such channel: it was never added"))
		return
	}
	type shown struct {
		Message
		Pinged []string `json:"_sim_pinged"` // shown where it is empty too
	}
	answer := make([]shown, 0, len(list))
	for _, m := range list {
		one := shown{m, m.Pinged}
		if one.Pinged == nil {
			one.Pinged = []string{}
		}
		answer = append(answer, one)
	}
	writeJSON(w, http.StatusOK, answer)
}

// simChannel is PUT /_sim/channels/{id}: what the body does not name stays, so
// {"gone": true} deletes a channel and {"denied": ["SEND_MESSAGES"]} takes a
// permission away. It answers the channel as it is then.
func (s *Server) simChannel(w http.ResponseWriter, r *http.Request) {
	var change struct {
		GuildID  *string       `json:"guild_id"`
		Name     *string       `json:"name"`
		Denied   *[]Permission `json:"denied"`
		Gone     *bool         `json:"gone"`
		Archived *bool         `json:"archived"`
	}
	if !control.Decode(w, r, &change) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Channel{ID: r.PathValue("channel")}
	if old, ok := s.world.channels[c.ID]; ok {
		c = old.Channel
	}
	set(&c.GuildID, change.GuildID)
	set(&c.Name, change.Name)
	set(&c.Denied, change.Denied)
	set(&c.Gone, change.Gone)
	set(&c.Archived, change.Archived)
	if err := s.checkChannel(c); err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	if err := s.putChannel(c); err != nil {
		control.Refuse(w, http.StatusInternalServerError, err)
		return
	}
	writeJSON(w, http.StatusOK, c)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
