package google

import (
	"maps"
	"net/http"
)

// moveEvent moves an event to another calendar, which becomes its organizer. The
// event keeps its id. The old calendar keeps only a tombstone, which a listing shows
// as a deletion and which cannot be undone. If the address of the old calendar is
// among the attendees, it keeps a guest's copy instead.
func (s *Server) moveEvent(c *call) (a answer, err error) {
	err = s.write(c, func(ch *change, from *calendar, _ view) error {
		before, err := current(c, from, errForbidden)
		if err != nil {
			return err
		}
		to, err := ch.world.destination(c)
		if err != nil {
			return err
		}
		v, err := c.view(to)
		if err != nil {
			return err
		}
		moved, err := ch.move(before, from, to)
		if err != nil {
			return err
		}
		a, err = show(moved, v)
		return err
	})
	return a, err
}

// destination is where an event is to go; the caller must be able to write
// there.
func (w *world) destination(c *call) (*calendar, error) {
	id := c.query.Get("destination")
	if id == "" {
		return nil, &apiError{status: http.StatusBadRequest, reason: "required",
			message: "Required parameter: destination", location: "destination", locationType: "parameter"}
	}
	to, role, err := w.calendarOf(c, id)
	if err == nil && !role.mayWrite() {
		return nil, errNoWriter
	}
	return to, err
}

// move makes an event another calendar's, with the instances of a series that
// were changed by themselves. What the destination has under the
// id may be a copy of the event, or what it left behind there earlier; anything
// else keeps the id taken.
func (c *change) move(before *event, from, to *calendar) (*event, error) {
	there := c.event(to.ID, before.ID)
	switch {
	case before.Series != "":
		return nil, newError(http.StatusBadRequest, "cannotChangeOrganizerOfInstance",
			"Cannot change the organizer of an instance.")
	case before.isCopy():
		return nil, errNotOrganizer
	case before.text("eventType") != "default":
		return nil, newError(http.StatusBadRequest, "eventTypeRestriction", "Only default events can be moved.")
	case to.ID == before.Calendar:
		return nil, invalid("The destination is the calendar that the event is in.")
	case there != nil && !there.Moved && there.Organizer != before.Organizer:
		return nil, errDuplicate
	}
	for _, one := range from.exceptions(before.ID) {
		if _, err := c.transfer(one, to); err != nil {
			return nil, err
		}
	}
	return c.transfer(before, to)
}

func (c *change) transfer(before *event, to *calendar) (*event, error) {
	there := c.event(to.ID, before.ID)
	moved := before.under(to.ID)
	moved.Calendar = to.ID
	if there != nil {
		moved.Ordinal = there.Ordinal
	}
	if err := moved.setAttendees(moved.attendees()); err != nil {
		return nil, err
	}
	if err := c.leave(before, to.ID); err != nil {
		return nil, err
	}
	if err := c.follow(before, to.ID); err != nil {
		return nil, err
	}
	c.put(moved)
	return moved, c.spread(before, moved)
}

// under is the event as another organizer has it.
func (e *event) under(organizer string) *event {
	next := *e
	next.Fields = maps.Clone(e.Fields)
	next.Organizer = organizer
	return &next
}

// leave is what becomes of an event in the calendar that it is moved out of.
func (c *change) leave(before *event, to string) error {
	left := before.under(to)
	if find(before.attendees(), before.Calendar) == nil {
		left.Cancelled, left.Moved = true, true
		c.put(left)
		return nil
	}
	if err := left.setAttendees(left.attendees()); err != nil {
		return err
	}
	c.put(left)
	return nil
}

// follow makes the guests' copies those of the new organizer, so that spread
// knows them.
func (c *change) follow(before *event, to string) error {
	for _, a := range before.attendees() {
		cal := c.guestCalendar(a, before)
		if cal == nil || cal.ID == to {
			continue
		}
		if copied := c.event(cal.ID, before.ID); copied != nil && copied.Organizer == before.Organizer {
			next := copied.under(to)
			if err := next.setAttendees(next.attendees()); err != nil {
				return err
			}
			c.put(next)
		}
	}
	return nil
}
