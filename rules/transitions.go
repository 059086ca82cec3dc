package rules

import "time"

// Row is one row of the transition table. The first matching row decides.
type Row struct {
	// Name is the reason in the journal.
	Name string
	// Poll, Calendar and Does describe the row in the documentation.
	Poll, Calendar, Does string

	when func(s situation) bool
	then Action
	// blind rows learn nothing about the event linked now, so they clear no error either.
	blind bool
}

// situation is a poll and an observation at a time.
type situation struct {
	poll     Poll
	observed Observation
	now      time.Time
}

// transitions is the table of docs/states.md. The order matters.
var transitions = []Row{
	{
		Name: "still_gone", Poll: "cancelled by the calendar within 30 days, and nobody decided since", Calendar: "gone", Does: "nothing",
		when: func(s situation) bool { return s.awaits() && s.observed.EventState == Gone }, then: Nothing, blind: true,
	},
	{
		Name: "maybe_back", Poll: "cancelled by the calendar within 30 days, and nobody decided since",
		Calendar: "there by a listing, or not readable", Does: "nothing; an event that a listing shows is fetched individually",
		when: func(s situation) bool {
			return s.awaits() && (!s.observed.Fresh || s.observed.EventState != Present && s.observed.EventState != Series)
		}, then: Nothing, blind: true,
	},
	{
		Name: "back_when_past", Poll: "cancelled by the calendar within 30 days, and nobody decided since; the session is past",
		Calendar: "there", Does: "journal only",
		when: func(s situation) bool { return s.awaits() && s.revived().pastFor(PastAfter) }, then: Record,
	},
	{
		Name: "revived", Poll: "cancelled by the calendar within 30 days, and nobody decided since", Calendar: "there",
		Does: "finalised and linked again, and what else the time says",
		when: func(s situation) bool { return s.awaits() }, then: Revive,
	},
	{
		Name: "not_finalised", Poll: "OPEN, CANCELLED or ARCHIVED", Calendar: "anything", Does: "nothing",
		when: func(s situation) bool { return s.poll.Status != Finalized }, then: Nothing, blind: true,
	},
	{
		Name: "another_link", Poll: "another event or generation linked now", Calendar: "anything", Does: "nothing",
		when: func(s situation) bool { return s.observed.Link != s.poll.Link || s.poll.Link.Event == "" }, then: Nothing, blind: true,
	},
	{
		Name: "older", Poll: "any",
		Calendar: "its `updated` is earlier than that of the observation last applied, and it is not gone", Does: "nothing",
		when: situation.older, then: Nothing, blind: true,
	},
	{
		Name: "long_past", Poll: "the session ended over 30 days ago, counted as below", Calendar: "as below", Does: "the index entry goes",
		when: func(s situation) bool { return s.pastFor(ForgetAfter) }, then: Forget,
	},
	{
		Name:     "past",
		Poll:     "the time applied last ended over 24 h ago; where it was over when it was applied, the original time did",
		Calendar: "anything, unless a command caused it or it was moved before then to a time still to come",
		Does:     "journal only; a confirmed hold ends",
		when:     func(s situation) bool { return s.pastFor(PastAfter) }, then: Record,
	},
	{
		Name: "moved_calendar", Poll: "any sync state", Calendar: "gone, and found in another calendar of the same person",
		Does: "the link follows it there",
		when: func(s situation) bool { return s.observed.EventState == Gone && s.observed.Elsewhere }, then: MoveCalendar,
	},
	{
		Name: "held", Poll: "cancellation held for confirmation", Calendar: "gone, not confirmed by a person", Does: "nothing",
		when: func(s situation) bool {
			return s.observed.EventState == Gone && s.poll.Error == MassCancellationHeld && !s.observed.Confirmed
		}, then: Nothing, blind: true,
	},
	{
		Name: "deleted", Poll: "any sync state", Calendar: "gone, and in no other calendar of the same person", Does: "cancel",
		when: func(s situation) bool { return s.observed.EventState == Gone }, then: Cancel,
	},
	{
		Name: "series", Poll: "any sync state", Calendar: "became a series", Does: "warn",
		when: func(s situation) bool { return s.observed.EventState == Series }, then: Warn,
	},
	{
		Name: "unreadable", Poll: "any sync state", Calendar: "no usable times", Does: "warn",
		when: func(s situation) bool { return s.observed.EventState != Present || s.observed.Fingerprint.IsZero() }, then: Warn,
	},
	{
		Name: "linked_before", Poll: "baseline absent", Calendar: "there", Does: "adopt",
		when: func(s situation) bool { return s.poll.Baseline.IsZero() }, then: Adopt,
	},
	{
		Name: "moved_back", Poll: "rescheduled", Calendar: "the baseline", Does: "restore",
		when: func(s situation) bool { return s.poll.Rescheduled && s.observed.Fingerprint == s.poll.Baseline }, then: Restore,
	},
	{
		Name: "in_step", Poll: "not rescheduled", Calendar: "the baseline", Does: "nothing",
		when: func(s situation) bool { return s.observed.Fingerprint == s.poll.Baseline }, then: Nothing,
	},
	{
		Name: "moved", Poll: "not rescheduled", Calendar: "another time", Does: "reschedule",
		when: func(s situation) bool { return !s.poll.Rescheduled }, then: Reschedule,
	},
	{
		Name: "applied_already", Poll: "rescheduled", Calendar: "the time last applied", Does: "nothing",
		when: func(s situation) bool { return s.observed.Fingerprint == s.poll.Applied }, then: Nothing,
	},
	{
		Name: "moved_again", Poll: "rescheduled", Calendar: "a third time", Does: "reschedule again",
		when: func(situation) bool { return true }, then: RescheduleAgain,
	},
}

