// Package queue is a small port for work to be done later, at least once.
//
// Each kind of task has a queue of its own, so that calls that hang in one block none of
// the others. Drivers: internal/queue/river (embedded default), internal/queue/cloudtasks
// (production) and, for tests, internal/test/memoryqueue. All pass one suite,
// internal/test/queuetest.
//
// What every driver promises:
//
//   - A task whose Enqueue returned nil runs until a handler answers Done or
//     Permanent, through crashes and restarts of the process where the driver keeps
//     a file. It may run more than once: handlers are idempotent.
//   - Tasks have no order. A task may run later than asked, never earlier.
//   - A taken name refuses a second task. It is freed at any time after its task
//     ended, or never; consumers rely on neither, their names carry a generation.
//
// Transactions write store documents only. Enqueueing follows the commit; the drain
// finds the work that was committed but not enqueued.
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

// Task is work to be done later.
type Task struct {
	// Kind chooses the queue and the handler, such as "look".
	Kind string
	// Name is unique within its kind while it is taken; "" is no name. At most
	// MaxName bytes of any text: drivers hash it.
	Name string
	// Payload is for the handler, at most MaxPayload bytes.
	Payload []byte
	// NotBefore is the earliest time to run it; zero: at once.
	NotBefore time.Time
}

// Delivery is a task as its handler receives it.
type Delivery struct {
	Kind    string
	Name    string
	Payload []byte
	// Attempt counts from 1. Runs that ended in a Later verdict do not count.
	Attempt int
}

// Outcome says what happens to a task after a run.
type Outcome uint8

// The outcomes. Retry is the zero value, so that an empty verdict loses nothing.
const (
	// Retry runs the task again after Verdict.After, or after the driver's
	// backoff where that is zero. It counts as an attempt.
	Retry Outcome = iota
	// Done ends the task.
	Done
	// Later runs the task again after Verdict.After and counts no attempt.
	Later
	// Permanent ends the task as a dead letter, kept until a person acts.
	Permanent
)

// Verdict is a handler's answer.
type Verdict struct {
	Outcome Outcome
	// After is how long to wait, for Retry and Later, at most MaxAhead.
	After time.Duration
	// Err says why, for logs and the dead letter; its text must hold no secret. It is
	// nil for Done and Later.
	Err error
}

// Handler runs one task. It must return when ctx ends; drivers give it 60 s.
type Handler func(ctx context.Context, delivery Delivery) Verdict

// Enqueuer takes tasks.
type Enqueuer interface {
	// Enqueue adds a task; nil means that it will run. Where the name is taken,
	// created is false and the error nil. Errors: Invalid (see Check), Unavailable
	// (the task may have been added or not).
	Enqueue(ctx context.Context, task Task) (created bool, err error)
}

// Config is what a driver runs with; see CheckConfig.
type Config struct {
	// Handlers by kind.
	Handlers map[string]Handler
	// Workers is how many tasks of a kind run at the same time; DefaultWorkers for
	// kinds that it does not name.
	Workers map[string]int
}

// DeadLetter is a task that ended Permanent, or whose attempts were used up.
type DeadLetter struct {
	ID      string // for Retry
	Kind    string
	Name    string
	Payload []byte
	Reason  string // of the last verdict
	Attempt int
	At      time.Time
}

// Depth is the state of one kind's queue.
type Depth struct {
	Kind string
	// Waiting counts tasks that are due or will be.
	Waiting int
	// Oldest is when the task that is due longest became due; zero: none is due.
	Oldest time.Time
	// Dead counts dead letters.
	Dead int
}

// Queue is a driver.
type Queue interface {
	Enqueuer
	// Start begins to run tasks and returns. Tasks that a dead process of the same
	// file was running are run again at once. Handlers get ctx's values, not its end:
	// Stop ends them. Errors: Invalid (see CheckConfig), Conflict (already started),
	// Unavailable.
	Start(ctx context.Context, config Config) error
	// Stop begins no further task, waits for running ones until ctx ends, and then
	// cancels them: they run again after the next Start, and the cancelled run counts
	// no attempt. Enqueue goes on working. Stopping a stopped queue does nothing. The
	// error is Unavailable where a handler ignores the end of its context.
	Stop(ctx context.Context) error
	// DeadLetters lists dead letters, newest first, at most limit.
	DeadLetters(ctx context.Context, limit int) ([]DeadLetter, error)
	// Retry makes a dead letter due at once, with attempts and age counted anew;
	// NotFound where there is none of that id.
	Retry(ctx context.Context, id string) error
	// Depths returns the state of each kind's queue, sorted by kind.
	Depths(ctx context.Context) ([]Depth, error)
}
