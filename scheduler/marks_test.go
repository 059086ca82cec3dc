package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// marks are the three places where the web app reads a cancellation; each one alone
// keeps its badge.
var marks = map[string]store.Update{
	"calendarSync.cancelled": {Path: poll.SyncField("cancelled"), Value: map[string]any{"at": worldtest.Start, "reason": "manual"}},
	"cancelled":              poll.Set("cancelled", map[string]any{"at": worldtest.Start, "reason": "of the app"}),
	"cancelledAt":            poll.Set("cancelledAt", worldtest.Start),
}

// marked gives those of them that a poll has.
func marked(w *worldtest.World, s fixture) (names []string) {
	data := store.Fields(w.Document(poll.Path(s.poll)).Data)
	for name, there := range map[string]bool{
		"calendarSync.cancelled": data.Map("calendarSync")["cancelled"] != nil,
		"cancelled":              data["cancelled"] != nil,
		"cancelledAt":            data["cancelledAt"] != nil,
	} {
		if there {
			names = append(names, name)
		}
	}
	return names
}

func TestMarkOfCancellation_PollNotCancelled_IsRemoved(t *testing.T) {
	t.Parallel()
	for kind, begin := range map[string]func(t *testing.T, w *worldtest.World) fixture{
		"open":                     func(_ *testing.T, w *worldtest.World) fixture { return fresh(w) },
		"finalised, without event": withoutEvent,
		"finalised":                func(_ *testing.T, w *worldtest.World) fixture { return finalised(w) },
		"rescheduled":              func(_ *testing.T, w *worldtest.World) fixture { return moved(w) },
	} {
		for name, mark := range marks {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := begin(t, w)
				w.Run(time.Minute)
				before, journal := w.View(s.poll).Poll, len(w.Journal(s.poll))
				w.Edit(poll.Path(s.poll), mark)
				for range 2 {
					if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
						t.Fatal(err)
					}
				}
				w.Run(time.Minute)
				equal(t, "marks", len(marked(w, s)), 0)
				after := w.View(s.poll).Poll
				equal(t, "status", after.Status, before.Status)
				equal(t, "state", after.Sync.State, before.Sync.State)
				equal(t, "rescheduled", after.Sync.Rescheduled != nil, before.Sync.Rescheduled != nil)
				equal(t, "winning slot", after.WinningSlotID, before.WinningSlotID)
				equal(t, "entries of it", len(w.Journal(s.poll))-journal, 1)
				atRest(t, w)
			})
		}
	}
}

// Whatever brings a poll back takes the mark along that we never wrote.
func TestAMarkOfACancellation_IsTakenAwayByWhatEndsIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, w *worldtest.World, s fixture){
		"reopened": func(t *testing.T, w *worldtest.World, s fixture) {
			t.Helper()
			if _, err := w.Scheduler.Reopen(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		},
		"finalised": func(t *testing.T, w *worldtest.World, s fixture) {
			t.Helper()
			if _, err := w.Finalise(s.poll, s.slots[1]); err != nil {
				t.Fatal(err)
			}
		},
		"reopened by the app": func(_ *testing.T, w *worldtest.World, s fixture) { reopenBehindUs(w, s); w.Sweep() },
		"restored by the app": func(_ *testing.T, w *worldtest.World, s fixture) { setBehindUs(rules.Finalized)(w, s); w.Sweep() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			cancelIt.do(w, s)
			w.Run(time.Minute)
			w.Edit(poll.Path(s.poll), marks["cancelledAt"])
			end(t, w, s)
			w.Run(time.Minute)
			equal(t, "marks", len(marked(w, s)), 0)
			atRest(t, w)
		})
	}
}

// The app reads one mark here and the other there, so one is not enough.
func TestACancelledPoll_WithOneMarkAlone_GetsBoth(t *testing.T) {
	t.Parallel()
	for name, mark := range marks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			setBehindUs(rules.Cancelled)(w, s)
			w.Edit(poll.Path(s.poll), mark)
			repair, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "repair", repair, rules.RepairCancel)
			p := w.View(s.poll).Poll
			equal(t, "both are there", p.Cancelled != nil && p.Sync.Cancelled != nil, true)
			equal(t, "and say the same", *p.Cancelled, *p.Sync.Cancelled)
			atRest(t, w)
		})
	}
}
