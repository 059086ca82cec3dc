// Package rules holds the decisions, pure: what a poll becomes when the
// calendar says something, what a person's command does to it, and what is to
// be announced. No context, clock, randomness, logging or IO: now is an
// argument, and the same arguments give the same answer for ever, which is
// what makes a poll replayable from its journal.
//
// The tables are in transitions.go (what the calendar says) and commands.go
// (what people ask for).
package rules

import "time"

// Status is a poll's status, as it stands in the shared document.
type Status string

// The statuses. An absent status is read as Open.
const (
	Open      Status = "OPEN"
	Finalized Status = "FINALIZED"
	Cancelled Status = "CANCELLED"
	Archived  Status = "ARCHIVED"
)

// Statuses are all that a poll can have.
var Statuses = []Status{Open, Finalized, Cancelled, Archived}

// State is calendarSync.state, as it stands in the shared document.
type State string

// The sync states. StateNone is a poll that the calendar never touched.
const (
	StateNone        State = ""
	StateOK          State = "OK"
	StateRescheduled State = "RESCHEDULED"
	StateCancelled   State = "CANCELLED"
	StateError       State = "ERROR"
)

// ErrorCode is calendarSync.error.code. Each has a condition that clears it:
// see clears.
type ErrorCode string

// The error codes. The last two are warnings: they leave the state as it is.
const (
	TokenExpired         ErrorCode = "token_expired"
	CalendarUnlinked     ErrorCode = "calendar_unlinked"
	WatchFailed          ErrorCode = "watch_failed"
	SyncFailed           ErrorCode = "sync_failed"
	MassCancellationHeld ErrorCode = "mass_cancellation_held"
	RecurringUnsupported ErrorCode = "recurring_unsupported"
	UnreadableEvent      ErrorCode = "unreadable_event"
)

// Reasons of a cancellation, as they stand in cancelled.reason.
const (
	ReasonCalendarDeleted = "calendar_deleted"
	ReasonManual          = "manual"
)

// Link is the identity of a linked event. The same event id in another
// calendar, or in another account's view of it, is another thing: an event
// with guests stands in every guest's calendar under one id.
type Link struct {
	Account  string
	Calendar string
	Event    string
	// Generation counts the finalisations of the poll; 0 for a poll that was
	// linked before this backend.
	Generation int64
}

// Poll is what the poll says: the part of it that decisions need.
type Poll struct {
	Status Status
	State  State
	// Error is the code of calendarSync.error, "" where there is none.
	Error ErrorCode
	Link  Link
	// Baseline is the time the poll was finalised for, or that the creator
	// accepted since; zero: linked before this backend, not yet adopted.
	Baseline Fingerprint
	// Applied is the fingerprint last applied; zero: none yet.
	Applied Fingerprint
	// AppliedUpdated is the newest `updated` of the event that was applied.
	AppliedUpdated time.Time
	// Rescheduled tells whether calendarSync.rescheduled is present.
	Rescheduled bool
	// MovedAt is when the time that stands was taken over from the calendar; zero
	// where the poll is not rescheduled.
	MovedAt time.Time
	// Timely is the calendar's last time that was still to come when it was applied;
	// zero: none since the poll was rescheduled.
	Timely Fingerprint
	// Winning is the time of the winning slot; zero: no winning slot.
	Winning Fingerprint
	// Original is the time of the slot that won before a reschedule; zero where
	// there is none, or where nothing depends on it (AppliedLate).
	Original Fingerprint
	// FinalizedAt is when the poll was finalised last, or the calendar's time was
	// accepted; zero: not known.
	FinalizedAt time.Time
	// Awaited is the event whose deletion cancelled the poll, and which may come
	// back until AwaitedUntil; zero: none, or a person has decided since.
	Awaited      Link
	AwaitedUntil time.Time
}

// Seen is how an event looks to an observer.
type Seen uint8

// How an event can look. Gone means confirmed: status cancelled, or 404 or 410
// from a get, while the calendar itself answered with a writer's role.
const (
	Present Seen = iota + 1
	Gone
	Series
	Unreadable
)

// Observation is what the calendar says now about one event.
type Observation struct {
	Link        Link
	Seen        Seen
	Fingerprint Fingerprint // for Present alone
	// Updated is the event's own `updated`; zero where the answer held none.
	Updated time.Time
	// AccountLive, WatchLive and Confirmed vouch for what clears an error: the
	// account is linked and its grant works; a watch lives or two sweeps went
	// well; a person confirmed this cancellation.
	AccountLive bool
	WatchLive   bool
	Confirmed   bool
	// Fresh tells that the event was fetched by itself just now. What a page of a
	// listing shows may be older than a deletion.
	Fresh bool
	// Asked tells that a person's command caused what is observed, so it counts
	// even where the session is past.
	Asked bool
	// Elsewhere tells, where Seen is Gone, that the event was found in another
	// calendar of the same person.
	Elsewhere bool
}

// Older tells whether an observation is older than the one last applied, by the
// event's own `updated` in both. One without is not: nothing says so, and the
// sync that read it vouches for it.
func Older(updated, applied time.Time) bool {
	return !updated.IsZero() && updated.Before(applied)
}

// Newest is the `updated` that later observations are held against, after one was
// applied: it never goes back, whether that one held an earlier one or none.
func Newest(applied, updated time.Time) time.Time {
	if updated.After(applied) {
		return updated
	}
	return applied
}

// Action is what a decision does to the poll.
type Action string

// The actions, as they stand in the journal.
const (
	// Nothing: the poll stays as it is.
	Nothing Action = "nothing"
	// Record: a line in the journal and no more.
	Record Action = "record"
	// Forget: the index entry goes; googleEventId stays.
	Forget Action = "forget"
	// Adopt: the observed time becomes the baseline; nothing is announced.
	Adopt Action = "adopt"
	// MoveCalendar: the link goes to the calendar that the event was moved to;
	// its generation and times stay.
	MoveCalendar Action = "moved_calendar"
	// Cancel: status and state CANCELLED, winning slot kept; the event is awaited.
	Cancel Action = "cancel"
	// Revive: an awaited event is back; status FINALIZED, linked again, and
	// Decision.Then on top.
	Revive Action = "revive"
	// Reschedule: a calendar slot is made and wins; a snapshot is taken.
	Reschedule Action = "reschedule"
	// RescheduleAgain: the calendar slot moves; the first snapshot stays.
	RescheduleAgain Action = "reschedule_again"
	// Restore: the original slot wins again; the calendar slot goes.
	Restore Action = "restore"
	// Warn: calendarSync.error is set, the state stays.
	Warn Action = "warn"
	// Clear: the error is over, or the state did not say what stands (ERROR
	// without an error, CANCELLED on a poll that was restored); nothing else
	// changed.
	Clear Action = "clear_error"
)

// Decision is what follows from a poll and an observation.
type Decision struct {
	Action Action
	// Row names the row of the table that decided.
	Row string
	// State is the sync state after the decision.
	State State
	// Error is the code that stands after the decision; "": none.
	Error ErrorCode
	// Then is, for Revive, what the observation does to the poll that is linked
	// again, and ThenRow the row that decided that.
	Then    Action
	ThenRow string
	// Refetch tells that the observation may be too old to decide: the event is to
	// be fetched by itself, and observed anew.
	Refetch bool
	// Drift tells, for Adopt, that the event does not start where the winning
	// slot does.
	Drift bool
}

// Changes tells whether the decision writes to the poll.
func (d Decision) Changes() bool {
	return d.Action != Nothing && d.Action != Record && d.Action != Forget
}
