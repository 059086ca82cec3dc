package rules_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/rules"
)

// The draws make their generators again each time: a generator that parallel
// tests share is a data race in rapid.

func someTime(t *rapid.T, label string) rules.Fingerprint {
	return rapid.SampledFrom([]rules.Fingerprint{ten, noon, three, allDay, timedDay, days("2026-03-09", "2026-03-11")}).Draw(t, label)
}

func timeOrNone(t *rapid.T, label string) rules.Fingerprint {
	if rapid.IntRange(0, 6).Draw(t, label+" there") == 0 {
		return rules.Fingerprint{}
	}
	return someTime(t, label)
}

func someUpdated(t *rapid.T, label string) time.Time {
	return applied.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, label+" ms")) * time.Millisecond)
}

func someNow(t *rapid.T) time.Time {
	return rapid.SampledFrom([]time.Time{
		dayBefore, ten.EndTime().Add(25 * time.Hour), noon.EndTime().Add(24*time.Hour + time.Millisecond),
		three.EndTime().Add(40 * 24 * time.Hour),
	}).Draw(t, "now")
}

func someLink(t *rapid.T, label string) rules.Link {
	l := link
	rapid.SampledFrom([]func(*rules.Link){
		func(*rules.Link) {}, otherAccount, otherCalendar, otherEvent, otherGeneration, func(l *rules.Link) { *l = rules.Link{} },
	}).Draw(t, label)(&l)
	return l
}

// anyPoll draws a poll of any status and sync state, the states that do not go
// with what stands included.
func anyPoll(t *rapid.T) rules.Poll {
	p := rules.Poll{
		Status: rapid.SampledFrom(append([]rules.Status{rules.Finalized, rules.Finalized, rules.Finalized}, statuses...)).Draw(t, "status"),
		State: rapid.SampledFrom([]rules.State{
			rules.StateNone, rules.StateOK, rules.StateRescheduled, rules.StateCancelled, rules.StateError,
		}).Draw(t, "state"),
		Error:    rapid.SampledFrom(append([]rules.ErrorCode{"", "", ""}, everyCode...)).Draw(t, "error"),
		Link:     someLink(t, "poll link"),
		Baseline: timeOrNone(t, "baseline"),
		Applied:  timeOrNone(t, "applied"),
		Winning:  timeOrNone(t, "winning"),
	}
	if !p.Applied.IsZero() {
		p.AppliedUpdated = someUpdated(t, "applied updated")
	}
	// A poll is rescheduled away from a baseline, never from none.
	p.Rescheduled = !p.Baseline.IsZero() && rapid.Bool().Draw(t, "rescheduled")
	return p
}

// anyObservation draws an observation of any event, most often of the poll's.
func anyObservation(t *rapid.T, p rules.Poll) rules.Observation {
	o := rules.Observation{
		Link: p.Link,
		EventState: rapid.SampledFrom([]rules.EventState{
			rules.Present, rules.Present, rules.Present, rules.Gone, rules.Series, rules.Unreadable, 0, 9,
		}).Draw(t, "event state"),
		Updated:     someUpdated(t, "updated"),
		AccountLive: rapid.Bool().Draw(t, "account live"),
		WatchLive:   rapid.Bool().Draw(t, "watch live"),
		Confirmed:   rapid.Bool().Draw(t, "confirmed"),
	}
	if rapid.IntRange(0, 7).Draw(t, "elsewhere") == 0 {
		o.Link = someLink(t, "link")
	}
	if rapid.IntRange(0, 7).Draw(t, "no updated") == 0 {
		o.Updated = time.Time{}
	}
	if o.EventState == rules.Present {
		o.Fingerprint = timeOrNone(t, "time")
	}
	o.Elsewhere = o.EventState == rules.Gone && rapid.Bool().Draw(t, "found elsewhere")
	return o
}

func TestDecide_AnyPollAndObservation_GiveOneDecisionOfTheTable(t *testing.T) {
	t.Parallel()
	rows := rules.Transitions()
	states := []rules.State{rules.StateNone, rules.StateOK, rules.StateRescheduled, rules.StateCancelled, rules.StateError}
	rapid.Check(t, func(t *rapid.T) {
		p := anyPoll(t)
		o, now := anyObservation(t, p), someNow(t)
		d := rules.Decide(p, o, now)
		if again := rules.Decide(p, o, now.In(time.FixedZone("elsewhere", -7*3600))); again != d {
			t.Fatalf("the same arguments gave %+v and %+v", d, again)
		}
		if !slices.ContainsFunc(rows, func(r rules.Row) bool { return r.Name == d.Row }) {
			t.Fatalf("decided by %q, which is no row", d.Row)
		}
		if !slices.Contains(states, d.State) {
			t.Fatalf("left in the state %q", d.State)
		}
		if !d.Changes() && (d.State != p.State || d.Error != p.Error) {
			t.Fatalf("%s writes nothing, yet says %s %q after %s %q", d.Action, d.State, d.Error, p.State, p.Error)
		}
	})
}

