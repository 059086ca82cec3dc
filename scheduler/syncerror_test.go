package scheduler_test

import (
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func TestAHold_GivesWayToNoOtherError(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	for _, code := range []rules.ErrorCode{rules.MassCancellationHeld, rules.TokenExpired, rules.WatchFailed} {
		if err := w.Scheduler.SetSyncError(t.Context(), pollID, code, scheduler.Cause{Trigger: "test"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	after := w.View(pollID).Poll
	if got := after.Sync.Error; got == nil || got.Code != rules.MassCancellationHeld {
		t.Errorf("the error is %+v, want the hold", got)
	}
	equal(t, "status", after.Status, rules.Finalized)
}

func TestArchive_WhileTheEventIsBeingMade_IsRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	w.Refuse("events.insert", 503, "backendError", 1)
	_, err := w.Finalise(pollID, slots[0])
	kind(t, err, fault.Unavailable)
	gm := scheduler.Person{ID: w.View(pollID).Poll.CreatorID}
	_, err = w.Scheduler.Archive(t.Context(), gm, pollID, scheduler.Cause{})
	kind(t, err, fault.Conflict)
}
