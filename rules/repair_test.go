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

// Each row of the table of direct edits, and the neighbours that must miss it by one fact.
func TestRepair_EachRow_NeedsAllItsFacts(t *testing.T) {
	t.Parallel()
	followed := rules.Documents{Exists: true, Status: rules.Finalized, State: rules.StateOK, HasEvent: true, HasEntry: true, Fits: true}
	awaited := rules.Documents{
		Exists: true, Status: rules.Cancelled, State: rules.StateCancelled, Marked: true, Cancelled: true,
		HasEntry: true, Fits: true, EntryAwaited: true, Awaiting: true,
	}
	restored := awaited // the web app finalised it again while its event is gone
	restored.Status, restored.State, restored.Marked, restored.Cancelled = rules.Finalized, rules.StateNone, false, false
	cancelled := rules.Documents{Exists: true, Status: rules.Cancelled, State: rules.StateCancelled, Marked: true, Cancelled: true}
	open := rules.Documents{Exists: true, Status: rules.Open}
	with := func(d rules.Documents, change func(*rules.Documents)) rules.Documents {
		change(&d)
		return d
	}
	for _, c := range []struct {
		name string
		docs rules.Documents
		want rules.Repair
	}{
		{"awaited in time", awaited, rules.RepairNothing},
		{"awaited too long", with(awaited, func(d *rules.Documents) { d.AwaitOver = true }), rules.RepairForget},
		{"awaited too long, but edited", with(awaited, func(d *rules.Documents) { d.AwaitOver, d.Edited = true, true }), rules.RepairRecord},
		{"not awaited, however long", with(followed, func(d *rules.Documents) { d.AwaitOver = true }), rules.RepairNothing},
		{"awaited, slots edited", with(awaited, func(d *rules.Documents) { d.SlotsEdited = true }), rules.RepairSlots},
		{
			"awaited, slots edited, marks half gone",
			with(awaited, func(d *rules.Documents) { d.SlotsEdited, d.Cancelled = true, false }), rules.RepairCancel,
		},
		{"awaited and restored", restored, rules.RepairNothing},
		{"awaited and restored, slots edited", with(restored, func(d *rules.Documents) { d.SlotsEdited = true }), rules.RepairSlots},
		{
			"awaited and restored, marked, slots edited",
			with(restored, func(d *rules.Documents) { d.SlotsEdited, d.Marked = true, true }), rules.RepairRestore,
		},
		{
			"awaited and reopened, slots edited",
			with(awaited, func(d *rules.Documents) { d.SlotsEdited, d.Status = true, rules.Open }), rules.RepairReopen,
		},
		{"not awaited, slots edited", with(cancelled, func(d *rules.Documents) { d.SlotsEdited = true }), rules.RepairNothing},
		{"archived while linked", with(followed, func(d *rules.Documents) { d.Status = rules.Archived }), rules.RepairNothing},
		{"archived by an edit", with(followed, func(d *rules.Documents) { d.Status, d.Edited = rules.Archived, true }), rules.RepairRecord},
		{
			"archived while an event is awaited, slots edited",
			with(restored, func(d *rules.Documents) { d.SlotsEdited, d.Status = true, rules.Archived }), rules.RepairNothing,
		},
		{"cancelled by an edit, entry left", with(cancelled, func(d *rules.Documents) { d.Edited, d.HasEntry = true, true }), rules.RepairCancel},
		{"open by an edit, entry left", with(open, func(d *rules.Documents) { d.Edited, d.HasEntry = true, true }), rules.RepairReopen},
		{"cancelled, entry left", with(cancelled, func(d *rules.Documents) { d.HasEntry = true }), rules.RepairCancel},
		{"cancelled during an insert", with(cancelled, func(d *rules.Documents) { d.Inserting = true }), rules.RepairCancel},
		{"cancelled by an edit that left the marks", with(cancelled, func(d *rules.Documents) { d.Edited = true }), rules.RepairRecord},
		{"open, entry left", with(open, func(d *rules.Documents) { d.HasEntry = true }), rules.RepairReopen},
		{"open, still rescheduled", with(open, func(d *rules.Documents) { d.Rescheduled = true }), rules.RepairReopen},
		{"open, with a sync state", with(open, func(d *rules.Documents) { d.State = rules.StateOK }), rules.RepairReopen},
		{"finalised with another event while one is awaited", with(restored, func(d *rules.Documents) { d.HasEvent = true }), rules.RepairUnlink},
		{"finalised, awaited entry of another event", with(restored, func(d *rules.Documents) { d.Fits = false }), rules.RepairUnlink},
		{
			"finalised, awaited entry of another event, marked",
			with(restored, func(d *rules.Documents) { d.Fits, d.Marked = false, true }), rules.RepairUnlink,
		},
		{"finalised, state cancelled", with(followed, func(d *rules.Documents) { d.State = rules.StateCancelled }), rules.RepairRestore},
		{"finalised, entry of another event", with(followed, func(d *rules.Documents) { d.Fits = false }), rules.RepairUnlink},
		{"finalised, event without entry", with(followed, func(d *rules.Documents) { d.HasEntry = false }), rules.RepairLink},
		{
			"finalised, event without entry during an insert",
			with(followed, func(d *rules.Documents) { d.HasEntry, d.Inserting = false, true }), rules.RepairNothing,
		},
		{"finalised, session long past", with(followed, func(d *rules.Documents) { d.LongPast = true }), rules.RepairForget},
		{
			"finalised, session long past, event awaited",
			with(followed, func(d *rules.Documents) { d.LongPast, d.Awaiting = true, true }), rules.RepairNothing,
		},
		{"finalised otherwise by an edit", with(followed, func(d *rules.Documents) { d.Edited = true }), rules.RepairRecord},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := rules.RepairFor(c.docs); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
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
		{
			"the grant is dead all the same", rules.Poll{State: rules.StateError, Error: rules.TokenExpired}, true,
			rules.StateError, rules.TokenExpired,
		},
		{"without another event nothing is followed", rules.Poll{State: rules.StateError, Error: rules.TokenExpired}, false, rules.StateNone, ""},
		{"a poll that nothing followed stays so", rules.Poll{}, true, rules.StateNone, ""},
		{"a cancelled poll stays so", rules.Poll{State: rules.StateCancelled}, true, rules.StateCancelled, ""},
	} {
		if state, code := rules.Forgotten(c.poll, c.linked); state != c.state || code != c.code {
			t.Errorf("%s: got %s %s, want %s %s", c.name, state, code, c.state, c.code)
		}
	}
}