func TestDecide_AppliedTwice_ChangesNothingTheSecondTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPoll(t)
		o, now := anyObservation(t, p), someNow(t)
		was := timeOrNone(t, "original slot")
		once := after(p, o, rules.Decide(p, o, now), was)
		second := rules.Decide(once, o, now)
		if second.Changes() {
			t.Fatalf("the second time decided %+v on %+v", second, once)
		}
		if twice := after(once, o, second, was); twice != once {
			t.Fatalf("twice applied is %+v, once %+v", twice, once)
		}
	})
}

func TestDecide_AnOlderObservation_NeverOverridesANewerOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPoll(t)
		p.Status, p.Link = rules.Finalized, link
		newer := anyObservation(t, p)
		newer.Updated = applied.Add(10 * time.Millisecond)
		d := rules.Decide(p, newer, dayBefore)
		if !d.Changes() || d.Action == rules.MoveCalendar {
			return // nothing was applied, so nothing can be overridden
		}
		p = after(p, newer, d, ten)
		older := anyObservation(t, p)
		if older.EventState == rules.Gone {
			older.EventState = rules.Present // a deletion is final however old
		}
		if older.Updated.IsZero() {
			older.Updated = earlier // one that says no updated is not older
		}
		if got := rules.Decide(p, older, someNow(t)); got.Action != rules.Nothing {
			t.Fatalf("after %+v the older %+v decided %+v", newer, older, got)
		}
	})
}

func TestDecide_AnyMovesThatEndAtTheBaseline_EndInOK(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := inStep()
		p.Baseline = someTime(t, "baseline")
		p.Applied = p.Baseline
		// The slot may last otherwise than the event that was made for it.
		p.Winning = someTime(t, "original slot")
		was, start := p.Winning, p
		moves := rapid.IntRange(0, 12).Draw(t, "moves")
		for i := range moves + 1 {
			when := p.Baseline
			if i < moves {
				when = someTime(t, "move")
			}
			o := presentAt(p, when)
			o.Updated = applied.Add(time.Duration(i+1) * time.Second)
			p = after(p, o, rules.Decide(p, o, dayBefore), was)
			if p.Rescheduled != (when != p.Baseline) || (p.Rescheduled && p.Winning != when) {
				t.Fatalf("moved to %s, the poll is %+v", when, p)
			}
		}
		p.AppliedUpdated = start.AppliedUpdated
		if p != start {
			t.Fatalf("back at the baseline the poll is %+v, before it was %+v", p, start)
		}
	})
}

func TestDecide_AnErrorThatNothingClears_OutlastsAnyMoves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SampledFrom([]rules.ErrorCode{
			rules.TokenExpired, rules.CalendarUnlinked, rules.WatchFailed, rules.MassCancellationHeld,
		}).Draw(t, "code")
		p := failing(inStep(), code)
		for i := range rapid.IntRange(1, 12).Draw(t, "observations") {
			o := anyObservation(t, p)
			o.Updated = applied.Add(time.Duration(i+1) * time.Second)
			o.AccountLive, o.WatchLive, o.Confirmed = false, false, false
			if o.EventState == rules.Gone && (code != rules.MassCancellationHeld || o.Elsewhere) {
				continue
			}
			p = after(p, o, rules.Decide(p, o, dayBefore), ten)
			if p.Error != code || p.State != rules.StateError {
				t.Fatalf("after %+v the poll is %+v", o, p)
			}
		}
		if p.Winning != ten && !p.Rescheduled {
			t.Fatalf("the winning slot moved without a reschedule: %+v", p)
		}
	})
}

// Only Cancel takes a poll out of FINALIZED, and only a gone event cancels.
func TestDecide_OnlyAGoneEvent_Cancels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPoll(t)
		o := anyObservation(t, p)
		d := rules.Decide(p, o, someNow(t))
		if d.Action == rules.Cancel && (o.EventState != rules.Gone || p.Status != rules.Finalized || o.Link != p.Link) {
			t.Fatalf("%+v cancelled %+v", o, p)
		}
		if (d.Action == rules.Cancel) != (d.State == rules.StateCancelled) && d.Changes() {
			t.Fatalf("%s leaves the state %s", d.Action, d.State)
		}
	})
}
