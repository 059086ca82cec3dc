package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
)

// Limits of what is counted of second addresses.
const (
	maxFailedAttendees  = 25 // events whose guests cannot be written, for an overview
	maxPendingAttendees = 50 // events that are due, for an overview
)

// Attendees are the second addresses of attendees, as an overview shows them.
type Attendees struct {
	// On reports that they are switched on; nothing else is set, and nothing was read,
	// if they are not.
	On bool
	// Idle reports that nothing loads them, by QS_SYNC=off.
	Idle bool
	// Mappings say how loading them went.
	mappings.Record
	// Status is the worst of Troubles, which are worst first.
	Status   Status
	Troubles []Trouble
	// Failed are some of the events whose guests cannot be written, those that fail
	// longest first.
	Failed     []attendees.EventRecord
	MoreFailed bool
	// Pending counts the events whose guests must be written, up to 50. OldestDue is since
	// when the first of them is due; zero: none is.
	Pending     int
	MorePending bool
	OldestDue   time.Time
}

// refreshLate is how long loading may not have been tried, and what it brought not be
// carried out: six of its periods.
const refreshLate = 30 * time.Minute

// attendeesRow is one thing that can be wrong with second addresses.
type attendeesRow struct {
	code string
	// status is how bad that is; "": as bad as it is old.
	status  Status
	when    func(a Attendees, now time.Time) (since time.Time, wrong bool)
	message func(a Attendees) string
}

// attendeesRows are all that can be wrong. Every row that applies counts.
var attendeesRows = []attendeesRow{
	{"mappings_missing", Unhealthy, func(a Attendees, _ time.Time) (time.Time, bool) {
		return time.Time{}, a.LoadedAt.IsZero() && a.Failures > 0
	}, func(a Attendees) string {
		return "Second addresses could never be loaded, so none is added." + because(a.Error) + " `questscheduler doctor` tries it again."
	}},
	{"mappings_stale", "", func(a Attendees, _ time.Time) (time.Time, bool) {
		return a.LoadedAt, !a.LoadedAt.IsZero() && a.Failures > 0
	}, func(a Attendees) string {
		return fmt.Sprintf("Loading second addresses failed %s; those loaded last stay in use.%s", times(a.Failures), because(a.Error))
	}},
	{"mappings_late", "", func(a Attendees, now time.Time) (time.Time, bool) {
		return a.TriedAt, !a.Idle && !a.TriedAt.IsZero() && now.Sub(a.TriedAt) > refreshLate
	}, func(Attendees) string {
		return "Second addresses were not loaded for longer than they should be. The server's timers may not run: `questscheduler " +
			"doctor` says why."
	}},
	{"mappings_held", Degraded, func(a Attendees, _ time.Time) (time.Time, bool) {
		return a.Held.At, a.Held.Version != ""
	}, func(a Attendees) string {
		return HeldMappings(a.Held) + fmt.Sprintf(
			" If it is meant, send POST /admin/reload-mappings with {\"confirm\": \"%s\"}; if not, correct the sheet or file.",
			a.Held.Version,
		)
	}},
	{"mappings_unfollowed", Degraded, func(a Attendees, now time.Time) (time.Time, bool) {
		return a.PendingSince, !a.Idle && !a.PendingSince.IsZero() && now.Sub(a.PendingSince) > refreshLate
	}, func(Attendees) string {
		return "Changed second addresses are not carried out yet for half an hour or more. If this stays, the server's log says why."
	}},
	{"calendars_without_access", Degraded, func(a Attendees, _ time.Time) (time.Time, bool) {
		return time.Time{}, a.WithoutAccess > 0
	}, func(a Attendees) string {
		return fmt.Sprintf("%s cannot be followed, since no account reaches %s. Set QS_ATTENDEES_KEY to a service account with "+
			"domain-wide delegation, or have their owners link their accounts.",
			amount(a.WithoutAccess, "calendar of a primary address", "calendars of primary addresses"), plural(a.WithoutAccess, "it", "them"))
	}},
	{"guests_failed", Degraded, func(a Attendees, _ time.Time) (since time.Time, wrong bool) {
		for _, event := range a.Failed {
			if since.IsZero() || event.FailedSince.Before(since) {
				since = event.FailedSince
			}
		}
		return since, len(a.Failed) > 0
	}, func(a Attendees) string {
		number := amount(int64(len(a.Failed)), "event", "events")
		if a.MoreFailed {
			number = fmt.Sprint(len(a.Failed), " or more events")
		}
		return fmt.Sprintf(
			"The guests of %s cannot be written, which is tried again once a day.%s `questscheduler explain att_…` shows each attempt.",
			number, because(a.Failed[0].Error),
		)
	}},
}

