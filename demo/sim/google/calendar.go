package google

import (
	"sort"
	"strings"
	"time"
)

// Role is what a person may do with a calendar, in Google's words.
type Role string

// The roles that there are. NoAccess hides the calendar (404), and so does Refused, with a
// 403 to each call instead; a FreeBusyReader sees
// when its events are and nothing else of them, a Reader and a
// WriterWithoutPrivateAccess as little of the private ones.
const (
	NoAccess                   Role = "none"
	Refused                    Role = "refused"
	FreeBusyReader             Role = "freeBusyReader"
	Reader                     Role = "reader"
	WriterWithoutPrivateAccess Role = "writerWithoutPrivateAccess"
	Writer                     Role = "writer"
	Owner                      Role = "owner"
)

// rank orders roles.
var rank = map[Role]int{NoAccess: 0, Refused: 0, FreeBusyReader: 1, Reader: 2, WriterWithoutPrivateAccess: 3, Writer: 4, Owner: 5}

func (r Role) mayRead() bool  { return rank[r] >= rank[FreeBusyReader] }
func (r Role) mayWrite() bool { return rank[r] >= rank[WriterWithoutPrivateAccess] }

// sees says whether the role shows an event whole.
func (r Role) sees(e *event) bool {
	if r == Owner || r == Writer {
		return true
	}
	visibility := e.text("visibility")
	return r != FreeBusyReader && visibility != "private" && visibility != "confidential"
}

// calendarInfo is a calendar without its events.
type calendarInfo struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
	// Description is shown where the calendar is.
	Description string `json:"description,omitempty"`
	// App is the client that made the calendar (appOf); "" for one made by a person.
	App      string          `json:"app,omitempty"`
	TimeZone string          `json:"time_zone"`
	Primary  string          `json:"primary,omitempty"` // the user whose primary calendar it is
	Roles    map[string]Role `json:"roles"`             // by user key
	// Hidden says for users whether they hid it from their list.
	Hidden map[string]bool `json:"hidden,omitempty"`
	// Epoch grows when the access list changes, which ends the calendar's sync
	// tokens.
	Epoch int64 `json:"epoch,omitempty"`
	// NoPush: the calendar cannot be watched, as those that Google itself
	// fills, such as holidays.
	NoPush bool `json:"no_push,omitempty"`
	Order  int  `json:"order"` // among the calendars, as they were added
}

// calendar is a calendar with its events. Events are never removed: a deleted
// one stays as a tombstone and keeps its id taken.
type calendar struct {
	*calendarInfo
	events map[string]*event
	order  []string // ids as they were created, by event.Ordinal
	// log is every version in the order of versions; an entry whose event has
	// a newer version by now is stale.
	log      []logEntry
	watchers []string // ids of all channels ever made, as they were made
}

type logEntry struct {
	version int64
	id      string
}

func (w *world) putCalendar(info *calendarInfo) {
	if cal := w.calendars[info.ID]; cal != nil {
		cal.calendarInfo = info
		return
	}
	w.calendars[info.ID] = &calendar{calendarInfo: info, events: map[string]*event{}}
}

// put stores an event's new version. Versions come in growing order.
func (c *calendar) put(e *event) {
	c.events[e.ID] = e
	for len(c.order) <= e.Ordinal {
		c.order = append(c.order, "")
	}
	c.order[e.Ordinal] = e.ID
	c.log = append(c.log, logEntry{e.Version, e.ID})
	if len(c.log) > 2*len(c.events)+1000 {
		c.dropStale()
	}
}

// dropStale keeps the log at the size of the calendar, however often its
// events change.
func (c *calendar) dropStale() {
	live := c.log[:0]
	for _, entry := range c.log {
		if c.current(entry) {
			live = append(live, entry)
		}
	}
	c.log = live
}

func (c *calendar) current(entry logEntry) bool {
	return c.events[entry.id].Version == entry.version
}

// firstAfter is the place in the log of the first version after the given one.
func (c *calendar) firstAfter(version int64) int {
	return sort.Search(len(c.log), func(i int) bool { return c.log[i].version > version })
}

// lastVersion is that of the calendar's newest change.
func (c *calendar) lastVersion() int64 {
	if len(c.log) == 0 {
		return 0
	}
	return c.log[len(c.log)-1].version
}

// role is what a user may do here.
func (c *calendar) role(user string) Role {
	if r, ok := c.Roles[user]; ok {
		return r
	}
	return NoAccess
}

// fold makes e-mail addresses comparable.
func fold(email string) string { return strings.ToLower(email) }

// location is the calendar's zone, which was checked when the calendar was
// made.
func (c *calendar) location() *time.Location {
	zone, err := loadZone(c.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}
