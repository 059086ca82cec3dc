package queuetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"questscheduler/internal/queue"
)

func kindsDoNotWaitForEachOther(t *testing.T, open Open) {
	q := open(t, []string{"sync", "announce"})
	s := newScript()
	hung, release := make(chan struct{}, 10), make(chan struct{})
	startWith(t, q, queue.Config{
		Handlers: map[string]queue.Handler{
			"sync": s.handle,
			"announce": func(context.Context, queue.Delivery) queue.Verdict {
				hung <- struct{}{}
				<-release
				return queue.Verdict{Outcome: queue.Done}
			},
		},
		Workers: map[string]int{"announce": 2},
	})
	for range 5 {
		mustEnqueue(t, q, queue.Task{Kind: "announce"})
	}
	receive(t, "a task hangs", hung)
	receive(t, "another task hangs", hung)
	for i := range 5 {
		mustEnqueue(t, q, queue.Task{Kind: "sync", Name: fmt.Sprint(i)})
		s.next(t)
	}
	close(release)
}

// gauge counts what runs at the same time.
type gauge struct {
	mu      sync.Mutex
	now     map[string]int
	most    int
	overlap []string
}

// enter tells that a run of the name began, leave that it ended.
func (g *gauge) enter(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now == nil {
		g.now = map[string]int{}
	}
	g.now[name]++
	if g.now[name] > 1 {
		g.overlap = append(g.overlap, name)
	}
	g.most = max(g.most, len(g.now))
}

func (g *gauge) leave(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now[name]--; g.now[name] == 0 {
		delete(g.now, name)
	}
}

func workersAreALimit(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	const workers, tasks = 2, 10
	var running gauge
	began, release := make(chan struct{}, tasks), make(chan struct{})
	startWith(t, q, queue.Config{
		Handlers: one("sync", func(_ context.Context, delivery queue.Delivery) queue.Verdict {
			running.enter(delivery.Name)
			defer running.leave(delivery.Name)
			began <- struct{}{}
			<-release
			return queue.Verdict{Outcome: queue.Done}
		}),
		Workers: map[string]int{"sync": workers},
	})
	for i := range tasks {
		mustEnqueue(t, q, queue.Task{Kind: "sync", Name: fmt.Sprint(i)})
	}
	for range workers {
		receive(t, "as many begin as there are workers", began)
	}
	close(release)
	for range tasks - workers {
		receive(t, "the others begin too", began)
	}
	stop(t, q)
	if running.most != workers {
		t.Errorf("%d ran at once, want %d", running.most, workers)
	}
}

func manyCallers(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	const callers, each, rounds = 64, 8, 2
	var running gauge
	ran := make(chan string, callers*each*rounds)
	startWith(t, q, queue.Config{
		Handlers: one("sync", func(_ context.Context, delivery queue.Delivery) queue.Verdict {
			running.enter(delivery.Name)
			defer running.leave(delivery.Name)
			if delivery.Attempt < rounds {
				return queue.Verdict{Outcome: queue.Retry, After: 1}
			}
			ran <- delivery.Name
			return queue.Verdict{Outcome: queue.Done}
		}),
		Workers: map[string]int{"sync": 32},
	})
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range each {
				// Each name is handed over by two callers.
				name := fmt.Sprintf("%d-%d", caller/2, i)
				if _, err := q.Enqueue(t.Context(), queue.Task{Kind: "sync", Name: name}); err != nil {
					t.Errorf("enqueue: %v", err)
				}
			}
		})
	}
	group.Wait()
	names := map[string]bool{}
	for len(names) < callers/2*each {
		names[receive(t, "every task is run", ran)] = true
	}
	stop(t, q)
	if len(running.overlap) > 0 {
		t.Errorf("ran twice at once: %v", running.overlap)
	}
}

func stopIsGraceful(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	began, release := make(chan string, 10), make(chan struct{})
	var ended gauge
	config := queue.Config{
		Handlers: one("sync", func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
			began <- delivery.Name
			<-release
			if ctx.Err() == nil {
				ended.enter(delivery.Name)
			}
			return queue.Verdict{Outcome: queue.Done}
		}),
		Workers: map[string]int{"sync": 1},
	}
	startWith(t, q, config)
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "first"})
	receive(t, "the first begins", began)
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "second"})

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, q)
	}()
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "third"})
	select {
	case <-stopped:
		t.Error("the stop did not wait for the task that runs")
	default:
	}
	close(release)
	receive(t, "the queue stops", stopped)
	if ended.now["first"] != 1 {
		t.Error("the task that ran was cut short")
	}
	runs := map[string]int{"first": 1}
	for done := false; !done; {
		// What began before the stop took hold has ended with it.
		select {
		case name := <-began:
			runs[name]++
		default:
			done = true
		}
	}
	startWith(t, q, config)
	for len(runs) < 3 {
		runs[receive(t, "what waited is run after the next start", began)]++
	}
	if runs["first"] != 1 {
		t.Error("the task that ran to its end was run again")
	}
}

func stopCancels(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	attempts := make(chan int, 10)
	var patient sync.Once
	config := queue.Config{Handlers: one("sync", func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
		attempts <- delivery.Attempt
		cancelled := false
		patient.Do(func() {
			<-ctx.Done()
			cancelled = true
		})
		if cancelled {
			return queue.Verdict{Outcome: queue.Retry, Err: ctx.Err()}
		}
		return queue.Verdict{Outcome: queue.Done}
	})}
	startWith(t, q, config)
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n"})
	receive(t, "the task begins", attempts)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Stop(ctx); err != nil {
		t.Fatalf("stop: %v", err)
	}
	startWith(t, q, config)
	if again := receive(t, "the task is run again", attempts); again != 1 {
		t.Errorf("attempt %d, want 1: the stop was no failure of the task", again)
	}
}
