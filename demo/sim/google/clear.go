package google

import (
	"errors"
	"net/http"

	"questscheduler/demo/sim/control"
)

// clearCalendar deletes all events of a primary calendar, which its owner alone
// may do.
func (s *Server) clearCalendar(c *call) (answer, error) {
	err := s.change(func(ch *change) error {
		cal, role, err := ch.world.calendarFor(c)
		switch {
		case err != nil:
			return err
		case role != Owner:
			return errNoOwner
		case cal.Primary == "":
			return invalid("Only primary calendars can be cleared.")
		}
		return ch.clear(cal)
	})
	return answer{status: http.StatusNoContent}, err
}

// Clear deletes all events of a primary calendar, as calendars.clear does.
func (s *Server) Clear(calendarID string) error {
	return s.change(func(c *change) error {
		cal := c.world.calendars[calendarID]
		if cal == nil || cal.Primary == "" {
			return errors.New("google simulator: no such calendar, or not a primary one")
		}
		return c.clear(cal)
	})
}

// clear deletes each event as events.delete does: copies of what others
// organise alone, what is organised here with all of its copies.
func (c *change) clear(cal *calendar) error {
	for _, id := range cal.order {
		if e := c.event(cal.ID, id); e != nil && !e.Cancelled {
			if err := c.cancel(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// simClear is POST /_sim/calendars/{calendar}/clear.
func (s *Server) simClear(w http.ResponseWriter, r *http.Request) {
	if err := s.Clear(r.PathValue("calendar")); err != nil {
		control.Refuse(w, http.StatusNotFound, err)
		return
	}
	control.Answer(w, http.StatusOK, map[string]string{"cleared": r.PathValue("calendar")})
}
