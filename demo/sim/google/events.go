package google

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// getEvent shows one event, a deleted one too.
func (s *Server) getEvent(c *call) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cal, _, err := s.world.calendarFor(c)
	if err != nil {
		return answer{}, err
	}
	v, err := c.view(cal)
	if err != nil {
		return answer{}, err
	}
	v.malformed = s.malformed[cal.ID]
	e := cal.find(c.r.PathValue("eventId"))
	if e == nil || cal.vanished(e, s.visibleSince()) {
		return answer{}, errNotFound
	}
	return show(e, v)
}

// visibleSince is the oldest deletion that is still visible.
func (s *Server) visibleSince() time.Time { return s.clock.Now().Add(-s.opt.TombstoneLife) }

// view reads which form of the event the caller wants.
func (c *call) view(cal *calendar) (view, error) {
	q := query{values: c.query}
	v := q.eventView(cal, c.mask)
	v.role = cal.role(c.user.Key)
	q.writeOptions()
	return v, q.err
}

func show(e *event, v view) (answer, error) {
	body, err := e.render(v)
	return answer{status: http.StatusOK, body: body, etag: e.etag()}, err
}

// insertEvent makes an event under the id that the client chose, or one of its
// own. An id that was ever used in the calendar is taken.
func (s *Server) insertEvent(c *call) (a answer, err error) {
	body, err := readEvent(c.r)
	if err != nil {
		return answer{}, err
	}
	err = s.write(c, func(ch *change, cal *calendar, v view) error {
		id, _ := body["id"].(string)
		switch {
		case id == "":
			id = s.eventID()
		case !validID.MatchString(id) || len(id) > maxID:
			return invalid("Invalid resource id value.")
		}
		if cal.events[id] != nil {
			return errDuplicate
		}
		e, err := newEvent(cal, c.user, id, body)
		if err != nil {
			return err
		}
		if err := ch.save(nil, e); err != nil {
			return err
		}
		a, err = show(e, v)
		return err
	})
	return a, err
}

// newEvent is the event of an insert, with what Google adds to it.
func newEvent(cal *calendar, user *User, id string, body map[string]any) (*event, error) {
	blank := &event{Calendar: cal.ID, ID: id, Organizer: cal.ID, Creator: user.Email, Fields: map[string]json.RawMessage{}}
	e, err := edit(blank, body, true, cal.TimeZone)
	switch {
	case err != nil:
		return nil, err
	case e.Cancelled:
		return nil, invalid("Invalid value for: status")
	}
	for _, f := range []struct{ name, value string }{
		{"iCalUID", id + "@google.com"},
		{"eventType", "default"},
	} {
		if e.text(f.name) == "" {
			if err := e.merge(f.name, f.value, true); err != nil {
				return nil, err
			}
		}
	}
	if !slices.Contains(ownEventTypes, e.text("eventType")) {
		return nil, invalid("Invalid value for: eventType")
	}
	if e.Fields["reminders"] == nil {
		e.Fields["reminders"] = json.RawMessage(`{"useDefault":true}`)
	}
	return e, nil
}

// ownEventTypes are those that a client may make; fromGmail is Google's own.
var ownEventTypes = []string{"default", "birthday", "focusTime", "outOfOffice", "workingLocation"}

// eventTypes are all that a listing may ask for.
var eventTypes = append([]string{"fromGmail"}, ownEventTypes...)

// validID and maxID are what Google allows a client to choose.
var validID = regexp.MustCompile(`^[a-v0-9]{5,}$`)

const maxID = 1024

// eventID is an id as Google makes them: 26 characters of base32hex.
func (s *Server) eventID() string {
	sum := sha256.Sum256([]byte(s.opt.NewID()))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

func (s *Server) patchEvent(c *call) (answer, error)  { return s.rewrite(c, false) }
func (s *Server) updateEvent(c *call) (answer, error) { return s.rewrite(c, true) }

// rewrite is patch and update. A deleted event can be brought back, and not be
// written otherwise.
func (s *Server) rewrite(c *call, replace bool) (a answer, err error) {
	body, err := readEvent(c.r)
	if err != nil {
		return answer{}, err
	}
	err = s.write(c, func(ch *change, cal *calendar, v view) error {
		before, err := ch.toRewrite(c, cal, body, s.visibleSince())
		if err != nil {
			return err
		}
		after, err := edit(before, body, replace, cal.TimeZone)
		switch {
		case err != nil:
			return err
		case after.Cancelled:
			err = ch.cancel(before)
		case cal.events[before.ID] != nil && cal.events[before.ID].Cancelled:
			err = ch.undelete(before, after)
		default:
			err = ch.save(before, after)
		}
		if err != nil {
			return err
		}
		a, err = show(ch.event(cal.ID, before.ID), v)
		return err
	})
	return a, err
}

// toRewrite is the event that a patch or update starts from.
func (c *change) toRewrite(call *call, cal *calendar, body map[string]any, visibleSince time.Time) (*event, error) {
	gone := cal.events[call.r.PathValue("eventId")]
	if gone == nil || !gone.Cancelled || cal.vanished(gone, visibleSince) || !revives(body) {
		return current(call, cal, errForbidden)
	}
	if err := gone.matches(call.r); err != nil {
		return nil, err
	}
	return c.revive(gone)
}

// deleteEvent leaves a tombstone. Deleting one is 410.
func (s *Server) deleteEvent(c *call) (answer, error) {
	err := s.write(c, func(ch *change, cal *calendar, _ view) error {
		before, err := current(c, cal, errDeleted)
		if err != nil {
			return err
		}
		return ch.cancel(before)
	})
	return answer{status: http.StatusNoContent}, err
}

// write finds the calendar, demands a writer's access and lets fn gather the
// change.
func (s *Server) write(c *call, fn func(*change, *calendar, view) error) error {
	return s.change(func(ch *change) error {
		cal, role, err := ch.world.calendarFor(c)
		if err != nil {
			return err
		}
		if !role.mayWrite() {
			return errNoWriter
		}
		v, err := c.view(cal)
		if err != nil {
			return err
		}
		return fn(ch, cal, v)
	})
}

// current is the live event that a write names.
func current(c *call, cal *calendar, ifDeleted error) (*event, error) {
	e := cal.find(c.r.PathValue("eventId"))
	switch {
	case e == nil:
		return nil, errNotFound
	case !cal.role(c.user.Key).sees(e):
		return nil, errForbidden
	case e.Cancelled:
		return nil, ifDeleted
	}
	return e, e.matches(c.r)
}

// matches refuses a request that says in If-Match that it knows another
// version.
func (e *event) matches(r *http.Request) error {
	if match := r.Header.Get("If-Match"); match != "" && match != "*" && match != e.etag() {
		return errPrecondition
	}
	return nil
}
