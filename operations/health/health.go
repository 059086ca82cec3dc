// Package health is the one model of whether sync works. It judges from stored documents
// and calls no Google API. A table over a calendar's facts finds its troubles
// (troubles.go); pure functions judge watch channels (channel.go) and jobs (jobs.go)
// alike. Reader reads the facts: for one person (read.go), for the
// operator (overview.go), and as figures (figures.go).
package health

import (
	"cmp"
	"slices"
	"time"
)

// Status says how well something is synchronised.
type Status string

// The statuses, from good to bad.
const (
	// Healthy: a watch channel lives, nothing fails, and the last successful sync is
	// recent.
	Healthy Status = "healthy"
	// Degraded: no channel lives, or something fails for less than DegradedFor.
	Degraded Status = "degraded"
	// Stale: something fails for up to StaleFor.
	Stale Status = "stale"
	// Unhealthy: something fails for longer.
	Unhealthy Status = "unhealthy"
	// Error: the grant is refused, the account unlinked or the calendar lost; only its
	// owner can link it or share it again.
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

// Report is the health of one person's sync.
type Report struct {
	// Overall is the worst of the accounts; Healthy for none.
	Overall  Status
	Accounts []Account
}

// Account is the health of one linked account.
type Account struct {
	ID       string
	OwnerID  string
	Email    string
	Provider string
	// Status is the worst of the calendars', or that of the account itself.
	Status Status
	// Calendars are those that polls or mirrors follow, by key.
	Calendars []Calendar
	// Troubles are those of the account itself; AllTroubles adds the calendars'.
	Troubles []Trouble
	// PendingWrites counts events that are yet to be inserted, changed or deleted: those of
	// polls, and mirrors, up to 50.
	PendingWrites int
	// FailedMirrors counts mirrors into the account that cannot be written, up to 50.
	FailedMirrors int
}

// Calendar is the health of one followed calendar.
type Calendar struct {
	Key        string
	CalendarID string
	Status     Status
	// LastSync is when the last sync run ended, LastSuccess when one last succeeded;
	// zero: none did yet.
	LastSync    time.Time
	LastSuccess time.Time
	// Channel is the state of its watch channel, and ChannelExpiry its end.
	Channel       ChannelStatus
	ChannelExpiry time.Time
	// Deferred counts its deferred events, Held those among them that await a
	// person's confirmation, Failing those that keep failing.
	Deferred int
	Held     int
	Failing  int
	// SyncPending reports that a sync is pending.
	SyncPending bool
	// PausedUntil is when Google may be called again; zero: now.
	PausedUntil time.Time
	// Troubles are worst first.
	Troubles []Trouble
}

// Trouble is one thing that is wrong.
type Trouble struct {
	// Code is stable and machine-readable.
	Code   string
	Status Status
	// Since is when it began; zero: not known.
	Since time.Time
	// Message says to people what is wrong and what to do.
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

// Behind is the calendar with the oldest success. It panics where none is followed.
func (a Account) Behind() Calendar {
	return slices.MinFunc(a.Calendars, func(a, b Calendar) int { return a.LastSuccess.Compare(b.LastSuccess) })
}

// Unwatched is the calendar with the least reliable watch channel, among equals the
// one that ends first. It panics where none is followed.
func (a Account) Unwatched() Calendar {
	return slices.MinFunc(a.Calendars, func(a, b Calendar) int {
		byStatus := slices.Index(channelStatuses, a.Channel) - slices.Index(channelStatuses, b.Channel)
		return cmp.Or(byStatus, a.ChannelExpiry.Compare(b.ChannelExpiry))
	})
}
