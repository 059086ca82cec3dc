package rules_test

import (
	"testing"

	"questscheduler/rules"
)

// Whatever a direct edit left: an edit that the journal does not know ends in an
// entry, and where there is none, and nothing else disagrees, nothing happens.
func TestRepair_OfAnEdit_IsNeverNothing(t *testing.T) {
	t.Parallel()
	for _, status := range rules.Statuses {
		for bits := range 1 << 7 {
			set := func(n int) bool { return bits>>n&1 == 1 }
			d := rules.Documents{
				Exists: true, Edited: true, Status: status, HasEvent: set(0), HasEntry: set(1), Fits: set(2),
				Rescheduled: set(3), Marked: set(4), Cancelled: set(4), Inserting: set(5), LongPast: set(6),
			}
			if rules.RepairFor(d) == rules.RepairNothing {
				t.Errorf("nothing repairs %+v", d)
			}
		}
	}
}

func TestRepair_OfADeletedPoll_LastsUntilNothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]rules.Documents{
		"an entry": {HasEntry: true}, "an insert": {Inserting: true}, "something below it, or to announce": {Left: true},
	} {
		if got := rules.RepairFor(d); got != rules.RepairDeleted {
			t.Errorf("%s is left: got %s", name, got)
		}
	}
}

// One mark is enough for the web app's badge, and both of ours are its due.
func TestRepair_OfAMarkOfACancellation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status            rules.Status
		marked, cancelled bool
		want              rules.Repair
	}{
		{rules.Open, true, false, rules.RepairReopen},
		{rules.Open, true, true, rules.RepairReopen},
		{rules.Finalized, true, false, rules.RepairRestore},
		{rules.Finalized, true, true, rules.RepairRestore},
		{rules.Cancelled, false, false, rules.RepairCancel},
		{rules.Cancelled, true, false, rules.RepairCancel},
		{rules.Cancelled, true, true, rules.RepairNothing},
		{rules.Archived, true, false, rules.RepairNothing},
	} {
		d := rules.Documents{Exists: true, Status: c.status, Marked: c.marked, Cancelled: c.cancelled}
		if got := rules.RepairFor(d); got != c.want {
			t.Errorf("%+v: got %s, want %s", d, got, c.want)
		}
	}
}

func TestRepair_OfAPollThatAgrees_IsNothing(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]rules.Documents{
		"deleted":              {},
		"open":                 {Exists: true, Status: rules.Open},
		"finalised, no event":  {Exists: true, Status: rules.Finalized},
		"finalised, followed":  {Exists: true, Status: rules.Finalized, State: rules.StateOK, HasEvent: true, HasEntry: true, Fits: true},
		"finalised, long past": {Exists: true, Status: rules.Finalized, State: rules.StateOK, HasEvent: true, LongPast: true},
		"cancelled":            {Exists: true, Status: rules.Cancelled, State: rules.StateCancelled, Marked: true, Cancelled: true},
		"archived, followed":   {Exists: true, Status: rules.Archived, State: rules.StateOK, HasEvent: true, HasEntry: true, Fits: true},
	} {
		if got := rules.RepairFor(d); got != rules.RepairNothing {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestForgotten_EventIsForgotten_DropsItsErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		poll   rules.Poll
		linked bool
		state  rules.State
		code   rules.ErrorCode
	}{
		{"in step", rules.Poll{State: rules.StateOK}, true, rules.StateOK, ""},
		{"a move goes with the event", rules.Poll{State: rules.StateRescheduled, Rescheduled: true}, true, rules.StateOK, ""},
		{"a hold was about the event", rules.Poll{State: rules.StateError, Error: rules.MassCancellationHeld}, true, rules.StateOK, ""},
		{"so was a warning", rules.Poll{State: rules.StateOK, Error: rules.RecurringUnsupported}, true, rules.StateOK, ""},
		{"the grant is dead all the same", rules.Poll{State: rules.StateError, Error: rules.TokenExpired}, true, rules.StateError, rules.TokenExpired},
		{"without another event nothing is followed", rules.Poll{State: rules.StateError, Error: rules.TokenExpired}, false, rules.StateNone, ""},
		{"a cancelled poll stays so", rules.Poll{State: rules.StateCancelled}, true, rules.StateCancelled, ""},
	} {
		if state, code := rules.Forgotten(c.poll, c.linked); state != c.state || code != c.code {
			t.Errorf("%s: got %s %s, want %s %s", c.name, state, code, c.state, c.code)
		}
	}
}
