package google

import (
	"encoding/json"
	"net/http"

	gcal "google.golang.org/api/calendar/v3"
)

// calendarShape is what a fields mask may ask of a calendar.
var calendarShape = func() shape {
	s := shape{}
	for _, name := range []string{
		"autoAcceptInvitations", "conferenceProperties", "dataOwner", "description", "etag", "id", "kind", "labelProperties",
		"location", "summary", "timeZone",
	} {
		s[name] = nil
	}
	return s
}()

// insertCalendar makes a secondary calendar of the caller's, under an id of Google's.
func (s *Server) insertCalendar(c *call) (a answer, err error) {
	text, err := readBody(c.r)
	if err != nil {
		return answer{}, err
	}
	var wanted gcal.Calendar
	switch err := json.Unmarshal(text, &wanted); {
	case err != nil:
		return answer{}, newError(http.StatusBadRequest, "parseError", "Parse Error")
	case wanted.Summary == "":
		return answer{}, required("Missing title.")
	case wanted.TimeZone == "":
		wanted.TimeZone = "UTC"
	}
	if _, err := loadZone(wanted.TimeZone); err != nil {
		return answer{}, invalid("Invalid time zone definition.")
	}
	err = s.change(func(ch *change) error {
		info := &calendarInfo{
			ID: "c_" + s.eventID() + "@group.calendar.google.com", Summary: wanted.Summary, Description: wanted.Description,
			TimeZone: wanted.TimeZone, Roles: map[string]Role{c.user.Key: Owner}, App: appOf(c.grant), Order: len(ch.world.calendars),
		}
		ch.record.Calendars = append(ch.record.Calendars, info)
		made := &calendar{calendarInfo: info}
		body, err := c.mask.apply(made.resource(c.user))
		a = answer{status: http.StatusOK, body: body, etag: made.entryEtag(c.user, Owner)}
		return err
	})
	return a, err
}

// resource is the calendar itself, which is the same for everybody.
func (c *calendar) resource(user *User) object {
	o := object{
		{"kind", "calendar#calendar"}, {"etag", c.entryEtag(user, Owner)}, {"id", c.ID}, {"summary", c.Summary}, {"timeZone", c.TimeZone},
	}
	if c.Description != "" {
		o = append(o, field{"description", c.Description})
	}
	return o
}

// deleteCalendar takes a secondary calendar away from everybody, which its owner alone
// may do.
func (s *Server) deleteCalendar(c *call) (answer, error) {
	err := s.change(func(ch *change) error {
		cal, role, err := ch.world.calendarFor(c)
		switch {
		case err != nil:
			return err
		case role != Owner:
			return errNoOwner
		case cal.Primary != "":
			return invalid("The primary calendar cannot be deleted; clear it instead.")
		}
		ch.removeCalendar(cal)
		return nil
	})
	return answer{status: http.StatusNoContent}, err
}

// removeCalendar leaves nobody a role in it, and ends its channels with a push that says
// not_exists.
func (c *change) removeCalendar(cal *calendar) {
	info := *cal.calendarInfo
	info.Epoch++
	info.Roles = map[string]Role{}
	c.record.Calendars = append(c.record.Calendars, &info)
	for _, id := range cal.watchers {
		ch := c.world.channels[id]
		if !ch.liveAt(c.now) {
			continue
		}
		ended := *ch
		ended.Stopped, ended.StoppedAt = true, c.now.UTC()
		c.record.Channels = append(c.record.Channels, &ended)
		c.push(ch, "not_exists")
	}
}

// appOf names the OAuth client of a grant, for calendarInfo.App.
func appOf(g *grant) string { return "client:" + g.Client }
