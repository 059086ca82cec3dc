package cloudtasks_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

// wake makes a task for an entry, and gives it as Cloud Tasks has it.
func (b *bench) wake(kind, id string) *cloudtaskspb.Task {
	b.Helper()
	b.must(b.tasks.Wake(b.Context(), kind, id, "", time.Time{}))
	made := b.cloud.tasks()
	return made[len(made)-1]
}

// deliver delivers a task that was tried so often before.
func (b *bench) deliver(task *cloudtaskspb.Task, retries int) (int, time.Duration) {
	b.Helper()
	return hand(b.Context(), b.tasks.Deliver, task, retries)
}

// Each row is what a handler answers or what an entry is, and what becomes of its task.
func TestDeliver_ARow_IsAnswered(t *testing.T) {
	t.Parallel()
	failed := outbox.Failed(errUnanswered) // due again after 10 s
	for what, row := range map[string]struct {
		due     time.Duration
		id      string
		mode    outbox.Mode
		changed bool // while it runs
		again   bool // in 5 s
		result  outbox.Result
		status  int
		next    time.Duration // when its successor is due; -1: there is none
	}{
		"done":                   {result: outbox.Done(), status: 200, next: -1},
		"goes on":                {again: true, status: 200, next: 5 * time.Second},
		"failed":                 {result: failed, status: 200, next: 10 * time.Second},
		"kept":                   {result: outbox.Kept(time.Time{}), status: 200, next: -1},
		"changed meanwhile":      {result: outbox.Done(), changed: true, status: 200, next: 0},
		"not due yet":            {due: time.Minute, status: 200, next: time.Minute},
		"due in a while":         {due: time.Minute + time.Second, status: 200, next: -1},
		"done by another task":   {id: "gone", status: 200, next: -1},
		"of no document":         {id: "a/b", status: 200, next: -1},
		"resting":                {mode: outbox.Rests, status: 200, next: -1},
		"the store fails during": {result: outbox.Broken(errUnanswered), status: 503, next: -1},
	} {
		mode := func(k *outbox.Kind) { k.Mode = func() outbox.Mode { return row.mode } }
		onBench(t, mode, func(b *bench) {
			b.record("job", "a", row.due)
			b.answer = func(context.Context, outbox.Item) outbox.Result {
				if row.changed {
					b.must(b.documents.Run(b.Context(), changeRef))
				}
				if row.again {
					return outbox.Again(time.Now().Add(5 * time.Second))
				}
				return row.result
			}
			id := row.id
			if id == "" {
				id = "a"
			}
			if status, after := b.deliver(b.wake("job", id), 0); status != row.status || (status != 200) != (after > 0) {
				b.Errorf("%s: answered %d after %v, want %d", what, status, after, row.status)
			}
			made := b.cloud.tasks()[1:]
			if (len(made) == 1) != (row.next >= 0) || len(made) > 1 {
				b.Fatalf("%s: it has %d successors", what, len(made))
			}
			if len(made) == 1 && max(0, time.Until(made[0].GetScheduleTime().AsTime())) != row.next {
				b.Errorf("%s: its successor is due %v", what, made[0].GetScheduleTime().AsTime())
			}
		})
	}
}

// A task that is delivered twice makes one successor, and each successor its own.
func TestDeliver_ATaskTwice_MakesOneSuccessor(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.record("job", "a", time.Minute)
		b.record("job", "b", time.Minute)
		first, other := b.wake("job", "a"), b.wake("job", "b")
		for range 2 {
			b.deliver(first, 0)
			b.deliver(other, 0)
		}
		made := b.cloud.tasks()
		if len(made) != 4 || string(made[2].GetHttpRequest().GetBody()) != "a" || string(made[3].GetHttpRequest().GetBody()) != "b" {
			b.Fatalf("%d tasks were made, want two and a successor of each", len(made))
		}
		time.Sleep(time.Second)
		b.deliver(first, 1)   // once more, after its successor
		b.deliver(made[2], 0) // the clock of Cloud Tasks is ahead
		made = b.cloud.tasks()
		if len(made) != 5 {
			b.Errorf("%d tasks were made, want one for the successor", len(made))
		}
	})
}

