package calendarsync_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// metered is a world whose documents are counted as Firestore would charge
// them. Its listings have one page, as all but the largest have at Google.
func metered(t *testing.T) (*worldtest.World, *storetest.Counter) {
	t.Helper()
	var meter *storetest.Counter
	w := worldtest.New(t, worldtest.Options{PageSize: 2500, Wrap: func(inner store.Store) store.Store {
		meter = storetest.Count(inner)
		return meter
	}})
	return w, meter
}

// methods are the calls of Google that a sync may make.
var methods = []string{"events.list", "events.get", "calendarList.list", "events.watch"}

// idle is what a sync costs that finds nothing new, with the push that asks
// for it: watch channel and calendar, claim, account, end.
var idle = storetest.Cost{Reads: 5, Writes: 3}

func TestAThousandPushesInOneSecond_AreTwoListingsAtMost(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	push := genuine(t, w)
	before := w.Calls("events.list")
	for i := range 1000 {
		if i == 500 {
			w.MoveEvent("gm", eventID, noon)
		}
		if err := w.Watcher.Push(t.Context(), push); err != nil {
			t.Fatal(err)
		}
		w.Run(time.Second / 1000)
	}
	w.Run(time.Minute)
	if listings := w.Calls("events.list") - before; listings > 2 {
		t.Errorf("%d listings, want 2 at most", listings)
	}
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule"})
	atRest(t, w)
}

// A sync recognises our own events by their ids, and legacy events by a set on the
// calendar's document, which it has already read.
func TestUnrelatedChanges_CostNoReadEach(t *testing.T) {
	t.Parallel()
	for _, changes := range []int{1, 200} {
		t.Run(fmt.Sprint(changes), func(t *testing.T) {
			t.Parallel()
			w, meter := metered(t)
			w.Finalised()
			before := w.Calls("events.list")
			for range changes {
				w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}})
			}
			pushes := len(w.Google.PendingPushes())
			meter.Reset()
			w.RunDue()
			want := idle
			want.Reads += pushes - 1 // the calendar, for a push that a sync covers on a channel that is known
			equal(t, "cost", meter.Total(), want)
			equal(t, "listings", w.Calls("events.list")-before, 1)
		})
	}
}

// Intents of other accounts may wait by the thousand until their grants are given again.
func TestFullListing_BesideForeignIntents_ReadsNoneOfThem(t *testing.T) {
	t.Parallel()
	var reads []int
	for _, foreign := range []int{0, 400} {
		w, meter := metered(t)
		w.Finalised()
		w.Run(time.Minute)
		for i := range foreign {
			intent := poll.Intent{
				Kind: poll.IntentInsert, PollID: "p", AccountID: "acc_other", CalendarID: "gm@example.com",
				EventID: fmt.Sprintf("%s%d", poll.EventPrefix, i), Due: w.Clock.Now().Add(1000 * time.Hour),
			}
			for field, value := range poll.EncodeIntent(intent) {
				w.Write(intent.Path(), store.Set(field, value))
			}
		}
		if err := w.Google.ExpireSyncTokens(); err != nil {
			t.Fatal(err)
		}
		w.Sweep()
		meter.Reset()
		w.RunDue()
		reads = append(reads, meter.Total().Reads)
	}
	equal(t, "reads beside 400 intents", reads[1], reads[0])
}

// After a failed run, and once a channel is open again, errors are over that polls may show. Those
// that show none are only read, so a calendar that many polls follow costs no more transactions
// than another.
func TestErrorsThatAreOver_CostATransactionOnlyWhereOneShows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code rules.ErrorCode
		over func(t *testing.T, w *worldtest.World)
	}{
		"a run after a failed one": {rules.TokenExpired, func(t *testing.T, w *worldtest.World) {
			t.Helper()
			w.Refuse("events.list", 503, "backendError", 1)
			w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}})
			w.Run(time.Minute)
		}},
		"another channel": {rules.WatchFailed, func(t *testing.T, w *worldtest.World) {
			t.Helper()
			for _, watch := range w.Watches() {
				w.Remove(watch.Path)
			}
			if err := w.Watcher.Ensure(t.Context(), w.Account("gm"), "gm@example.com"); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var costs []int
			for _, polls := range []int{1, 103} {
				w, meter := metered(t)
				last := ""
				for range polls {
					last = finalisedToo(w)
				}
				w.Run(time.Minute)
				for _, shown := range []bool{false, true} {
					if shown {
						if err := w.Scheduler.SetSyncError(t.Context(), last, c.code, worldtest.Cause, nil); err != nil {
							t.Fatal(err)
						}
					}
					meter.Reset()
					c.over(t, w)
					costs = append(costs, len(meter.Runs()))
					equal(t, "whether the poll shows an error", w.View(last).Poll.Sync.Error != nil, false)
				}
			}
			if !slices.Equal(costs[2:], costs[:2]) {
				t.Errorf("transactions without an error and with one: %v of one poll, and %v of 103", costs[:2], costs[2:])
			}
		})
	}
}

