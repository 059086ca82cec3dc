package rules_test

import (
	"slices"
	"testing"

	"questscheduler/rules"
)

var everyCode = []rules.ErrorCode{
	rules.TokenExpired, rules.CalendarUnlinked, rules.CalendarLost, rules.WatchFailed, rules.SyncFailed, rules.MassCancellationHeld,
	rules.RecurringUnsupported, rules.UnreadableEvent,
}

// voucher is something that an observation can vouch for besides the event.
type voucher struct {
	name string
	give func(o *rules.Observation)
}

var (
	nothing   = voucher{"nothing vouched for", func(*rules.Observation) {}}
	relinked  = voucher{"the account live", func(o *rules.Observation) { o.AccountLive = true }}
	watched   = voucher{"a watch live", func(o *rules.Observation) { o.WatchLive = true }}
	confirmed = voucher{"the cancellation confirmed", func(o *rules.Observation) { o.Confirmed = true }}
	vouchers  = []voucher{nothing, relinked, watched, confirmed}
)

// everything vouches for all there is.
func everything(o rules.Observation) rules.Observation {
	for _, v := range vouchers {
		v.give(&o)
	}
	return o
}

// Which vouchers clear each code after a successful sync.
func TestError_SyncWithEachVoucher_ClearsItsCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code rules.ErrorCode
		// by names the vouchers with which a good sync clears the code.
		by []string
	}{
		{rules.TokenExpired, []string{relinked.name}},
		{rules.CalendarUnlinked, []string{relinked.name}},
		{rules.WatchFailed, []string{watched.name}},
		{rules.SyncFailed, []string{nothing.name, relinked.name, watched.name, confirmed.name}},
		{rules.CalendarLost, []string{nothing.name, relinked.name, watched.name, confirmed.name}},
		{rules.MassCancellationHeld, []string{confirmed.name}},
		{rules.RecurringUnsupported, []string{nothing.name, relinked.name, watched.name, confirmed.name}},
		{rules.UnreadableEvent, []string{nothing.name, relinked.name, watched.name, confirmed.name}},
		{"a_code_from_elsewhere", nil},
	} {
		for _, v := range vouchers {
			t.Run(string(c.code)+" with "+v.name, func(t *testing.T) {
				t.Parallel()
				over := slices.Contains(c.by, v.name)
				expect := func(p rules.Poll, when rules.Fingerprint, cleared, kept string) {
					t.Helper()
					o := presentAt(p, when)
					v.give(&o)
					want := kept
					if over {
						want = cleared
					}
					if got := decide(t, p, o, dayBefore); got != want {
						t.Errorf("got  %s\nwant %s", got, want)
					}
				}
				p, moved := failing(inStep(), c.code), failing(rescheduled(), c.code)
				expect(p, ten, "in_step: clear_error → OK", "in_step: nothing")
				expect(moved, noon, "applied_already: clear_error → RESCHEDULED", "applied_already: nothing")
				// The times are followed either way.
				still := " → ERROR " + string(c.code)
				expect(p, noon, "moved: reschedule → RESCHEDULED", "moved: reschedule"+still)
				expect(moved, ten, "moved_back: restore → OK", "moved_back: restore"+still)
				expect(moved, three, "moved_again: reschedule_again → RESCHEDULED", "moved_again: reschedule_again"+still)
				p.Baseline = rules.Fingerprint{}
				expect(p, ten, "linked_before: adopt → OK", "linked_before: adopt"+still)
			})
		}
	}
}

// With all vouched for, these still say nothing about the event that is linked
// now, so they clear nothing.
func TestError_ObservationOfSomethingElse_ClearsNone(t *testing.T) {
	t.Parallel()
	for _, code := range everyCode {
		for _, s := range observations {
			if s.always == "" {
				continue
			}
			t.Run(string(code)+", the event "+s.name, func(t *testing.T) {
				t.Parallel()
				p := failing(inStep(), code)
				if got := decide(t, p, everything(s.of(p)), dayBefore); got != s.always {
					t.Errorf("got  %s\nwant %s", got, s.always)
				}
			})
		}
	}
}

func TestGoneEvent_WithAnyErrorButAHold_Cancels(t *testing.T) {
	t.Parallel()
	for _, code := range append(slices.Clone(everyCode), "a_code_from_elsewhere") {
		for _, p := range []rules.Poll{failing(inStep(), code), failing(rescheduled(), code)} {
			want := "deleted: cancel → CANCELLED"
			if code == rules.MassCancellationHeld {
				want = "held: nothing"
			}
			if got := decide(t, p, observation(p, rules.Gone), dayBefore); got != want {
				t.Errorf("%s: got %s, want %s", code, got, want)
			}
		}
	}
}

