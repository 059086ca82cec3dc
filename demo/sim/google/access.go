package google

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"questscheduler/demo/sim/control"
)

// Share gives a user a role in a calendar; NoAccess and Refused take it away, so that the
// calendar is found no more or each call for it is refused. The change of the access list ends the calendar's
// sync tokens: the next use of one is 410.
func (s *Server) Share(calendarID, userKey string, role Role) error {
	return s.change(func(c *change) error { return c.share(calendarID, userKey, role) })
}

func (c *change) share(calendarID, userKey string, role Role) error {
	info, err := c.editCalendar(calendarID)
	switch {
	case err != nil:
		return err
	case c.world.users[userKey] == nil:
		return errNoUser(c.world)
	case role != NoAccess && role != Refused && !role.mayRead():
		return errors.New("google simulator: no such role")
	}
	info.Epoch++
	info.Roles[userKey] = role
	return nil
}

// Hide hides a calendar from a user's list, or shows it again.
func (s *Server) Hide(calendarID, userKey string, hidden bool) error {
	return s.change(func(c *change) error {
		info, err := c.editCalendar(calendarID)
		if err != nil {
			return err
		}
		if info.Hidden == nil {
			info.Hidden = map[string]bool{}
		}
		info.Hidden[userKey] = hidden
		return nil
	})
}

// SetPush says whether a calendar can be watched from now on. Channels that are
// open stay.
func (s *Server) SetPush(calendarID string, possible bool) error {
	return s.change(func(c *change) error {
		info, err := c.editCalendar(calendarID)
		if err == nil {
			info.NoPush = !possible
		}
		return err
	})
}

// SetZone gives a calendar another time zone.
func (s *Server) SetZone(calendarID, zone string) error {
	return s.change(func(c *change) error {
		info, err := c.editCalendar(calendarID)
		if err == nil {
			err = info.setZone(zone)
		}
		return err
	})
}

func (c *calendarInfo) setZone(zone string) error {
	_, err := loadZone(zone)
	if err == nil {
		c.TimeZone = zone
	}
	return err
}

// editCalendar is a calendar as this change leaves it, to be changed further.
func (c *change) editCalendar(id string) (*calendarInfo, error) {
	for _, info := range c.record.Calendars {
		if info.ID == id {
			return info, nil
		}
	}
	cal := c.world.calendars[id]
	if cal == nil {
		return nil, errors.New("google simulator: no such calendar")
	}
	info := *cal.calendarInfo
	info.Roles, info.Hidden = maps.Clone(cal.Roles), maps.Clone(cal.Hidden)
	c.record.Calendars = append(c.record.Calendars, &info)
	return &info, nil
}

// RemoveCalendar takes a secondary calendar away from everyone: it is found no
// more, and its channels end with a push that says not_exists.
func (s *Server) RemoveCalendar(calendarID string) error {
	return s.change(func(c *change) error {
		cal := c.world.calendars[calendarID]
		if cal == nil || cal.Primary != "" {
			return errors.New("google simulator: no such calendar, or a primary one")
		}
		c.removeCalendar(cal)
		return nil
	})
}

// simulatedCalendar is a calendar as its control shows and changes it.
type simulatedCalendar struct {
	Summary  *string         `json:"summary"`
	TimeZone *string         `json:"time_zone"`
	Roles    map[string]Role `json:"roles"` // by user key
	Push     *bool           `json:"push"`
}

// simCalendar is PUT /_sim/calendars/{calendar}: what the body does not name
// stays, so {"roles": {"gm": "none"}} takes a calendar away from one person and
// {"push": false} keeps it from being watched. A calendar that is not there is
// made; the body names its owner. It answers the calendar as it is then.
func (s *Server) simCalendar(w http.ResponseWriter, r *http.Request) {
	var body simulatedCalendar
	if !control.Decode(w, r, &body) {
		return
	}
	var info *calendarInfo
	err := s.change(func(c *change) (err error) {
		info, err = c.putCalendar(r.PathValue("calendar"), body)
		return err
	})
	if err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	push := !info.NoPush
	control.Answer(w, http.StatusOK, simulatedCalendar{&info.Summary, &info.TimeZone, info.Roles, &push})
}

// putCalendar changes a calendar as its control asks, or makes it.
func (c *change) putCalendar(id string, to simulatedCalendar) (*calendarInfo, error) {
	if c.world.calendars[id] == nil {
		if id == "primary" || !slices.Contains(slices.Collect(maps.Values(to.Roles)), Owner) {
			return nil, errors.New("roles: there is no such calendar yet; name its owner, such as {\"gm\": \"owner\"}")
		}
		c.record.Calendars = append(c.record.Calendars,
			&calendarInfo{ID: id, Summary: id, TimeZone: "UTC", Roles: map[string]Role{}, Order: len(c.world.calendars)})
	}
	info, err := c.editCalendar(id)
	if err != nil {
		return nil, err
	}
	if to.TimeZone != nil {
		if err := info.setZone(*to.TimeZone); err != nil {
			return nil, err
		}
	}
	if to.Summary != nil {
		info.Summary = *to.Summary
	}
	if to.Push != nil {
		info.NoPush = !*to.Push
	}
	for _, user := range sortedKeys(to.Roles) {
		if err := c.share(id, user, to.Roles[user]); err != nil {
			return nil, err
		}
	}
	return info, nil
}
