package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/rules"
)

// A full listing does not show what was deleted, and the event is nobody's yet.
func TestFinalise_EventDeletedBeforeAFullListing_AndLinkedAfterIt_IsCancelled(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	other, slots := w.Poll()
	if _, err := w.Finalise(other, slots[0]); err != nil { // its look, the first, is yet to come
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
