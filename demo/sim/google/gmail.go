package google

import (
	"encoding/json"
	"errors"
	"time"
)

// AddGmailEvent puts an event into a calendar as Google itself does, of the
// type fromGmail, which no client can make. It gives the event's id.
func (s *Server) AddGmailEvent(calendarID, summary string, start, end time.Time) (id string, err error) {
	id = s.eventID()
	err = s.change(func(c *change) error {
		cal := c.world.calendars[calendarID]
		if cal == nil {
			return errors.New("google simulator: no such calendar")
		}
		at := func(t time.Time) any { return map[string]any{"dateTime": t.Format(time.RFC3339)} }
		owner := &User{Email: cal.ID}
		e, err := newEvent(cal, owner, id, map[string]any{"summary": summary, "start": at(start), "end": at(end)})
		if err != nil {
			return err
		}
		e.Fields["eventType"], e.Fields["locked"] = json.RawMessage(`"fromGmail"`), json.RawMessage(`true`)
		return c.save(nil, e)
	})
	return id, err
}
