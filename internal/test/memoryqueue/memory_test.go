package memoryqueue_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
	"questscheduler/internal/test/memoryqueue"
	"questscheduler/internal/test/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(n int) int{
		"names kept for an hour":  nil,
		"names freed at once":     always(0),
		"names freed never again": always(2),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queuetest.Run(t, func(t *testing.T, kinds []string) queue.Queue {
				q, err := memoryqueue.New(memoryqueue.Options{Kinds: kinds, Rand: draw})
				if err != nil {
					t.Fatal(err)
				}
				return q
			})
		})
	}
}

func TestOpen_BadKinds_AreInvalid(t *testing.T) {
	t.Parallel()
	if _, err := memoryqueue.New(memoryqueue.Options{Kinds: []string{"Sync"}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want it invalid", err)
	}
}

// In a bubble of fake time the worker loop keeps its waits to the nanosecond.
func TestLoop_WakesWhenTheNextTaskIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, err := memoryqueue.New(memoryqueue.Options{Kinds: []string{"sync"}, Rand: always(1 << 30)})
		if err != nil {
			t.Fatal(err)
		}
		began, ended := time.Now(), make(chan struct{})
		var at []time.Duration
		err = q.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{
			"sync": func(_ context.Context, delivery queue.Delivery) queue.Verdict {
				at = append(at, time.Since(began))
				if delivery.Attempt < 4 {
					return queue.Verdict{Outcome: queue.Retry, Err: errors.New("busy")}
				}
				close(ended)
				return queue.Verdict{Outcome: queue.Done}
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = q.Enqueue(t.Context(), queue.Task{Kind: "sync", NotBefore: began.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		<-ended
		want := []time.Duration{time.Hour, time.Hour + time.Second, time.Hour + 3*time.Second, time.Hour + 7*time.Second}
		if len(at) != len(want) {
			t.Fatalf("ran at %v, want %v", at, want)
		}
		for i := range want {
			if at[i] != want[i] {
				t.Errorf("ran at %v, want %v", at, want)
			}
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A task that is at its last attempt is not given up for a run that Stop cut off.
func TestStop_CancelsTheLastAttempt_WhichIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, err := memoryqueue.New(memoryqueue.Options{Kinds: []string{"sync"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Enqueue(t.Context(), queue.Task{Kind: "sync", Name: "n"}); err != nil {
			t.Fatal(err)
		}
		id := q.Due(time.Now())[0].ID
		for range queue.GiveUpAttempts - 1 {
			run, _ := q.Take(id)
			run.Settle(queue.Verdict{Outcome: queue.Retry, After: time.Millisecond})
		}
		time.Sleep(queue.GiveUpAge)
		attempts := make(chan int, 10)
		start := func(handler queue.Handler) {
			if err := q.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{"sync": handler}}); err != nil {
				t.Fatal(err)
			}
		}
		start(func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
			attempts <- delivery.Attempt
			<-ctx.Done()
			return queue.Verdict{Outcome: queue.Retry, Err: ctx.Err()}
		})
		<-attempts
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if err := q.Stop(impatient); err != nil {
			t.Fatal(err)
		}
		letters, err := q.DeadLetters(t.Context(), 10)
		if err != nil || len(letters) != 0 {
			t.Fatalf("the dead letters are %+v, %v; want none", letters, err)
		}
		start(func(_ context.Context, delivery queue.Delivery) queue.Verdict {
			attempts <- delivery.Attempt
			return queue.Verdict{Outcome: queue.Done}
		})
		if got := <-attempts; got != queue.GiveUpAttempts {
			t.Errorf("attempt %d after the stop, want %d again", got, queue.GiveUpAttempts)
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStop_AHandlerThatIgnoresItsContextIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, err := memoryqueue.New(memoryqueue.Options{Kinds: []string{"sync"}})
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		err = q.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{
			"sync": func(context.Context, queue.Delivery) queue.Verdict {
				<-release
				return queue.Verdict{Outcome: queue.Done}
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Enqueue(t.Context(), queue.Task{Kind: "sync"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Stop(ctx); !fault.Is(err, fault.Unavailable) {
			t.Errorf("stop: %v, want it unavailable", err)
		}
		close(release)
	})
}
