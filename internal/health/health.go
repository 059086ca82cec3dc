// Package health says whether the sync of linked calendars works, from what is
// stored: nothing asks Google. What is wrong with one calendar is
// a table over its facts (troubles.go), pure; Reader gathers the facts.
package health

import (
	"slices"
	"time"
)

// Status says how well something is synchronised.
type Status string

// The statuses, from good to bad.
const (
	// Healthy: a watch channel lives, nothing fails, and the last look that went
	// well is recent.
	Healthy Status = "healthy"
	// Degraded: no channel lives, or something fails for less than DegradedFor.
	Degraded Status = "degraded"
	// Stale: something fails for up to StaleFor.
	Stale Status = "stale"
	// Unhealthy: something fails for longer than that.
	Unhealthy Status = "unhealthy"
	// Error: the grant is refused or the account unlinked; only its owner can
	// mend that.
	Error Status = "error"
)

// Statuses are all there are, from good to bad.
var Statuses = []Status{Healthy, Degraded, Stale, Unhealthy, Error}

// How long something may fail before it counts as worse.
const (
	DegradedFor = 6 * time.Hour
	StaleFor    = 24 * time.Hour
)

// Worst is the worst of some statuses; Healthy for none.
func Worst(statuses ...Status) Status {
	worst := 0
	for _, status := range statuses {
		worst = max(worst, status.rank())
	}
	return Statuses[worst]
}

func (s Status) rank() int { return slices.Index(Statuses, s) }

// Level is how much something needs a person.
type Level string

// The levels, from the best.
const (
	Fine Level = "fine"
	Mind Level = "mind" // it may recover without a person
	Bad  Level = "bad"
)

func (l Level) rank() int { return slices.Index([]Level{Fine, Mind, Bad}, l) }

// Level is that of the status: a degraded sync may recover without a person.
func (s Status) Level() Level { return []Level{Fine, Mind, Bad}[min(s.rank(), 2)] }

// Report is how the sync of one person stands.
type Report struct {
	// Overall is the worst of the accounts; Healthy where none is linked.
	Overall  Status
	Accounts []Account
}

// Account is how the sync of one linked account stands.
type Account struct {
	ID       string
	OwnerID  string
	Email    string
	Provider string
	// Status is the worst of the calendars', or that of the account itself.
	Status Status
	// Calendars are those that polls follow, by key.
	Calendars []Calendar
	// Troubles are those of the account itself, worst first.
	Troubles []Trouble
	// PendingWrites counts events that are yet to be made or deleted.
	PendingWrites int
}

// Calendar is how the sync of one followed calendar stands.
type Calendar struct {
	Key        string
	CalendarID string
	Status     Status
	// LastSync is when the last look ended, LastSuccess when one last ended well;
	// zero: none did yet.
	LastSync    time.Time
	LastSuccess time.Time
	// Channel is where its watch channel stands, and until when it lasts.
	Channel       ChannelStatus
	ChannelExpiry time.Time
	// PendingLooks counts the events that are to be asked for one by one, Held
	// those of them that wait for a person's word, Failing those that keep
	// failing.
	PendingLooks int
	Held         int
	Failing      int
	// LookDue tells that a look is owed.
	LookDue bool
	// ParkedUntil is until when it is left alone; zero where it is not.
	ParkedUntil time.Time
	// Troubles are what is wrong, worst first.
	Troubles []Trouble
}

// Trouble is one thing that is wrong.
type Trouble struct {
	// Code is stable and machine-readable.
	Code   string
	Status Status
	// Since is when it began; zero where that is not known.
	Since time.Time
	// Message is for people: what is wrong and what to do.
	Message string
}

// worstFirst sorts troubles; among equals the order of the table stays.
func worstFirst(troubles []Trouble) {
	slices.SortStableFunc(troubles, func(a, b Trouble) int { return b.Status.rank() - a.Status.rank() })
}

// AllTroubles are those of the account and its calendars, worst first, and those
// that several calendars share once.
func (a Account) AllTroubles() (all []Trouble) {
	every := slices.Clone(a.Troubles)
	for _, calendar := range a.Calendars {
		every = append(every, calendar.Troubles...)
	}
	worstFirst(every)
	for _, trouble := range every {
		same := func(t Trouble) bool { return t.Code == trouble.Code && t.Message == trouble.Message }
		if !slices.ContainsFunc(all, same) {
			all = append(all, trouble)
		}
	}
	return all
}

// Behind is the calendar that is furthest behind: the one whose last success is
// the oldest; nil where none is followed.
func (a Account) Behind() *Calendar {
	if len(a.Calendars) == 0 {
		return nil
	}
	oldest := slices.MinFunc(a.Calendars, func(a, b Calendar) int { return a.LastSuccess.Compare(b.LastSuccess) })
	return &oldest
}

// Unwatched is the calendar whose watch channel is the least to be counted on,
// and among equals ends first; nil where none is followed.
func (a Account) Unwatched() *Calendar {
	if len(a.Calendars) == 0 {
		return nil
	}
	least := slices.MinFunc(a.Calendars, func(a, b Calendar) int {
		if by := slices.Index(channelStatuses, a.Channel) - slices.Index(channelStatuses, b.Channel); by != 0 {
			return by
		}
		return a.ChannelExpiry.Compare(b.ChannelExpiry)
	})
	return &least
}
