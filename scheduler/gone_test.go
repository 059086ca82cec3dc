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

// An event that was kept, and that no linked account may delete when it is to go, stays the poll's:
// the next finalisation deletes it.
func TestCommand_WithoutTheAccountOfAKeptEvent_LeavesItsName(t *testing.T) {
	t.Parallel()
	gm := worldtest.Person("gm")
	for name, deleting := range map[string]func(w *worldtest.World, s fixture) error{
		"cancelled": func(w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Cancel(t.Context(), gm, s.poll, false, worldtest.Cause)
			return err
		},
		"cancelled in the app": func(w *worldtest.World, s fixture) error {
			setBehindUs(rules.Cancelled)(w, s)
			_, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
			return err
		},
	} {
		for away, leave := range map[string]func(w *worldtest.World){
			"unlinked": func(w *worldtest.World) { w.Unlink("gm") },
			"revoked":  func(w *worldtest.World) { w.Revoke("gm"); w.Sweep(); w.Run(time.Minute) },
		} {
			t.Run(name+", "+away, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := finalised(w)
				if _, err := w.Scheduler.Reopen(t.Context(), gm, s.poll, false, worldtest.Cause); err != nil {
					t.Fatal(err)
				}
				leave(w)
				if err := deleting(w, s); err != nil {
					t.Fatal(err)
				}
				w.Run(time.Minute)
				if named := w.View(s.poll).Poll.GoogleEventID; named != s.event {
					t.Fatalf("its event is in the calendar, and the poll names %q", named)
				}
				w.Link("gm")
				view, err := w.Finalise(s.poll, s.slots[1])
				if err != nil {
					t.Fatal(err)
				}
				w.Run(time.Minute)
				if events := w.Events("gm"); len(events) != 1 || events[0].ID != view.Poll.GoogleEventID {
					t.Errorf("finalised anew, the calendar shows %+v", events)
				}
				w.Check()
			})
		}
	}
}
