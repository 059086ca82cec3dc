package river_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"questscheduler/internal/queue"
	"questscheduler/internal/queue/river"
)

// A queue that is started hands its periodic tasks over to itself, at the start
// and in every period; so does the next process on the same file.
func TestPeriodic_IsEnqueuedAtStartAndEveryPeriod(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data.sqlite")
	for _, process := range []string{"the first", "the next"} {
		db, err := openDatabase(file)
		if err != nil {
			t.Fatal(err)
		}
		ran := make(chan string, 16)
		q := openWith(t, river.Options{
			DB: db, Kinds: []string{"timer"},
			Periodic: []river.Periodic{{Name: "tick", Every: time.Second, Task: queue.Task{Kind: "timer", Payload: []byte("what is due?")}}},
		})
		err = q.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{
			"timer": func(_ context.Context, delivery queue.Delivery) queue.Verdict {
				ran <- string(delivery.Payload)
				return queue.Verdict{Outcome: queue.Done}
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			select {
			case payload := <-ran:
				if payload != "what is due?" {
					t.Errorf("%s process, run %d: it is handed %q", process, n, payload)
				}
			case <-time.After(patience):
				t.Fatalf("%s process: run %d does not come", process, n)
			}
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
