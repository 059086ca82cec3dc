package discord

import (
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"questscheduler/demo/sim/control"
)

// Say posts a person's message: what stands between the bot's own in a channel.
// It pings nobody and needs no permission. An error changes nothing.
func (s *Server) Say(channelID, userID, content string) (Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, known := s.world.channels[channelID]
	_, isID := parseSnowflake(userID)
	switch {
	case !known || c.Gone:
		return Message{}, errors.New("no such channel: it was never added, or is gone")
	case !isID || userID == BotID:
		return Message{}, errors.New("author: give a person's id, such as 700000000000000004")
	case content == "" || utf8.RuneCountInString(content) > maxContent:
		return Message{}, errors.New("content: 1 to " + strconv.Itoa(maxContent) + " characters")
	}
	now := s.clock.Now()
	m := blank(channelID, person(userID), now)
	m.ID, m.Content = s.newID(now), content
	return m, s.commit(record{Message: &m})
}

// newID is the id of something that is made now. The caller holds the lock.
func (s *Server) newID(now time.Time) string {
	return formatSnowflake(snowflake(now, s.world.lastID))
}

// simSay is POST /_sim/channels/{id}/messages {"author": "…", "content": "…"}.
func (s *Server) simSay(w http.ResponseWriter, r *http.Request) {
	var said struct {
		Author  string `json:"author"`
		Content string `json:"content"`
	}
	if !control.Decode(w, r, &said) {
		return
	}
	m, err := s.Say(r.PathValue("channel"), said.Author, said.Content)
	if err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	writeJSON(w, http.StatusOK, m.public())
}
