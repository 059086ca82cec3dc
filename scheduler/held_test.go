package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// allGone deletes every event of gm's calendar in a gap that no listing of
// changes shows.
func allGone(t *testing.T, w *worldtest.World) {
	t.Helper()
	for _, event := range w.Events("gm") {
		w.DeleteEvent("gm", event.ID)
	}
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
}

func confirmAll(t *testing.T, w *worldtest.World, polls ...string) {
	t.Helper()
	calendar := calendars.Decode(w.Document(calendars.Path(w.CalendarKey("gm"))))
	if err := w.Confirm(calendar, polls); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
}

// A poll that was put away while the cancellations of a calendar were held, or
// confirmed, is held when it comes back, until its owner says so.
func TestUnarchive_OfAPollWhoseEventIsHeld_IsHeld(t *testing.T) {
	t.Parallel()
	unarchive := func(t *testing.T, w *worldtest.World, pollID string) {
		if _, err := w.Scheduler.Unarchive(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name  string
		away  func(t *testing.T, w *worldtest.World, s fixture)
		again func(t *testing.T, w *worldtest.World, pollID string)
	}{
		{"held while it was away", func(t *testing.T, w *worldtest.World, s fixture) {
			archiveIt.do(w, s)
			allGone(t, w)
		}, unarchive},
		{"brought back by the web app itself", func(t *testing.T, w *worldtest.World, s fixture) {
			archiveIt.do(w, s)
			allGone(t, w)
		}, func(t *testing.T, w *worldtest.World, pollID string) {
			w.Edit(poll.Path(pollID), poll.Set("status", string(rules.Finalized)))
			if _, err := w.Scheduler.Reconcile(t.Context(), pollID, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		}},
		{"held before, and confirmed while it was away", func(t *testing.T, w *worldtest.World, s fixture) {
			allGone(t, w)
			archiveIt.do(w, s)
			confirmAll(t, w, s.poll)
		}, unarchive},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
			s := finalised(w)
			finalised(w)
			finalised(w)
			row.away(t, w, s)
			row.again(t, w, s.poll)
			w.Run(time.Minute)
			w.Check()
			if p := w.View(s.poll).Poll; p.Status != rules.Finalized || !w.Held(p) {
				t.Errorf("it is not held: %s, %+v", p.Status, p.Sync)
			}
			confirmAll(t, w, s.poll)
			w.Check()
			if p := w.View(s.poll).Poll; p.Status != rules.Cancelled || p.Cancelled.Reason != rules.ReasonCalendarDeleted {
				t.Errorf("confirmed, it is %s: %+v", p.Status, p.Sync)
			}
		})
	}
}