// HeldMappings says in a sentence or two what a version of the mappings would change that awaits
// confirmation.
func HeldMappings(held mappings.Held) string {
	gone := fmt.Sprintf("%d of %d second addresses are gone at once, and stay in use until that is confirmed.", held.Lost, held.Of)
	fresh := fmt.Sprintf("%s added at once to the %d in use, and none is used until that is confirmed.",
		amount(held.Added, "second address is", "second addresses are"), held.Of)
	switch {
	case held.Added == 0:
		return gone
	case held.Lost == 0:
		return fresh
	}
	return gone + " " + fresh
}

// amount is a number with its noun.
func amount(n int64, one, many string) string { return fmt.Sprint(n, " ", plural(n, one, many)) }

func plural(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func times(n int64) string { return amount(n, "time", "times") }

// because is a stored sentence behind another one.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " The reason: " + reason
}

// judgeAttendees adds the troubles to what was read.
func judgeAttendees(a Attendees, now time.Time) Attendees {
	a.Status, a.Troubles = Healthy, nil
	for _, row := range attendeesRows {
		since, wrong := row.when(a, now)
		if !wrong {
			continue
		}
		status := cmp.Or(row.status, severity(since, now))
		a.Status = Worst(a.Status, status)
		a.Troubles = append(a.Troubles, Trouble{Code: row.code, Status: status, Since: since, Message: row.message(a)})
	}
	worstFirst(a.Troubles)
	return a
}

// attendees reads how second addresses are; nothing if they are off.
func (r *Reader) attendees(ctx context.Context, o *Overview) (err error) {
	if !r.Attendees {
		return nil
	}
	a, err := r.readAttendees(ctx, maxPendingAttendees, maxFailedAttendees)
	o.Attendees = judgeAttendees(a, o.Now)
	return err
}

// readAttendees reads the state of the mappings and at most so many records that are
// pending and in error.
func (r *Reader) readAttendees(ctx context.Context, pending, failed int) (a Attendees, err error) {
	a.On, a.Idle = true, r.terms().Off
	a.Record, err = mappings.LoadRecord(ctx, r.Store)
	if err != nil {
		return a, err
	}
	due, err := attendees.SomeDue(ctx, r.Store, r.Now(), pending)
	if err != nil {
		return a, err
	}
	a.Pending, a.MorePending = len(due), len(due) == pending
	if len(due) > 0 { // they come in the order of their due
		a.OldestDue = due[0].Due
	}
	a.Failed, err = attendees.InError(ctx, r.Store, failed)
	if err != nil {
		return a, err
	}
	a.MoreFailed = len(a.Failed) == failed
	slices.SortStableFunc(a.Failed, func(x, y attendees.EventRecord) int { return x.FailedSince.Compare(y.FailedSince) })
	return a, nil
}

// AttendeeFigures are the figures of second addresses; the zero value if they are off.
type AttendeeFigures struct {
	On bool
	// Mappings, Skipped and WithoutAccess count mappings in use, skipped rows and mappings
	// whose calendar no account reaches; Held the second addresses whose loss or addition
	// awaits confirmation.
	Mappings, Skipped, WithoutAccess, Held int64
	// Failures counts failed loads in a row, and LoadedAt is the last that succeeded; zero:
	// none did.
	Failures int64
	LoadedAt time.Time
	// Pending and Failed count events whose guests must be written, and those that cannot
	// be, up to FiguresMost.
	Pending, Failed int
	OldestDue       time.Time
}

// countAttendees counts what is pending and what fails of second addresses.
func (r *Reader) countAttendees(ctx context.Context, figures *Figures) error {
	if !r.Attendees {
		return nil
	}
	a, err := r.readAttendees(ctx, FiguresMost, FiguresMost)
	figures.Attendees = AttendeeFigures{
		On: true, Mappings: a.Count, Skipped: a.SkippedCount, WithoutAccess: a.WithoutAccess, Held: a.Held.Lost + a.Held.Added,
		Failures: a.Failures, LoadedAt: a.LoadedAt, Pending: a.Pending, Failed: len(a.Failed), OldestDue: a.OldestDue,
	}
	return err
}