// What one change of a linked event costs beyond the sync that finds it, as the
// one transaction that applies it. Reads: index entry, calendar, poll, slot,
// and what the transition itself needs.
func TestATransition_IsOneTransactionOfFewOperations(t *testing.T) {
	t.Parallel()
	const votes = 3
	move := func(to worldtest.Slot) func(w *worldtest.World, eventID string) {
		return func(w *worldtest.World, eventID string) { w.MoveEvent("gm", eventID, to) }
	}
	for name, c := range map[string]struct {
		before, act func(w *worldtest.World, eventID string)
		decisions   []string
		most        storetest.Cost
		// calls are those of Google beside the listing, and beside what they and
		// their accounts cost in documents beside the transition.
		calls  map[string]int
		beside storetest.Cost
	}{
		"reschedule": { // the snapshot's votes; poll, slot, snapshot, journal, announcement
			act: move(noon), decisions: []string{"finalise", "reschedule"},
			most: storetest.Cost{Reads: 4 + votes, Writes: 5},
		},
		"reschedule again": {
			before: move(noon), act: move(three), decisions: []string{"finalise", "reschedule", "reschedule_again"},
			most: storetest.Cost{Reads: 4, Writes: 4},
		},
		"restore": { // the original slot, the snapshot, votes; poll, journal, announcement; the calendar's slot
			before: move(noon), act: move(ten), decisions: []string{"finalise", "reschedule", "restore"},
			most: storetest.Cost{Reads: 4 + 2 + votes, Writes: 3, Deletes: 1},
		},
		"cancel": { // poll, calendar, journal, announcement; the index entry
			act:       func(w *worldtest.World, eventID string) { w.DeleteEvent("gm", eventID) },
			decisions: []string{"finalise", "cancel"},
			most:      storetest.Cost{Reads: 4, Writes: 4, Deletes: 1},
			// It is asked for in its own calendar and in the only other one, which the
			// list of calendars names. That is decided once before (as a transition), and
			// needs the owner's accounts and calendars, the account again for each call,
			// and for what the list named, which is noted the first time.
			calls:  map[string]int{"events.get": 2, "calendarList.list": 1, "events.list": 1},
			beside: storetest.Cost{Reads: 4 + 2 + 4 + 1, Writes: 1},
		},
		"a change that decides nothing": {
			act: func(w *worldtest.World, eventID string) {
				w.PatchEvent("gm", eventID, map[string]any{"summary": "Another title"})
			},
			decisions: []string{"finalise"},
			most:      storetest.Cost{Reads: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, meter := metered(t)
			pollID, _, eventID := w.Finalised()
			if c.before != nil {
				c.before(w, eventID)
				w.Run(time.Minute)
			}
			c.act(w, eventID)
			before := map[string]int{}
			for _, method := range methods {
				before[method] = w.Calls(method)
			}
			meter.Reset()
			w.RunDue() // the announcement is not due yet
			runs, total := meter.Runs(), meter.Total()
			same(t, "journal", w.Decisions(pollID), c.decisions)
			if len(runs) < 3 { // claim, transition, end
				t.Fatalf("transactions: %+v", runs)
			}
			transition := runs[len(runs)-2]
			if !transition.Within(c.most) {
				t.Errorf("the transition cost %+v, want %+v at most", transition, c.most)
			}
			beside := storetest.Cost{Reads: idle.Reads + c.beside.Reads, Writes: idle.Writes + c.beside.Writes}
			equal(t, "beside the transition", total.Sub(transition), beside)
			for _, method := range methods {
				calls := w.Calls(method) - before[method]
				if method == "events.list" {
					calls-- // that of the sync
				}
				equal(t, "calls of "+method, calls, c.calls[method])
			}
			atRest(t, w)
		})
	}
}
