package calendarsync_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// handedOver are the tasks that were enqueued.
type handedOver []queue.Task

// Enqueue implements queue.Enqueuer.
func (h *handedOver) Enqueue(_ context.Context, task queue.Task) (bool, error) {
	*h = append(*h, task)
	return true, nil
}

// The calendars of a sweep have their places in nine tenths of its period, so
// that the last is swept before the next sweep begins.
func TestSweepPage_Spread_IsNineTenthsOfThePeriod(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for i := range 12 {
		w.Write(calendars.Path(fmt.Sprintf("calendar-%02d", i)), store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: int64(1)})
	}
	var tasks handedOver
	began := w.Clock.Now()
	sweep := &calendarsync.Watcher{Store: w.Documents, Queue: &tasks, Polls: w.Scheduler, Now: func() time.Time { return began }}
	for at, more := "", true; more; more = at != "" {
		var err error
		if _, at, err = sweep.SweepPage(t.Context(), worldtest.Cause, at, 20*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	var places []int
	for _, task := range tasks {
		places = append(places, int(task.NotBefore.Sub(began)/time.Second))
	}
	if got, want := fmt.Sprint(places), "[0 2 4 6 8 10 12 14 16 0 2 4]"; got != want {
		t.Errorf("the calendars have the places %s, want %s", got, want)
	}
}
