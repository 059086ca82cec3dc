package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// The main job: a session is finalised, moved, moved back, deleted, and
// finalised again.
func TestSession_MovedAndDeletedEvent_IsFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.Check()
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	equal(t, "state", w.View(pollID).Poll.Sync.State, rules.StateOK)

	w.MoveEvent("gm", eventID, worldtest.Noon)
	w.Run(time.Minute)
	w.Check()
	view := w.View(pollID)
	equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
	equal(t, "start", view.Winning.Start, worldtest.Noon.Start)
	same(t, "ana's notices", w.Notices("ana"), []string{string(rules.NoticeRescheduled)})

	w.MoveEvent("gm", eventID, worldtest.Ten)
	w.Run(time.Minute)
	w.Check()
	view = w.View(pollID)
	equal(t, "state", view.Poll.Sync.State, rules.StateOK)
	equal(t, "winning slot", view.Poll.WinningSlotID, slots[0])
	same(t, "ana's notices", w.Notices("ana"), []string{string(rules.NoticeRescheduled), string(rules.NoticeRestored)})

	w.DeleteEvent("gm", eventID)
	w.Run(time.Minute)
	w.Check()
	view = w.View(pollID)
	equal(t, "status", view.Poll.Status, rules.Cancelled)
	equal(t, "the entry awaits the event", w.Index()[0].Awaited, true)
	same(t, "ana's notices", w.Notices("ana"), []string{
		string(rules.NoticeRescheduled), string(rules.NoticeRestored), string(rules.NoticeCancelled),
	})

	if _, err := w.Finalise(pollID, slots[1]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.Check()
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	equal(t, "events", len(w.Events("gm")), 1)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule", "restore", "cancel", "finalise"})
	if t.Failed() {
		t.Log(w.Log())
	}
}
