package calendarsync_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// fallible is a world in which reads of the program fail at the points that it returns. No
// transaction is run again for another reason: that would hide the failure.
func fallible(t *testing.T) (*worldtest.World, *points.Points) {
	t.Helper()
	p := &points.Points{}
	wrap := func(documents store.Store) store.Store { return &points.Reads{Store: documents, Points: p} }
	return worldtest.New(t, worldtest.Options{Wrap: wrap}), p
}

// Whichever read fails while a change of a calendar is synced, it is followed in the end.
func TestReads_FailAnywhere_ChangesAreFollowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(w *worldtest.World, eventID string)
		want func(t *testing.T, w *worldtest.World, pollID string)
	}{
		"a move": {
			func(w *worldtest.World, eventID string) { w.MoveEvent("gm", eventID, noon) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			},
		},
		"a deletion": {
			func(w *worldtest.World, eventID string) { w.DeleteEvent("gm", eventID) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
				same(t, "ana's notices", w.Notices("ana"), []string{"SESSION_CANCELLED"})
			},
		},
		"a move, after the sync token": {
			func(w *worldtest.World, eventID string) {
				if err := w.Google.ExpireSyncTokens(); err != nil {
					panic(err)
				}
				w.MoveEvent("gm", eventID, noon)
			},
			func(t *testing.T, w *worldtest.World, pollID string) {
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			},
		},
		"an account unlinked": {
			func(w *worldtest.World, _ string) { w.Unlink("gm") },
			func(t *testing.T, w *worldtest.World, pollID string) {
				lost(t, w, pollID, rules.CalendarUnlinked)
				gone(t, w, w.Account("gm"))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, reached := 1, true
			for ; reached && n <= worldtest.MostPoints; n++ {
				t.Run(fmt.Sprintf("at read %d", n), func(t *testing.T) {
					w, p := fallible(t)
					pollID, _, eventID := w.Finalised()
					c.act(w, eventID)
					p.FailAt(n)
					w.Run(time.Minute)
					reached = p.Reached()
					p.FailAt(0)
					w.Run(time.Hour)
					c.want(t, w, pollID)
					atRest(t, w)
				})
			}
			points.Struck(t, n-2, 10)
		})
	}
}

// A call that took a document that could not be read for one that is not there would have
// channels and calendars forgotten.
func TestCalls_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(t *testing.T, w *worldtest.World, c calendars.Calendar) error{
		"ensure": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			return w.Watcher.Ensure(t.Context(), c.AccountID, c.CalendarID)
		},
		"follow": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			return w.Watcher.Follow(t.Context(), c.AccountID, c.CalendarID, worldtest.Cause)
		},
		"watched": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			_, err := w.Watcher.Watched(t.Context(), c.AccountID, c.CalendarID)
			return err
		},
		"confirm": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			_, err := w.Watcher.Confirm(t.Context(), worldtest.Person("gm"), c.Key, nil, worldtest.Cause)
			return err
		},
		"stop all": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			return w.Watcher.StopAll(t.Context())
		},
		"upcoming": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			_, _, err := w.Watcher.PlanUpcoming(t.Context(), worldtest.Cause, "", 0)
			return err
		},
		"dead channels": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			_, _, err := calendarsync.RemoveDead(t.Context(), w.Scheduler.Store, w.Clock.Now().AddDate(1, 0, 0), 10)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := fallible(t)
			w.Finalised()
			calendar := w.Calendar("gm")
			p.NoneUnread(t, 1, func() error { return call(t, w, calendar) })
		})
	}
}