// A hold keeps a gone event from cancelling until a person confirms, whatever
// else gets better; an event that turns out to be there is followed in the meantime.
func TestHeldCancellation_UntilConfirmed_IsKept(t *testing.T) {
	t.Parallel()
	p := failing(inStep(), rules.MassCancellationHeld)
	gone := observation(p, rules.Gone)
	gone.AccountLive, gone.WatchLive = true, true
	if got, want := decide(t, p, gone, dayBefore), "held: nothing"; got != want {
		t.Errorf("unconfirmed: got %s, want %s", got, want)
	}

	moved := presentAt(p, noon)
	moved.AccountLive, moved.WatchLive = true, true
	p = after(p, moved, rules.Decide(p, moved, dayBefore), ten)
	if p.Winning != noon || p.State != rules.StateError || p.Error != rules.MassCancellationHeld {
		t.Errorf("a held poll whose event turned up at noon became %+v", p)
	}
	if got, want := decide(t, p, gone, dayBefore), "held: nothing"; got != want {
		t.Errorf("unconfirmed after a move: got %s, want %s", got, want)
	}

	misstated := p
	misstated.State = rules.StateRescheduled
	if got, want := decide(t, misstated, gone, dayBefore), "held: nothing"; got != want {
		t.Errorf("unconfirmed, the state misstated: got %s, want %s, since nothing was learned", got, want)
	}

	there := presentAt(p, noon)
	there.Confirmed = true
	if got, want := decide(t, p, there, dayBefore), "applied_already: clear_error → RESCHEDULED"; got != want {
		t.Errorf("confirmed, but there: got %s, want %s", got, want)
	}
	gone.Confirmed = true
	if got, want := decide(t, p, gone, dayBefore), "deleted: cancel → CANCELLED"; got != want {
		t.Errorf("confirmed: got %s, want %s", got, want)
	}
}

// An error that is not over keeps ERROR while the times are followed, through
// any number of moves and back.
func TestUnclearedError_WhileTimesAreFollowed_Stays(t *testing.T) {
	t.Parallel()
	p := failing(inStep(), rules.WatchFailed)
	for _, step := range []struct {
		when        rules.Fingerprint
		rescheduled bool
	}{{noon, true}, {three, true}, {ten, false}, {allDay, true}, {ten, false}} {
		o := presentAt(p, step.when)
		p = after(p, o, rules.Decide(p, o, dayBefore), ten)
		if p.Winning != step.when || p.Rescheduled != step.rescheduled {
			t.Errorf("after a move to %s the poll is at %s, rescheduled %t", step.when, p.Winning, p.Rescheduled)
		}
		if p.State != rules.StateError || p.Error != rules.WatchFailed {
			t.Errorf("after a move to %s the state is %s %q, want ERROR watch_failed", step.when, p.State, p.Error)
		}
	}
	o := presentAt(p, ten)
	o.WatchLive = true
	if got, want := decide(t, p, o, dayBefore), "in_step: clear_error → OK"; got != want {
		t.Errorf("once a watch lives: got %s, want %s", got, want)
	}
}

func TestState_ThatIsWrong_IsRepaired(t *testing.T) {
	t.Parallel()
	wrong := func(p rules.Poll, state rules.State) rules.Poll {
		p.State = state
		return p
	}
	for _, c := range []struct {
		name string
		poll rules.Poll
		when rules.Fingerprint
		want string
	}{
		{"ERROR without an error is over", wrong(inStep(), rules.StateError), ten, "in_step: clear_error → OK"},
		{
			"ERROR without an error is over, and the poll rescheduled", wrong(rescheduled(), rules.StateError), noon,
			"applied_already: clear_error → RESCHEDULED",
		},
		{"CANCELLED on a poll that takes place", wrong(inStep(), rules.StateCancelled), ten, "in_step: clear_error → OK"},
		{"no state on a linked poll", wrong(inStep(), rules.StateNone), ten, "in_step: clear_error → OK"},
		{"OK on a rescheduled poll", wrong(rescheduled(), rules.StateOK), noon, "applied_already: clear_error → RESCHEDULED"},
		{
			"OK beside an error that is not over", wrong(failing(inStep(), rules.WatchFailed), rules.StateOK), ten,
			"in_step: clear_error → ERROR watch_failed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(t, c.poll, presentAt(c.poll, c.when), dayBefore); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Warnings are set once, replace one another, give way to graver errors, and
// leave the state as it is.
func TestWarning_BesideEachError_IsSetOnceAndRanked(t *testing.T) {
	t.Parallel()
	relink := func(o rules.Observation) rules.Observation { o.AccountLive = true; return o }
	for _, c := range []struct {
		name string
		poll rules.Poll
		of   func(p rules.Poll) rules.Observation
		want string
	}{
		{"a series that stands is not set twice", failing(inStep(), rules.RecurringUnsupported), shown(rules.Series, later), "series: nothing"},
		{
			"an unreadable event that stands is not set twice", failing(rescheduled(), rules.UnreadableEvent),
			shown(rules.Unreadable, later), "unreadable: nothing",
		},
		{
			"a series that became unreadable", failing(inStep(), rules.RecurringUnsupported), shown(rules.Unreadable, later),
			"unreadable: warn → OK unreadable_event",
		},
		{
			"an unreadable event that became a series", failing(rescheduled(), rules.UnreadableEvent), shown(rules.Series, later),
			"series: warn → RESCHEDULED recurring_unsupported",
		},
		{"a usable event without a time is none", failing(inStep(), rules.UnreadableEvent), shown(rules.Present, later), "unreadable: nothing"},
		{
			"a failed sync is over, the warning stands", failing(inStep(), rules.SyncFailed), shown(rules.Series, later),
			"series: warn → OK recurring_unsupported",
		},
		{
			"an expired token that is fixed gives way", failing(rescheduled(), rules.TokenExpired),
			func(p rules.Poll) rules.Observation { return relink(observation(p, rules.Series)) },
			"series: warn → RESCHEDULED recurring_unsupported",
		},
		{"an expired token that is not keeps its place", failing(inStep(), rules.TokenExpired), shown(rules.Series, later), "series: nothing"},
		{"a hold keeps its place", failing(inStep(), rules.MassCancellationHeld), shown(rules.Unreadable, later), "unreadable: nothing"},
		{"a code from elsewhere keeps its place", failing(inStep(), "a_code_from_elsewhere"), shown(rules.Series, later), "series: nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(t, c.poll, c.of(c.poll), dayBefore); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
