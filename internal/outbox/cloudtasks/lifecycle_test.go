package cloudtasks_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
)

// deliverLater delivers a task beside the test, and returns its answer once there is one.
func (b *bench) deliverLater(task *cloudtaskspb.Task) (status <-chan int) {
	answered := make(chan int, 1)
	go func() {
		status, _ := hand(b.Context(), b.tasks.Deliver, task, 0)
		answered <- status
	}()
	synctest.Wait()
	return answered
}

func TestStart_Twice_IsAConflict(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		if err := b.tasks.Start(b.Context()); !fault.Is(err, fault.Conflict) {
			b.Errorf("%v", err)
		}
		b.must(b.tasks.Stop(b.Context()))
		b.must(b.tasks.Stop(b.Context()))
		b.must(b.tasks.Start(b.Context()))
	})
}

func TestDeliver_Stopped_Is503(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.record("job", "a", 0)
		task := b.wake("job", "a")
		b.must(b.tasks.Stop(b.Context()))
		if status, after := b.deliver(task, 7); status != http.StatusServiceUnavailable || after != time.Second {
			b.Errorf("answered %d after %v", status, after)
		}
		if _, due := b.state("job", "a"); !due {
			b.Error("it ran")
		}
		b.must(b.tasks.Start(b.Context()))
		if status, _ := b.deliver(task, 8); status != 200 {
			b.Errorf("after the next start: %d", status)
		}
	})
}

func TestStop_WaitsForRunsAndBeginsNone(t *testing.T) {
	t.Parallel()
	onBench(t, func(k *outbox.Kind) { k.Workers = 1 }, func(b *bench) {
		b.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
			time.Sleep(2 * time.Second)
			return outbox.Failed(ctx.Err()) // nil: it is not cancelled
		}
		b.record("job", "a", 0)
		b.record("job", "b", 0)
		first, second := b.deliverLater(b.wake("job", "a")), b.deliverLater(b.wake("job", "b"))
		began := time.Now()
		b.must(b.tasks.Stop(b.Context()))
		if took := time.Since(began); took != 2*time.Second {
			b.Errorf("it took %v", took)
		}
		if status := <-first; status != 200 {
			b.Errorf("the run was answered %d", status)
		}
		if status := <-second; status != http.StatusTooManyRequests {
			b.Errorf("what waited was answered %d", status)
		}
		if state, _ := b.state("job", "b"); state.Attempts != 0 || state.Due.After(began) {
			b.Errorf("what waited was begun: %+v", state)
		}
	})
}

// What a stop cancels is no failure, and its task comes again.
func TestStop_WithoutPatience_CancelsRuns(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
			<-ctx.Done()
			return outbox.Failed(ctx.Err())
		}
		b.record("job", "a", 0)
		answered := b.deliverLater(b.wake("job", "a"))
		impatient, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		began := time.Now()
		b.must(b.tasks.Stop(impatient))
		if status := <-answered; status != http.StatusServiceUnavailable || time.Since(began) != time.Second {
			b.Errorf("answered %d after %v", status, time.Since(began))
		}
		if state, _ := b.state("job", "a"); state.Attempts != 0 || !state.FailedSince.IsZero() || state.Due.After(time.Now()) {
			b.Errorf("it counts as a failure, or keeps its claim: %+v", state)
		}
	})
}

func TestStop_OfAHandlerThatIgnoresIt_SaysSo(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		hold := make(chan struct{})
		b.answer = func(context.Context, outbox.Item) outbox.Result {
			<-hold
			return outbox.Done()
		}
		b.record("job", "a", 0)
		answered := b.deliverLater(b.wake("job", "a"))
		impatient, cancel := context.WithCancel(b.Context())
		cancel()
		began := time.Now()
		if err := b.tasks.Stop(impatient); !fault.Is(err, fault.Unavailable) || time.Since(began) != 5*time.Second {
			b.Errorf("%v after %v", err, time.Since(began))
		}
		close(hold)
		<-answered
	})
}

// A run that ignores the end of its time takes no worker from others for good.
func TestDeliver_HandlerIgnoresItsEnd_LosesItsWorker(t *testing.T) {
	t.Parallel()
	onBench(t, func(k *outbox.Kind) { k.Workers = 1 }, func(b *bench) {
		hold := make(chan struct{})
		b.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			if item.ID == "hangs" {
				<-hold
			}
			return outbox.Done()
		}
		b.record("job", "hangs", 0)
		b.record("job", "a", 0)
		hung, other := b.deliverLater(b.wake("job", "hangs")), b.wake("job", "a")
		pass(90 * time.Second)
		if status, _ := b.deliver(other, 0); status != http.StatusTooManyRequests {
			b.Errorf("while Cloud Tasks waits for the first: %d", status)
		}
		pass(30 * time.Second)
		for range 2 { // its worker is freed once
			if status, _ := b.deliver(other, 1); status != 200 || !b.logs("a run ignores the end of its time") {
				b.Errorf("later: %d; the log: %s", status, &b.logged)
			}
		}
		close(hold)
		<-hung
		b.answer = func(context.Context, outbox.Item) outbox.Result {
			if status, _ := b.deliver(other, 2); status != http.StatusTooManyRequests {
				b.Errorf("two run at once: %d", status)
			}
			return outbox.Done()
		}
		b.record("job", "b", 0)
		b.deliver(b.wake("job", "b"), 0)
	})
}

// In a process that has its store to itself a run's claim is in memory: it ends with the time
// that Cloud Tasks waits, or the entry would not be done while the run hangs.
func TestDeliver_HandlerIgnoresItsEnd_LosesItsClaim(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.Alone = true
		hold, runs := make(chan struct{}), 0
		b.answer = func(context.Context, outbox.Item) outbox.Result {
			runs++
			if runs == 1 {
				<-hold
			}
			return outbox.Done()
		}
		b.record("job", "hangs", 0)
		task := b.wake("job", "hangs")
		hung := b.deliverLater(task)
		pass(dispatchDeadline)
		if status, _ := b.deliver(task, 1); status != 200 || runs != 2 {
			b.Errorf("answered %d after %d runs", status, runs)
		}
		close(hold)
		<-hung
	})
}

// dispatchDeadline is how long Cloud Tasks waits for an answer.
const dispatchDeadline = 2 * time.Minute
