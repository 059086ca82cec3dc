package google

import (
	"crypto/rand"
	"errors"
	"fmt"
)

// Scopes that a grant may hold, in Google's spelling.
const (
	ScopeCalendar             = "https://www.googleapis.com/auth/calendar"
	ScopeCalendarReadonly     = "https://www.googleapis.com/auth/calendar.readonly"
	ScopeEvents               = "https://www.googleapis.com/auth/calendar.events"
	ScopeEventsReadonly       = "https://www.googleapis.com/auth/calendar.events.readonly"
	ScopeCalendarListReadonly = "https://www.googleapis.com/auth/calendar.calendarlist.readonly"
	// ScopeAppCreated makes secondary calendars, and reads and writes those that the same
	// client made; ScopeFreeBusy reads when calendars are busy.
	ScopeAppCreated = "https://www.googleapis.com/auth/calendar.app.created"
	ScopeFreeBusy   = "https://www.googleapis.com/auth/calendar.freebusy"
	// ScopeSheets reads and writes spreadsheets, ScopeSheetsReadonly reads them.
	ScopeSheets         = "https://www.googleapis.com/auth/spreadsheets"
	ScopeSheetsReadonly = "https://www.googleapis.com/auth/spreadsheets.readonly"
	// ScopeEmail and ScopeProfile are what a consent to "email" and "profile"
	// is answered with.
	ScopeEmail   = "https://www.googleapis.com/auth/userinfo.email"
	ScopeProfile = "https://www.googleapis.com/auth/userinfo.profile"
)

// The scopes of which a call needs one.
var (
	writeEvents      = []string{ScopeCalendar, ScopeEvents, ScopeAppCreated}
	moveEvents       = []string{ScopeCalendar, ScopeEvents}
	clearCalendars   = []string{ScopeCalendar}
	makeCalendars    = []string{ScopeCalendar, ScopeAppCreated}
	readEvents       = []string{ScopeCalendar, ScopeEvents, ScopeCalendarReadonly, ScopeEventsReadonly, ScopeAppCreated}
	readCalendarList = []string{ScopeCalendar, ScopeCalendarReadonly, ScopeCalendarListReadonly}
	readEntry        = []string{ScopeCalendar, ScopeCalendarReadonly, ScopeCalendarListReadonly, ScopeAppCreated}
	readFreeBusy     = []string{ScopeCalendar, ScopeCalendarReadonly, ScopeFreeBusy}
	readSheets       = []string{ScopeSheets, ScopeSheetsReadonly}
	writeSheets      = []string{ScopeSheets}
)

// allScopes are what AddUser gives, and NewGrant without scopes: those of the Calendar API
// that people are asked for.
var allScopes = []string{"openid", "email", ScopeEvents, ScopeCalendarListReadonly, ScopeAppCreated, ScopeFreeBusy}

// User is a Google account of the simulator.
type User struct {
	// Key is the name that tests and controls know the account by.
	Key string `json:"key"`
	// Sub is Google's stable id of the account.
	Sub   string `json:"sub"`
	Email string `json:"email"`
	// TimeZone is that of the primary calendar; empty is UTC.
	TimeZone string `json:"time_zone"`
}

// AddUser makes an account with its primary calendar, whose id is the e-mail
// address, and a grant of all scopes. A user whose key is there already, with
// the same data, gets the grant last given, even where it was revoked.
func (s *Server) AddUser(u User) (g Grant, err error) {
	if u.TimeZone == "" {
		u.TimeZone = "UTC"
	}
	err = s.change(func(c *change) error {
		w := c.world
		if old := w.users[u.Key]; old != nil {
			if *old != u {
				return fmt.Errorf("google simulator: user %s is there already with other data", u.Key)
			}
			g = w.grants[w.newest[u.Key]].public()
			return nil
		}
		if u.Key == "" || u.Sub == "" || u.Email == "" {
			return errors.New("google simulator: a user needs key, sub and email")
		}
		if w.byEmail[fold(u.Email)] != "" || w.calendars[u.Email] != nil {
			return fmt.Errorf("google simulator: the e-mail of user %s is taken", u.Key)
		}
		if _, err := loadZone(u.TimeZone); err != nil {
			return err
		}
		c.record.Users = append(c.record.Users, &u)
		c.record.Calendars = append(c.record.Calendars, &calendarInfo{ID: u.Email, Summary: u.Email,
			TimeZone: u.TimeZone, Primary: u.Key, Roles: map[string]Role{u.Key: Owner}, Order: len(w.calendars)})
		g = s.grantByHand(c, u.Key, allScopes)
		return nil
	})
	return g, err
}

// Calendar is a secondary calendar.
type Calendar struct {
	ID       string // such as something@group.calendar.google.com
	Summary  string
	TimeZone string // empty is UTC
	Owner    string // user key
	NoPush   bool   // it cannot be watched
}

// AddCalendar makes a secondary calendar. One that is there already stays as
// it is.
func (s *Server) AddCalendar(cal Calendar) error {
	if cal.TimeZone == "" {
		cal.TimeZone = "UTC"
	}
	return s.change(func(c *change) error {
		switch {
		case c.world.calendars[cal.ID] != nil:
			return nil
		case cal.ID == "" || cal.ID == "primary":
			return errors.New("google simulator: a calendar needs an id")
		case c.world.users[cal.Owner] == nil:
			return errNoUser(c.world)
		}
		if _, err := loadZone(cal.TimeZone); err != nil {
			return err
		}
		c.record.Calendars = append(c.record.Calendars, &calendarInfo{ID: cal.ID, Summary: cal.Summary,
			TimeZone: cal.TimeZone, Roles: map[string]Role{cal.Owner: Owner}, NoPush: cal.NoPush, Order: len(c.world.calendars)})
		return nil
	})
}

// randomID is Options.NewID where none is given.
func randomID() string { return rand.Text() }
