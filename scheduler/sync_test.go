package scheduler_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// Each check while a person waits is a read. All checks together last for as long as
// the person is asked to wait.
func TestSync_RunDoesNotEnd_ChecksAFewTimes(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Run(time.Minute)
	var waits []time.Duration
	w.Scheduler.Wait = func(_ context.Context, d time.Duration) error { // no task runs during the wait
		waits = append(waits, d)
		return w.Clock.Advance(d)
	}
	began := w.Clock.Now()
	if _, err := w.Scheduler.Sync(t.Context(), creatorOf(w, pollID), pollID, scheduler.Cause{Trigger: "person"}); err != nil {
		t.Fatal(err)
	}
	equal(t, "it waits for", w.Clock.Now().Sub(began), 3*time.Second)
	equal(t, "the first time for", waits[0], 20*time.Millisecond)
	if len(waits) > 15 {
		t.Errorf("it checks %d times: %v", len(waits), waits)
	}
}
