// Package queuetest is the conformance suite of the queue port: what queue
// promises, as tests that every driver passes and none is excused from.
package queuetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"questscheduler/queue"
)

// Open opens an empty queue of the kinds for one test. What the queue needs is
// closed by t.Cleanup; starting and stopping it is the suite's.
type Open func(t *testing.T, kinds []string) queue.Queue

// Run holds a driver to the port's promises.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		promise string
		test    func(t *testing.T, open Open)
	}{
		{"a task reaches its handler whole", deliversWhole},
		{"a task handed over before the start is run after it", keepsTasksBeforeStart},
		{"a name that is taken refuses a second task without an error", refusesTakenName},
		{"one name in two kinds is two names", namesArePerKind},
		{"one name from 64 callers at once makes one task", oneNameFromManyCallers},
		{"names may be any bytes", namesAreBytes},
		{"a task runs no earlier than asked", waitsForNotBefore},
		{"later runs again and counts no attempt", laterCountsNoAttempt},
		{"retry runs again after the wait that it names", retryAfterWait},
		{"retry without a wait backs off within the bounds", retryBacksOff},
		{"a verdict that says nothing is a retry", zeroVerdictRetries},
		{"a panic is a retry and no crash", panicIsRetry},
		{"permanent is a dead letter until it is retried", permanentIsDeadLetter},
		{"a dead letter may be retried again and again", deadLetterAgain},
		{"dead letters are listed newest first and no more than asked", deadLettersInOrder},
		{"what cannot be taken is refused before and after the start", refusesBadTasks},
		{"a start needs a handler for each kind and no other", refusesBadStart},
		{"a handler's context ends within the time allowed", contextHasDeadline},
		{"a kind that hangs holds up no other", kindsDoNotWaitForEachOther},
		{"no more tasks of a kind run at once than it has workers", workersAreALimit},
		{"64 callers lose nothing and no task runs twice at once", manyCallers},
		{"a stop waits for what runs and begins nothing more", stopIsGraceful},
		{"a stop that loses patience cancels and the task is run again", stopCancels},
		{"depths count what waits and what is dead", depthsCount},
		{"a caller whose context has ended hands nothing over silently", endedContext},
	} {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			c.test(t, open)
		})
	}
}

// patience is how long a test waits for what must happen. It asserts nothing
// about speed: it only ends a test that would hang.
const patience = 30 * time.Second

// eventually polls until check is true.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// receive takes the next value of a channel.
func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		t.Fatalf("it did not happen: %s", what)
		panic("unreachable")
	}
}

// start starts a queue with a handler for each kind, and stops it at the end
// of the test.
func start(t *testing.T, q queue.Queue, handlers map[string]queue.Handler) {
	t.Helper()
	startWith(t, q, queue.Config{Handlers: handlers})
}

func startWith(t *testing.T, q queue.Queue, config queue.Config) {
	t.Helper()
	if err := q.Start(t.Context(), config); err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() { stop(t, q) })
}

// stop stops a queue; stopping one that is stopped changes nothing.
func stop(t *testing.T, q queue.Queue) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := q.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// enqueue hands a task over and fails the test on an error.
func enqueue(t *testing.T, q queue.Queue, task queue.Task) (created bool) {
	t.Helper()
	created, err := q.Enqueue(t.Context(), task)
	if err != nil {
		t.Fatalf("enqueue %q: %v", task.Name, err)
	}
	return created
}

// mustEnqueue hands over a task whose name is free.
func mustEnqueue(t *testing.T, q queue.Queue, task queue.Task) {
	t.Helper()
	if !enqueue(t, q, task) {
		t.Fatalf("enqueue %q: refused, want it taken", task.Name)
	}
}

// script is a handler that answers with one verdict after the other, then
// Done, and tells each delivery.
type script struct {
	runs chan run

	mu       sync.Mutex
	verdicts []queue.Verdict
}

// run is one delivery and when it began.
type run struct {
	queue.Delivery
	at time.Time
}

func newScript(verdicts ...queue.Verdict) *script {
	return &script{verdicts: verdicts, runs: make(chan run, 100)}
}

func (s *script) handle(_ context.Context, delivery queue.Delivery) queue.Verdict {
	at := time.Now()
	s.mu.Lock()
	verdict := queue.Verdict{Outcome: queue.Done}
	if len(s.verdicts) > 0 {
		verdict, s.verdicts = s.verdicts[0], s.verdicts[1:]
	}
	s.mu.Unlock()
	s.runs <- run{delivery, at}
	return verdict
}

// next waits for the next run.
func (s *script) next(t *testing.T) run {
	t.Helper()
	return receive(t, "a run of the task", s.runs)
}

// none fails if there was another run so far.
func (s *script) none(t *testing.T) {
	t.Helper()
	select {
	case r := <-s.runs:
		t.Errorf("another run, of %q, attempt %d; want none", r.Name, r.Attempt)
	default:
	}
}

// deadLetters waits until there are so many dead letters, and lists them.
func deadLetters(t *testing.T, q queue.Queue, want int) []queue.DeadLetter {
	t.Helper()
	var letters []queue.DeadLetter
	eventually(t, fmt.Sprintf("%d dead letters", want), func() bool {
		var err error
		if letters, err = q.DeadLetters(t.Context(), 100); err != nil {
			t.Fatalf("dead letters: %v", err)
		}
		return len(letters) == want
	})
	return letters
}

// one makes a handler map for one kind.
func one(kind string, handler queue.Handler) map[string]queue.Handler {
	return map[string]queue.Handler{kind: handler}
}
