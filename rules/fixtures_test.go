package rules_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/rules"
)

// One day on which everything takes place: a session finalised for ten
// o'clock, moved to noon, and to three.
var (
	ten   = on("2026-03-02T10:00:00Z", time.Hour)
	noon  = on("2026-03-02T12:00:00Z", time.Hour)
	three = on("2026-03-02T15:00:00Z", time.Hour)
	// allDay starts and ends with the day; timedDay is the same moments
	// without the flag.
	allDay   = days("2026-03-02", "2026-03-03")
	timedDay = on("2026-03-02T00:00:00Z", 24*time.Hour)

	// dayBefore is when people decide, with nothing past.
	dayBefore = at("2026-03-01T09:00:00Z")
	// applied is the event's `updated` when it was applied last; earlier and
	// later lie around it.
	applied = at("2026-03-01T08:00:00Z")
	earlier = applied.Add(-time.Millisecond)
	later   = applied.Add(time.Millisecond)

	link = rules.Link{Account: "acc_gm", Calendar: "gm@example.com", Event: "qs1", Generation: 3}
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func on(start string, length time.Duration) rules.Fingerprint {
	return rules.Timed(at(start), at(start).Add(length))
}

func days(start, end string) rules.Fingerprint {
	f, err := rules.Days(start, end)
	if err != nil {
		panic(err)
	}
	return f
}

// inStep is a poll whose event is at the time it was created for.
func inStep() rules.Poll {
	return rules.Poll{
		Status: rules.Finalized, State: rules.StateOK, Link: link,
		Baseline: ten, Applied: ten, AppliedUpdated: applied, Winning: ten,
	}
}

// rescheduled is a poll finalised for ten whose event was moved to noon.
func rescheduled() rules.Poll {
	p := inStep()
	p.State, p.Rescheduled = rules.StateRescheduled, true
	p.Applied, p.Winning = noon, noon
	return p
}

// linkedBefore is a poll that the web app's own functions finalised.
func linkedBefore() rules.Poll {
	p := inStep()
	p.State, p.Link.Generation = rules.StateNone, 0
	p.Baseline, p.Applied, p.AppliedUpdated = rules.Fingerprint{}, rules.Fingerprint{}, time.Time{}
	return p
}

// failing is the poll with an error. Warnings leave the state as it is.
func failing(p rules.Poll, code rules.ErrorCode) rules.Poll {
	p.Error = code
	if code != rules.RecurringUnsupported && code != rules.UnreadableEvent {
		p.State = rules.StateError
	}
	return p
}

// observation returns an observation of the poll's event just after the last change.
func observation(p rules.Poll, state rules.EventState) rules.Observation {
	return rules.Observation{Link: p.Link, EventState: state, Updated: later}
}

// presentAt returns an observation of the poll's event at a time.
func presentAt(p rules.Poll, when rules.Fingerprint) rules.Observation {
	o := observation(p, rules.Present)
	o.Fingerprint = when
	return o
}

// decide writes a decision as the tables of these tests do:
//
//	in_step: nothing
//	moved: reschedule → RESCHEDULED
//	moved: reschedule → ERROR watch_failed
//
// A decision that writes nothing must leave state and error as they are.
func decide(t testing.TB, p rules.Poll, o rules.Observation, now time.Time) string {
	t.Helper()
	d := rules.Decide(p, o, now)
	text := d.Row + ": " + string(d.Action)
	if d.Refetch && d.Row != "maybe_back" {
		t.Errorf("%s fetches an event again that is not awaited", text)
	}
	if d.Drift {
		text += " with drift"
	}
	if !d.Changes() {
		if d.State != p.State || d.Error != p.Error {
			t.Errorf("%s writes nothing, but state %q error %q became %q %q", text, p.State, p.Error, d.State, d.Error)
		}
		return text
	}
	text += fmt.Sprintf(" → %s", d.State)
	if d.Error != "" {
		text += " " + string(d.Error)
	}
	return text
}

// after is the poll once the decision is applied, as the scheduler applies it:
// the model that the properties run on. was is the time of the original slot,
// which a restore makes win again.
func after(p rules.Poll, o rules.Observation, d rules.Decision, was rules.Fingerprint) rules.Poll {
	if !d.Changes() {
		return p
	}
	p.State, p.Error = d.State, d.Error
	if d.Action == rules.MoveCalendar {
		p.Link.Calendar = "club@example.com"
		return p
	}
	if o.Updated.After(p.AppliedUpdated) {
		p.AppliedUpdated = o.Updated
	}
	switch d.Action {
	case rules.Adopt:
		p.Baseline, p.Applied = o.Fingerprint, o.Fingerprint
	case rules.Cancel:
		p.Status, p.Link = rules.Cancelled, rules.Link{}
	case rules.Reschedule, rules.RescheduleAgain:
		p.Applied, p.Winning, p.Rescheduled = o.Fingerprint, o.Fingerprint, true
	case rules.Restore:
		p.Applied, p.Winning, p.Rescheduled = o.Fingerprint, was, false
	}
	return p
}