// By hand a task may be delivered without the headers of Cloud Tasks.
func TestDeliver_WithoutHeaders_HasASuccessorEachTime(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.record("job", "a", time.Minute)
		for range 2 {
			if status, _ := b.tasks.Deliver(b.Context(), "job", http.Header{}, []byte("a")); status != 200 {
				b.Errorf("answered %d", status)
			}
		}
		if made := b.cloud.tasks(); len(made) != 2 {
			b.Errorf("%d tasks were made", len(made))
		}
	})
}

func TestDeliver_StoreUnanswered_WaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.breaks(true)
		for retries, want := range map[string]time.Duration{
			"0": time.Second, "1": 2 * time.Second, "2": 4 * time.Second, "9": 512 * time.Second, "10": 10 * time.Minute,
			"2000000": 10 * time.Minute,
			"":        time.Second, "-1": time.Second, "many": time.Second, "99999999999999999999": time.Second,
		} {
			header := http.Header{"X-Cloudtasks-Taskretrycount": {retries}}
			if status, after := b.tasks.Deliver(b.Context(), "job", header, []byte("a")); status != http.StatusServiceUnavailable || after != want {
				b.Errorf("after %q attempts: answered %d after %v, want %v", retries, status, after, want)
			}
		}
	})
}

func TestDeliver_SuccessorRefused_ComesAgain(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.record("job", "a", time.Minute)
		task := b.wake("job", "a")
		b.cloud.fail = status.Error(codes.Unavailable, "no")
		if status, after := b.deliver(task, 5); status != http.StatusServiceUnavailable || after != time.Second ||
			!b.logs("could not be put off") {
			b.Errorf("answered %d after %v; the log: %s", status, after, &b.logged)
		}
	})
}

func TestDeliver_NoWorkerFree_Is429(t *testing.T) {
	t.Parallel()
	onBench(t, func(k *outbox.Kind) { k.Workers = 1 }, func(b *bench) {
		hold := make(chan struct{})
		b.answer = func(context.Context, outbox.Item) outbox.Result {
			<-hold
			return outbox.Done()
		}
		for _, id := range []string{"a", "b"} {
			b.record("job", id, 0)
		}
		first, second := b.wake("job", "a"), b.wake("job", "b")
		ended := make(chan int, 1)
		go func() {
			status, _ := b.deliver(first, 0)
			ended <- status
		}()
		synctest.Wait()
		began := time.Now()
		if status, after := b.deliver(second, 0); status != http.StatusTooManyRequests || after != time.Second ||
			time.Since(began) != 5*time.Second {
			b.Errorf("answered %d after %v, %v later", status, after, time.Since(began))
		}
		gone, cancel := context.WithCancel(b.Context())
		cancel()
		if status, _ := hand(gone, b.tasks.Deliver, second, 0); status != http.StatusTooManyRequests || time.Since(began) != 5*time.Second {
			b.Errorf("nobody waits for the answer: %d after %v", status, time.Since(began))
		}
		close(hold)
		if status := <-ended; status != 200 {
			b.Errorf("the first was answered %d", status)
		}
		if status, _ := b.deliver(second, 1); status != 200 {
			b.Errorf("with a free worker: %d", status)
		}
	})
}

func TestDeliver_UnknownKind_EndsTheTask(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		if status, _ := b.tasks.Deliver(b.Context(), "look", http.Header{}, []byte("p")); status != 200 || !b.logs("kind=look") {
			b.Errorf("answered %d; the log: %s", status, &b.logged)
		}
	})
}

// Cloud Tasks may give a request up. The run goes on, and its entry too.
func TestDeliver_RequestEnds_RunGoesOn(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		request, giveUp := context.WithCancel(b.Context())
		b.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
			giveUp()
			if ctx.Err() != nil {
				b.Error("the run ends with the request")
			}
			return outbox.Again(time.Now().Add(time.Second))
		}
		b.record("job", "a", 0)
		if status, _ := hand(request, b.tasks.Deliver, b.wake("job", "a"), 0); status != 200 || len(b.cloud.tasks()) != 2 {
			b.Errorf("answered %d, and %d tasks were made", status, len(b.cloud.tasks()))
		}
	})
}

// changeRef has the entry job/a due for a newer change.
func changeRef(_ context.Context, tx store.Tx) error {
	return tx.Set(store.Doc("job", "a"), map[string]any{"ref": "two", "due": time.Now()})
}
