package scheduler_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// errBrokenOff is what a store answers whose call was broken off: before, the call
// had no effect; after, it had, and nobody heard of it.
var errBrokenOff = fault.Wrap(fault.Unavailable, errors.New("broken off"), "The store broke a call off.")

// repeated are finalisations that may be broken off and repeated.
var repeated = map[string]struct {
	begin func(*worldtest.World) fixture
	slot  int
	ask   scheduler.Finalise
}{
	"the first time":                {fresh, 0, scheduler.Finalise{CreateEvent: true, Request: "the same"}},
	"without a request's name":      {fresh, 0, scheduler.Finalise{CreateEvent: true}},
	"without an event":              {fresh, 0, scheduler.Finalise{Request: "the same"}},
	"for another slot":              {finalised, 1, scheduler.Finalise{CreateEvent: true, Request: "the same"}},
	"for another slot after a move": {moved, 1, scheduler.Finalise{CreateEvent: true, Request: "the same"}},
	"without the event that it had": {finalised, 1, scheduler.Finalise{Request: "the same"}},
}

// Whatever call of a finalisation is broken off, with its effect or without: the
// caller hears that it may ask again, and the same call completes it at once.
func TestFinalise_BrokenOffAnywhere_RepeatedCompletesIt(t *testing.T) {
	t.Parallel()
	for name, row := range repeated {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := 0
			for n, more := 1, true; more && n <= worldtest.MostPoints; n++ {
				t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
					w := worldtest.New(t, worldtest.Options{})
					s := row.begin(w)
					ask := row.ask
					ask.SlotID = s.slots[row.slot]
					before := finalisations(w, s)
					w.FailAt(n, errBrokenOff)
					_, err := w.FinaliseAs(s.poll, ask)
					more = w.Struck()
					if err != nil {
						broken++
						kind(t, err, fault.Unavailable)
					}
					w.Calm()
					view, err := w.FinaliseAs(s.poll, ask)
					if err != nil {
						t.Fatalf("the same call again: %v", err)
					}
					checkFinalised(t, w, view, ask)
					w.Run(3 * time.Minute)
					checkFinalised(t, w, w.View(s.poll), ask)
					checkDoneOnce(t, w, s, ask, before)
				})
			}
			points.Struck(t, broken, 5)
		})
	}
}

// checkFinalised fails where an answer is not what the finalisation asked for.
func checkFinalised(t *testing.T, w *worldtest.World, view scheduler.View, ask scheduler.Finalise) {
	t.Helper()
	equal(t, "status", view.Poll.Status, rules.Finalized)
	// A watch channel that was not to be had shows on the poll, and fails nothing.
	if sync := view.Poll.Sync; sync.Rescheduled != nil || sync.Error != nil && sync.Error.Code != rules.WatchFailed {
		t.Errorf("the sync is %+v", sync)
	}
	equal(t, "winning slot", view.Poll.WinningSlotID, ask.SlotID)
	equal(t, "linked", view.Poll.GoogleEventID != "", ask.CreateEvent)
	if ask.CreateEvent && w.EventOf("gm", view.Poll.GoogleEventID).Status == "cancelled" {
		t.Errorf("the event %s was deleted", view.Poll.GoogleEventID)
	}
}

// checkDoneOnce fails where more than the one event is left, or a finalisation with
// a name is journaled more than once.
func checkDoneOnce(t *testing.T, w *worldtest.World, s fixture, ask scheduler.Finalise, before int) {
	t.Helper()
	equal(t, "events", len(w.Events("gm")), map[bool]int{true: 1}[ask.CreateEvent])
	if ask.Request != "" {
		equal(t, "finalisations", finalisations(w, s)-before, 1)
	}
	atRest(t, w)
}

// finalisations counts those in the journal of a poll.
func finalisations(w *worldtest.World, s fixture) (n int) {
	for _, entry := range w.Journal(s.poll) {
		if entry.Command == rules.CommandFinalise {
			n++
		}
	}
	return n
}

// Each transaction whose commit was not answered, whether it took place or not, is
// made again in the same call: the caller notices nothing.
func TestFinalise_CommitUnanswered_IsCompletedByTheSameCall(t *testing.T) {
	t.Parallel()
	unanswered := fault.Wrap(fault.Unavailable, store.ErrUnanswered, "The store broke a call off.")
	for name, row := range repeated {
		transactions := map[bool]int{true: 2, false: 1}[row.ask.CreateEvent]
		for nth := range transactions {
			for _, point := range []string{"before store.run", "after store.run"} {
				t.Run(fmt.Sprintf("%s, transaction %d, %s", name, nth+1, point), func(t *testing.T) {
					t.Parallel()
					w := worldtest.New(t, worldtest.Options{})
					s := row.begin(w)
					ask := row.ask
					ask.SlotID = s.slots[row.slot]
					before := finalisations(w, s)
					w.Calm()
					for range nth {
						w.Fail(point, nil)
					}
					w.Fail(point, unanswered)
					view, err := w.FinaliseAs(s.poll, ask)
					if err != nil {
						t.Fatal(err)
					}
					checkFinalised(t, w, view, ask)
					equal(t, "calls of events.insert", w.Calls("events.insert") <= 2, true)
					w.Run(3 * time.Minute)
					checkFinalised(t, w, w.View(s.poll), ask)
					checkDoneOnce(t, w, s, ask, before)
				})
			}
		}
	}
}

// A store that never answers is not asked without end.
func TestFinalise_NoCommitAnswered_IsUnavailable(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	for range 100 {
		w.Fail("before store.run", fault.Wrap(fault.Unavailable, store.ErrUnanswered, "The store broke a call off."))
	}
	from := len(w.Points(func() {}))
	points := w.Points(func() {
		_, err := w.FinaliseAs(s.poll, asked(s, true))
		kind(t, err, fault.Unavailable)
	})
	if tries := count(points[from:], "before store.run"); tries < 2 || tries > 5 {
		t.Errorf("it is tried %d times", tries)
	}
	w.Calm()
	atRest(t, w)
}

// count is how often a point was passed.
func count(points []string, name string) (n int) {
	for _, point := range points {
		if point == name {
			n++
		}
	}
	return n
}
