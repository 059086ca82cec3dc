package google

import (
	"errors"
	"maps"
	"net/http"

	"questscheduler/demo/sim/control"
)

// Duplicate copies an event by hand, as people do in Google Calendar: the copy has its
// own id and iCalUID, no guests, and every extended property, private ones included. It
// returns the copy's id.
func (s *Server) Duplicate(calendarID, eventID, toCalendarID string) (id string, err error) {
	err = s.change(func(c *change) error {
		from, to := c.world.calendars[calendarID], c.world.calendars[toCalendarID]
		if from == nil || to == nil {
			return errors.New("google simulator: no such calendar")
		}
		original := from.find(eventID)
		if original == nil || original.Cancelled {
			return errors.New("google simulator: no such event, or a deleted one")
		}
		id = s.eventID()
		one := &event{
			Calendar: to.ID, ID: id, Organizer: to.ID, Creator: to.ID,
			Start: original.Start, End: original.End, Fields: maps.Clone(original.Fields),
		}
		for _, name := range []string{"iCalUID", "attendees", "sequence"} {
			delete(one.Fields, name)
		}
		if err := one.merge("iCalUID", id+"@google.com", true); err != nil {
			return err
		}
		return c.save(nil, one)
	})
	return id, err
}

// simDuplicate is POST /_sim/calendars/{calendar}/duplicate {"event": "…", "to": "…"};
// without to the copy is in the same calendar.
func (s *Server) simDuplicate(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Event string `json:"event"`
		To    string `json:"to"`
	}
	if !control.Decode(w, r, &body) {
		return
	}
	if body.To == "" {
		body.To = r.PathValue("calendar")
	}
	id, err := s.Duplicate(r.PathValue("calendar"), body.Event, body.To)
	if err != nil {
		control.Refuse(w, http.StatusNotFound, err)
		return
	}
	control.Answer(w, http.StatusOK, map[string]string{"event": id, "calendar": body.To})
}
