package discord

import (
	"net/http"
	"slices"
)

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

// keep writes a message to where its readers find it. The caller holds the lock.
func (s *Server) keep(it interaction, m Message) error {
	if _, known := s.world.channels[m.ChannelID]; known && m.Flags&flagEphemeral == 0 {
		return s.commit(record{Message: &m})
	}
	return s.commit(record{Ephemeral: &ephemeral{it.User, m}})
}

// simEphemerals is GET /_sim/ephemerals/{user}: what the person alone sees, oldest first,
// direct messages included.
func (s *Server) simEphemerals(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Message{}
	for _, m := range s.world.ephemerals[r.PathValue("user")] {
		list = append(list, m.public())
	}
	writeJSON(w, http.StatusOK, list)
}
