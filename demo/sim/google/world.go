package google

import (
	"fmt"
	"time"
)

// world is everything the simulator knows. It changes by apply alone, so that
// replaying the records gives the same world.
type world struct {
	offset time.Duration // of the simulator's own clock
	// version grows with each stored version of an event and is shared by all
	// calendars: etags, sync tokens and the order of changes come from it.
	version int64
	// epoch ends every sync token given before it grew.
	epoch       int64
	epochReason string // of the refusal of those before (tokenEndings)
	users       map[string]*User
	byEmail     map[string]string // lower-case e-mail → user key
	grants      map[string]*grant // by refresh token
	newest      map[string]string // user key → refresh token last given by hand
	tokens      map[string]*accessToken
	codes       map[string]*authCode
	services    map[string]*serviceAccount // by e-mail
	calendars   map[string]*calendar
	sheets      map[string]*Sheet
	channels    map[string]*channel
	pushes      map[int64]*push
	lastPush    int64
}

func newWorld() world {
	return world{
		users:     map[string]*User{},
		byEmail:   map[string]string{},
		grants:    map[string]*grant{},
		newest:    map[string]string{},
		tokens:    map[string]*accessToken{},
		codes:     map[string]*authCode{},
		services:  map[string]*serviceAccount{},
		calendars: map[string]*calendar{},
		sheets:    map[string]*Sheet{},
		channels:  map[string]*channel{},
		pushes:    map[int64]*push{},
	}
}

// record is one change, whole: what it names takes the place of what was
// there. It is also a line of the journal.
type record struct {
	Offset    *time.Duration    `json:"offset,omitempty"`
	Epoch     *int64            `json:"epoch,omitempty"`
	Reason    string            `json:"epoch_reason,omitempty"`
	Users     []*User           `json:"users,omitempty"`
	Grants    []*grant          `json:"grants,omitempty"`
	Tokens    []*accessToken    `json:"tokens,omitempty"`
	Codes     []*authCode       `json:"codes,omitempty"`
	Services  []*serviceAccount `json:"services,omitempty"`
	Calendars []*calendarInfo   `json:"calendars,omitempty"`
	Sheets    []*Sheet          `json:"sheets,omitempty"`
	Events    []*event          `json:"events,omitempty"`
	Channels  []*channel        `json:"channels,omitempty"`
	Pushes    []*push           `json:"pushes,omitempty"`
	Delivered []int64           `json:"delivered,omitempty"`
}

// apply makes a record true. It fails only on a record that this package did
// not write.
func (w *world) apply(r record) error {
	if r.Offset != nil {
		w.offset = *r.Offset
	}
	if r.Epoch != nil {
		w.epoch, w.epochReason = *r.Epoch, r.Reason
	}
	for _, u := range r.Users {
		w.users[u.Key] = u
		w.byEmail[fold(u.Email)] = u.Key
	}
	for _, g := range r.Grants {
		if w.grants[g.Refresh] == nil && !g.consented() {
			w.newest[g.User] = g.Refresh
		}
		w.grants[g.Refresh] = g
	}
	for _, t := range r.Tokens {
		w.tokens[t.Token] = t
	}
	for _, code := range r.Codes {
		w.codes[code.Code] = code
	}
	for _, account := range r.Services {
		w.services[account.Email] = account
	}
	for _, info := range r.Calendars {
		w.putCalendar(info)
	}
	for _, sheet := range r.Sheets {
		w.sheets[sheet.ID] = sheet
	}
	for _, e := range r.Events {
		cal := w.calendars[e.Calendar]
		if cal == nil {
			return fmt.Errorf("event of an unknown calendar")
		}
		cal.put(e)
		w.version = max(w.version, e.Version)
	}
	for _, ch := range r.Channels {
		if err := w.putChannel(ch); err != nil {
			return err
		}
	}
	for _, p := range r.Pushes {
		w.pushes[p.ID] = p
		w.lastPush = max(w.lastPush, p.ID)
		if ch := w.channels[p.Channel]; ch != nil {
			ch.LastNumber = max(ch.LastNumber, p.Number)
		}
	}
	for _, id := range r.Delivered {
		delete(w.pushes, id)
	}
	return nil
}

// putChannel keeps the number of the last push, which may have grown since the
// record was made.
func (w *world) putChannel(ch *channel) error {
	cal := w.calendars[ch.Calendar]
	if cal == nil {
		return fmt.Errorf("channel of an unknown calendar")
	}
	if old := w.channels[ch.ID]; old != nil {
		ch.LastNumber = max(ch.LastNumber, old.LastNumber)
	} else {
		cal.watchers = append(cal.watchers, ch.ID)
	}
	w.channels[ch.ID] = ch
	return nil
}
