// Package rules holds the decisions, pure: what a poll becomes when the calendar changes,
// what a person's command does to it, and what is announced. It has no context, clock,
// randomness, logging or IO, and the same arguments always give the same answer, so that
// a poll can be replayed from its journal.
//
// The tables are in transitions.go (the calendar), commands.go (people) and repair.go
// (direct edits).
package rules

import "time"

// Status is a poll's status, as stored.
type Status string

// The statuses. An absent status is read as Open.
const (
	Open      Status = "OPEN"
	Finalized Status = "FINALIZED"
	Cancelled Status = "CANCELLED"
	Archived  Status = "ARCHIVED"
)

// Statuses are all statuses.
var Statuses = []Status{Open, Finalized, Cancelled, Archived}

// State is calendarSync.state, as stored.
type State string

// The sync states. StateNone is a poll that the calendar never touched.
const (
	StateNone        State = ""
	StateOK          State = "OK"
	StateRescheduled State = "RESCHEDULED"
	StateCancelled   State = "CANCELLED"
	StateError       State = "ERROR"
)

// ErrorCode is calendarSync.error.code. Each has a condition that clears it (clears).
type ErrorCode string

// The error codes. The last two are warnings and leave the state unchanged.
const (
	TokenExpired         ErrorCode = "token_expired"
	CalendarUnlinked     ErrorCode = "calendar_unlinked"
	CalendarLost         ErrorCode = "calendar_lost"
	WatchFailed          ErrorCode = "watch_failed"
	SyncFailed           ErrorCode = "sync_failed"
	MassCancellationHeld ErrorCode = "mass_cancellation_held"
	RecurringUnsupported ErrorCode = "recurring_unsupported"
	UnreadableEvent      ErrorCode = "unreadable_event"
)

// Reasons of a cancellation, as stored in cancelled.reason.
const (
	ReasonCalendarDeleted = "calendar_deleted"
	ReasonManual          = "manual"
)

// Link identifies a linked event. The same event id in another calendar or account is
// another thing: an event appears in every guest's calendar under one id.
type Link struct {
	Account  string
	Calendar string
	Event    string
	// Generation counts the poll's finalisations; 0 for a poll linked before this
	// backend.
	Generation int64
}

// Poll is the part of a poll that decisions need.
type Poll struct {
	Status Status
	State  State
	// Error is calendarSync.error.code, or "".
	Error ErrorCode
	Link  Link
	// Baseline is the time the poll was finalised for, or that the creator accepted
	// since; zero: linked before this backend, not yet adopted.
	Baseline Fingerprint
	// Applied is the fingerprint last applied; zero: none yet.
	Applied Fingerprint
	// AppliedUpdated is the newest `updated` of the event that was applied.
	AppliedUpdated time.Time
	// Rescheduled reports whether calendarSync.rescheduled is present.
	Rescheduled bool
	// MovedAt is when the current time was taken from the calendar; zero if the poll is
	// not rescheduled.
	MovedAt time.Time
	// Timely is the calendar's last time that was not over when applied; zero: none since
	// the poll was rescheduled.
	Timely Fingerprint
	// Winning is the winning slot's time; zero if there is none.
	Winning Fingerprint
	// Original is the time of the slot that won before a reschedule; zero if there is
	// none or nothing depends on it (AppliedLate).
	Original Fingerprint
	// FinalizedAt is when the poll was last finalised, or the calendar's time accepted;
	// zero if unknown.
	FinalizedAt time.Time
	// Awaited is the event whose deletion cancelled the poll, and which may come back
	// until AwaitedUntil; zero: none, or a person has decided since.
	Awaited      Link
	AwaitedUntil time.Time
}

// EventState is the state of an observed event.
type EventState uint8

// The states of an observed event. Gone means confirmed: status cancelled, or 404 or 410 from
// a get, while the calendar itself answered with a writer's role.
const (
	Present EventState = iota + 1
	Gone
	Series
	Unreadable
)

// Observation is what the calendar shows of one event.
type Observation struct {
	Link        Link
	EventState  EventState
	Fingerprint Fingerprint // for Present only
	// Updated is the event's own `updated`; zero if the answer had none.
	Updated time.Time
	// AccountLive, WatchLive and Confirmed clear errors: the account's grant works; a
	// watch channel is live or two sweeps succeeded; a person confirmed this
	// cancellation.
	AccountLive bool
	WatchLive   bool
	Confirmed   bool
	// Fresh means that the event was fetched individually just now. A page of a listing
	// may be older than a deletion.
	Fresh bool
	// Asked means that a person's command caused the observation, so it counts even if
	// the session is past.
	Asked bool
	// Elsewhere means, with Gone, that the event is in another calendar of the same
	// person.
	Elsewhere bool
}

// Older reports whether an observation is older than the one last applied, by the event's
// `updated`. An observation without it is not: the sync that read it vouches for it.
func Older(updated, applied time.Time) bool {
	return !updated.IsZero() && updated.Before(applied)
}

// Newest is the `updated` to compare later observations with; it never goes back.
func Newest(applied, updated time.Time) time.Time {
	if updated.After(applied) {
		return updated
	}
	return applied
}

// Action is the effect of a decision on the poll.
type Action string

// The actions, as stored in the journal.
const (
	// Nothing: the poll is unchanged.
	Nothing Action = "nothing"
	// Record: only a journal entry.
	Record Action = "record"
	// Forget: the index entry goes; googleEventId stays.
	Forget Action = "forget"
	// Adopt: the observed time becomes the baseline; nothing is announced.
	Adopt Action = "adopt"
	// MoveCalendar: the link follows the event to another calendar; generation and times
	// stay.
	MoveCalendar Action = "moved_calendar"
	// Cancel: status and state CANCELLED, winning slot kept; the event is awaited.
	Cancel Action = "cancel"
	// Revive: an awaited event is back; status FINALIZED, linked again, then
	// Decision.Then.
	Revive Action = "revive"
	// Reschedule: a calendar slot is created and wins; a snapshot is taken.
	Reschedule Action = "reschedule"
	// RescheduleAgain: the calendar slot moves; the first snapshot stays.
	RescheduleAgain Action = "reschedule_again"
	// Restore: the original slot wins again; the calendar slot goes.
	Restore Action = "restore"
	// Warn: calendarSync.error is set, the state stays.
	Warn Action = "warn"
	// Clear: an error no longer holds, or the state was wrong (ERROR without an error, CANCELLED
	// on a restored poll); nothing else changes.
	Clear Action = "clear_error"
)

// Decision is the result of a poll and an observation.
type Decision struct {
	Action Action
	// Row is the name of the row that decided.
	Row   string
	State State
	// Error is the resulting error code, or "".
	Error ErrorCode
	// Then is, for Revive, the action on the poll linked again, and ThenRow its row.
	Then    Action
	ThenRow string
	// Refetch means that the observation may be outdated: fetch the event individually
	// and decide again.
	Refetch bool
	// Drift means, for Adopt, that the event does not start with the winning slot.
	Drift bool
}

// Changes reports whether the decision writes to the poll.
func (d Decision) Changes() bool {
	return d.Action != Nothing && d.Action != Record && d.Action != Forget
}
