// Package queue is a small port for work to be done later, at least once.
//
// A task has a kind, and each kind is a queue of its own, so that calls that
// hang in one hold up none of the others. Drivers: internal/queue/river (embedded
// default), internal/queue/cloudtasks (production) and, for tests,
// internal/test/memoryqueue. All pass one suite, internal/test/queuetest.
//
// What every driver promises:
//
//   - A task whose Enqueue returned nil is run until a handler answers Done or
//     Permanent for it, through crashes and restarts of the process where the
//     driver keeps a file. It may run more than once: handlers are idempotent.
//   - No order among tasks, and a task may run later than asked, never earlier.
//   - A name that is taken refuses a second task; it is freed at any time
//     after its task ended, or never. Consumers lean on neither: their names
//     carry a generation.
//
// Transactions write store documents only. Enqueueing follows the commit; what
// was committed and not enqueued is found again by the drain.
package queue

import (
	"context"
	"time"
)

// MaxPayload is the largest payload of a task, in bytes (Cloud Tasks takes
// 100 KB with headers).
const MaxPayload = 90 << 10

// MaxAhead is how far ahead a task's NotBefore may lie (Cloud Tasks' limit).
const MaxAhead = 30 * 24 * time.Hour

// Task is a piece of work to hand over.
type Task struct {
	// Kind chooses the queue and the handler, such as "look".
	Kind string
	// Name refuses a second task of this kind and name while it is taken; ""
	// is no name. At most 400 bytes of any text: drivers hash it.
	Name string
	// Payload is what the handler gets, at most MaxPayload bytes.
	Payload []byte
	// NotBefore is the earliest time to run it; zero: at once.
	NotBefore time.Time
}

// Delivery is a task as a handler meets it.
type Delivery struct {
	Kind    string
	Name    string
	Payload []byte
	// Attempt counts from 1. Runs that ended in a Later verdict do not count.
	Attempt int
}

// Outcome is what becomes of a task after a run.
type Outcome uint8

// The outcomes. Retry is the zero value, so a handler that says nothing loses
// nothing.
const (
	// Retry runs the task again after Verdict.After, or after the driver's
	// backoff where that is zero. It counts as an attempt.
	Retry Outcome = iota
	// Done ends the task.
	Done
	// Later runs the task again after Verdict.After and counts no attempt: it
	// did not fail, it was not yet its turn.
	Later
	// Permanent ends the task as a dead letter, kept until a person acts.
	Permanent
)

// Verdict is a handler's answer.
type Verdict struct {
	Outcome Outcome
	// After is how long to wait, for Retry and Later, at most MaxAhead.
	After time.Duration
	// Err says why, for logs and the dead letter; nil for Done and Later. Its
	// text must hold no secret.
	Err error
}

// Handler runs one task. It must return when ctx ends; drivers give it 60 s.
type Handler func(ctx context.Context, delivery Delivery) Verdict

// Enqueuer is what those need who hand work over.
type Enqueuer interface {
	// Enqueue hands a task over; nil means that it will run. A task whose name
	// is taken is not handed over and created is false, without an error.
	// Errors: Invalid (kind unknown, payload or name too large, too far
	// ahead), Unavailable (the task may have been taken or not).
	Enqueue(ctx context.Context, task Task) (created bool, err error)
}

// Config is what a driver runs with.
type Config struct {
	// Handlers by kind. A task of another kind is refused by Enqueue.
	Handlers map[string]Handler
	// Workers is how many tasks of a kind run at the same time, at least 1;
	// kinds that are not named get 4.
	Workers map[string]int
}

// DeadLetter is a task that ended Permanent, or whose attempts were used up.
type DeadLetter struct {
	// ID names it for Retry.
	ID      string
	Kind    string
	Name    string
	Payload []byte
	// Reason is the text of the verdict's error.
	Reason  string
	Attempt int
	At      time.Time
}

// Depth is the state of one kind's queue.
type Depth struct {
	Kind string
	// Waiting counts tasks that are due or will be.
	Waiting int
	// Oldest is when the longest waiting due task became due; zero: none.
	Oldest time.Time
	// Dead counts dead letters.
	Dead int
}

// Queue is a driver.
type Queue interface {
	Enqueuer
	// Start begins to run tasks and returns; tasks handed over before are
	// kept. Work that a dead process of the same file left half done is begun
	// again at once. The handlers get what ctx carries, but its end does not
	// stop them: Stop does. Errors: Invalid (see CheckConfig), Conflict
	// (started already), Unavailable.
	Start(ctx context.Context, config Config) error
	// Stop begins no further task, waits for those that run until ctx ends,
	// and then cancels them; they will be run again, and that run counts no
	// attempt. Enqueue goes on taking tasks in, for the next Start. A queue
	// that is not started is stopped already. The error is Unavailable where a
	// handler ignores the end of its context.
	Stop(ctx context.Context) error
	// DeadLetters lists what ended without success, newest first, at most limit.
	DeadLetters(ctx context.Context, limit int) ([]DeadLetter, error)
	// Retry puts a dead letter back to work, due at once and as if it had just
	// been handed over: attempts and age count anew. NotFound where there is
	// none.
	Retry(ctx context.Context, id string) error
	// Depths tells the state of each kind's queue, in the order of the kinds'
	// names.
	Depths(ctx context.Context) ([]Depth, error)
}
