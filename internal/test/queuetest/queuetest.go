// Package queuetest is the conformance suite of the queue port: what queue
// promises, as tests that every driver passes and none is excused from.
package queuetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"questscheduler/internal/queue"
)

// Open opens an empty queue of the kinds for one test. What the queue needs is
// closed by t.Cleanup; starting and stopping it is the suite's.
type Open func(t *testing.T, kinds []string) queue.Queue

// Run holds a driver to the port's promises.
func Run(t *testing.T, open Open) {
	for _, c := range promises {
		c.run(t, open)
	}
}

// RunPush is Run for a driver whose tasks a service holds and delivers to any
// server that answers. It leaves out the tests for queues that hold their tasks
// themselves.
func RunPush(t *testing.T, open Open) {
	for _, c := range promises {
		if !c.holding {
			c.run(t, open)
		}
	}
}

// promise is a sentence of the port, and its test.
type promise struct {
	promise string
	test    func(t *testing.T, open Open)
	// holding: while the queue is stopped, its tasks have to be untouched. A
	// service goes on delivering them, and each refusal counts as an attempt and
	// moves the time at which they are due.
	holding bool
}

func (p promise) run(t *testing.T, open Open) {
	t.Run(p.promise, func(t *testing.T) {
		t.Parallel()
		p.test(t, open)
	})
}

var promises = []promise{
	{promise: "a task reaches its handler whole", test: deliversWhole},
	{promise: "a task handed over before the start is run after it", test: keepsTasksBeforeStart},
	{promise: "a name that is taken refuses a second task without an error", test: refusesTakenName},
	{promise: "one name in two kinds is two names", test: namesArePerKind},
	{promise: "one name from 64 callers at once makes one task", test: oneNameFromManyCallers},
	{promise: "names may be any bytes", test: namesAreBytes},
	{promise: "a task runs no earlier than asked", test: waitsForNotBefore},
	{promise: "later runs again and counts no attempt", test: laterCountsNoAttempt},
	{promise: "retry runs again after the wait that it names", test: retryAfterWait},
	{promise: "retry without a wait backs off within the bounds", test: retryBacksOff},
	{promise: "a verdict that says nothing is a retry", test: zeroVerdictRetries},
	{promise: "a panic is a retry and no crash", test: panicIsRetry},
	{promise: "permanent is a dead letter until it is retried", test: permanentIsDeadLetter},
	{promise: "a dead letter may be retried again and again", test: deadLetterAgain},
	{promise: "dead letters are listed newest first and no more than asked", test: deadLettersInOrder},
	{promise: "what cannot be taken is refused before and after the start", test: refusesBadTasks},
	{promise: "a start needs a handler for each kind and no other", test: refusesBadStart},
	{promise: "a handler's context ends within the time allowed", test: contextHasDeadline},
	{promise: "a kind that hangs holds up no other", test: kindsDoNotWaitForEachOther},
	{promise: "no more tasks of a kind run at once than it has workers", test: workersAreALimit},
	{promise: "64 callers lose nothing and no task runs twice at once", test: manyCallers},
	{promise: "a stop waits for what runs and begins nothing more", test: stopIsGraceful},
	{promise: "a stop that loses patience cancels and the task is run again", test: stopCancels, holding: true},
	{promise: "depths count what waits and what is dead", test: depthsCount, holding: true},
	{promise: "a caller whose context has ended hands nothing over silently", test: endedContext},
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
