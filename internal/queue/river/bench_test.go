package river_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"questscheduler/internal/queue"
)

// BenchmarkEnqueue prints what a durable, named task costs its caller, alone
// and among concurrent callers.
func BenchmarkEnqueue(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d callers", callers), func(b *testing.B) {
			q := open(b, filepath.Join(b.TempDir(), "data.sqlite"), []string{"look"})
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range callers {
				group.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						task := queue.Task{Kind: "look", Name: fmt.Sprint(n), Payload: []byte(`{"calendar":"a"}`)}
						if created, err := q.Enqueue(b.Context(), task); err != nil || !created {
							b.Errorf("enqueue: %v, %v", created, err)
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// BenchmarkEnqueueToStart prints how long a task takes from its caller to its
// handler in an idle queue.
func BenchmarkEnqueueToStart(b *testing.B) {
	q := open(b, filepath.Join(b.TempDir(), "data.sqlite"), []string{"look", "intent", "announce", "renew"})
	began := make(chan struct{})
	handler := func(context.Context, queue.Delivery) queue.Verdict {
		began <- struct{}{}
		return queue.Verdict{Outcome: queue.Done}
	}
	handlers := map[string]queue.Handler{}
	for _, kind := range []string{"look", "intent", "announce", "renew"} {
		handlers[kind] = handler
	}
	if err := q.Start(b.Context(), queue.Config{Handlers: handlers}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := q.Stop(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	for b.Loop() {
		if _, err := q.Enqueue(b.Context(), queue.Task{Kind: "look"}); err != nil {
			b.Fatal(err)
		}
		<-began
	}
}