// Transitions returns the table's rows in order, for documentation.
func Transitions() []Row { return append([]Row(nil), transitions...) }

// Action is the row's effect.
func (r Row) Action() Action { return r.then }

// Decide returns what the poll becomes, given the calendar. It is the only place that
// decides what a change of the calendar means: a reschedule, restore or cancellation. What
// people ask for is decided by the table of commands.go.
func Decide(poll Poll, observed Observation, now time.Time) Decision {
	s := situation{poll, observed, now}
	for _, row := range transitions {
		if row.when(s) {
			return s.decision(row)
		}
	}
	panic("rules: the last row matches everything")
}

// decision completes a row's action with the resulting state and error.
func (s situation) decision(row Row) Decision {
	d := Decision{Action: row.then, Row: row.Name, State: s.poll.State, Error: s.poll.Error}
	switch row.then {
	case Revive:
		then := Decide(s.revived().poll, s.observed, s.now)
		d.Then, d.ThenRow, d.State, d.Error, d.Drift = then.Action, then.Row, then.State, then.Error, then.Drift
		return d
	case Cancel:
		d.State, d.Error = StateCancelled, ""
		return d
	case Warn:
		return s.warning(d)
	case Adopt:
		d.Drift = s.observed.Fingerprint.Start != s.poll.Winning.Start
	}
	d.Refetch = s.awaits() && s.observed.EventState != Gone && !s.observed.Fresh
	switch confirmed := d.Error == MassCancellationHeld && s.observed.Confirmed; {
	case d.Action == Record && confirmed: // past since it was held: there is nothing left to confirm
		d.Action = Nothing
	case row.blind || d.Action == Record || d.Action == Forget:
		return d
	}
	if d.Error != "" && s.clears(d.Error) {
		d.Error = ""
	}
	if d.Action == MoveCalendar && d.State == StateNone {
		return d // adopted in its new calendar
	}
	d.State = s.stateAfter(d)
	if d.Action == Nothing && (d.Error != s.poll.Error || d.State != s.poll.State) {
		d.Action = Clear
	}
	return d
}

// warning sets the code of a series or an unreadable event. A graver error stays, and
// a warning that is already set is not set again.
func (s situation) warning(d Decision) Decision {
	code := UnreadableEvent
	if s.observed.EventState == Series {
		code = RecurringUnsupported
	}
	current := d.Error
	if current != "" && !isWarning(current) && !s.clears(current) {
		d.Action = Nothing
		return d
	}
	d.Error = code
	d.State = s.stateAfter(d)
	if current == code && d.State == s.poll.State {
		d.Action = Nothing
	}
	return d
}

// stateAfter is the resulting sync state: an error that is not over keeps ERROR while
// times are followed.
func (s situation) stateAfter(d Decision) State {
	rescheduled := s.poll.Rescheduled
	switch d.Action {
	case Reschedule, RescheduleAgain:
		rescheduled = true
	case Restore:
		rescheduled = false
	}
	switch {
	case d.Error != "" && !isWarning(d.Error):
		return StateError
	case rescheduled:
		return StateRescheduled
	default:
		return StateOK
	}
}

// clears reports whether this observation clears an error.
func (s situation) clears(code ErrorCode) bool {
	switch code {
	case TokenExpired, CalendarUnlinked:
		return s.observed.AccountLive
	case WatchFailed:
		return s.observed.WatchLive
	case SyncFailed, CalendarLost:
		return true // this very event was synced
	case RecurringUnsupported, UnreadableEvent:
		return s.observed.EventState == Present
	case MassCancellationHeld:
		return s.observed.Confirmed || s.observed.Elsewhere
	default:
		return false
	}
}

func isWarning(code ErrorCode) bool {
	return code == RecurringUnsupported || code == UnreadableEvent
}

// Recovered returns the sync state of a poll after its error.
func Recovered(poll Poll) State {
	if poll.Rescheduled {
		return StateRescheduled
	}
	return StateOK
}
