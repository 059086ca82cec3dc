package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// A full listing does not show what was deleted, and the event is nobody's yet.
func TestFinalise_EventDeletedBeforeItIsLinked_IsCancelled(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	other, slots := w.Poll()
	if _, err := w.Finalise(other, slots[0]); err != nil { // its sync, the first, is yet to run
		t.Fatal(err)
	}
	pollID, slots := w.Poll()
	w.On("after events.insert", func() {
		w.DeleteEvent("gm", poll.EventID(pollID, 1))
		w.RunDue()
	})
	if _, err := w.Finalise(pollID, slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(10 * time.Minute)
	if p := w.View(pollID).Poll; p.Status != rules.Cancelled {
		t.Errorf("the poll is %s, and its event was deleted", p.Status)
	}
	w.Check()
}

// Giving up the finalisation renumbers the current link, and the delivery that is under
// way with it.
func TestFinalise_RefusedDuringADelivery_AnnouncesTheRestore(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, worldtest.Noon)
	w.Run(worldtest.Settle - time.Second)
	w.Skip(5 * time.Second)
	for _, task := range w.Wakes.Due(w.Clock.Now()) {
		if task.Kind != poll.AnnounceKind {
			continue
		}
		w.On("after store.run", func() { // the delivery was begun
			w.Refuse("events.insert", 403, "forbidden", 1)
			if _, err := w.Finalise(pollID, slots[1]); err == nil {
				t.Error("the finalisation was not refused")
			}
		})
		w.RunTask(task.ID)
	}
	w.Run(time.Minute)
	w.MoveEvent("gm", eventID, worldtest.Ten)
	w.Run(time.Minute)
	want := []string{string(rules.NoticeRescheduled), string(rules.NoticeRestored)}
	if got := w.Notices("ana"); !slices.Equal(got, want) {
		t.Errorf("ana has the notices %q, want %q", got, want)
	}
	w.Check()
}
