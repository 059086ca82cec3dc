package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// deleteBehindUs is what the web app removes: what it may, and the poll at last.
func deleteBehindUs(w *worldtest.World, s fixture) {
	for _, below := range w.Below(s.poll) {
		w.Remove(below)
	}
	w.Remove(poll.Path(s.poll))
}

// left reports whether anything is left of a poll.
func left(t *testing.T, w *worldtest.World, s fixture) bool {
	t.Helper()
	is, err := poll.Left(t.Context(), w.Documents, s.poll, false)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func TestAPollThatWasDeletedDirectly_LeavesNothing(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(t *testing.T, w *worldtest.World) fixture{
		"followed":      func(_ *testing.T, w *worldtest.World) fixture { return finalised(w) },
		"rescheduled":   func(_ *testing.T, w *worldtest.World) fixture { return moved(w) },
		"without event": withoutEvent,
		"cancelled": func(_ *testing.T, w *worldtest.World) fixture {
			s := moved(w)
			cancelIt.do(w, s)
			return s
		},
		"reopened": func(t *testing.T, w *worldtest.World) fixture {
			t.Helper()
			s := moved(w)
			if _, err := w.Scheduler.Reopen(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	found := map[string]func(t *testing.T, w *worldtest.World, s fixture){
		"by a document change": func(t *testing.T, w *worldtest.World, s fixture) {
			t.Helper()
			repair, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "repair", repair, rules.RepairDeleted)
		},
		"by the sweep": func(_ *testing.T, w *worldtest.World, _ fixture) { w.Sweep() },
	}
	for kind, begin := range kinds {
		for name, find := range found {
			t.Run(kind+", found "+name, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := begin(t, w)
				w.Run(time.Hour)
				deleteBehindUs(w, s)
				equal(t, "left before", left(t, w, s), true)
				find(t, w, s)
				w.Run(2 * time.Minute)
				equal(t, "left", left(t, w, s), false)
				equal(t, "snapshots", len(w.Snapshots()), 0)
				equal(t, "journal", len(w.Journal(s.poll)), 0)
				equal(t, "index entries", len(w.Index()), 0)
				repair, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "repair again", repair, rules.RepairNothing)
				atRest(t, w)
			})
		}
	}
}

// Our own deletion causes a document change too, which may arrive before the deletion's
// tasks are done.
func TestAPollThatWasDeletedByUs_IsNotPurgedTwice(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	if err := w.Scheduler.Delete(t.Context(), worldtest.Person("gm"), s.poll, false, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "later"} {
		repair, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "repair "+when, repair, rules.RepairNothing)
		w.Run(2 * time.Minute)
	}
	equal(t, "left", left(t, w, s), false)
	atRest(t, w)
}
