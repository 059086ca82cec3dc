// Package memoryqueue is a queue driver for tests that keeps its tasks in memory.
//
// Start runs a worker loop. Without it nothing runs: the deterministic simulation lists
// due tasks (Due, Next), takes one (Take) and settles its run (Run.Settle), and injects
// what real queues do: Run.Lose, Duplicate, Delay and Crash. Stepping starts no goroutine,
// reads no clock but Options.Now and draws from Options.Rand alone, so that one seed gives
// one history.
//
// A queue keeps its tasks after Crash: it stands for a service, or a file, that outlives
// the process.
package memoryqueue

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// Options are what a queue is opened with.
type Options struct {
	// Kinds are the kinds that it takes.
	Kinds []string
	// Now is the clock; nil: time.Now. The worker loop waits on real timers, so a
	// stopped clock is for stepping alone.
	Now func() time.Time
	// Rand draws an integer from 0 to n-1: for each backoff, and for each named task
	// that ends, whether its name is freed at once, within a day or never. It is called
	// with the queue locked and must not call the queue. nil: backoffs are drawn from
	// math/rand, and a name is freed after NameKept.
	Rand func(n int) int
	// Log receives failures; nil: none.
	Log *slog.Logger
}

// NameKept is how long the name of an ended task stays taken where Options has
// no Rand.
const NameKept = time.Hour

// Queue is a queue in memory. It is safe for concurrent use. Call New.
type Queue struct {
	kinds []string
	now   func() time.Time
	rand  func(n int) int
	log   *slog.Logger

	mu sync.Mutex
	// tasks holds what has not ended and what ended as a dead letter, by id.
	tasks  map[string]*task
	lastID int
	names  names
	// loop is the worker loop while the queue is started, else nil.
	loop *loop
}

var _ queue.Queue = (*Queue)(nil)

// state is that of a task.
type state uint8

const (
	waiting state = iota
	running
	dead
	// gone: it was done, and only runs that are over still point at it.
	gone
)

type task struct {
	queue.Task
	id string
	// number orders tasks that are due at the same time by their arrival.
	number int
	state  state
	due    time.Time
	// since is when it was enqueued or its dead letter retried.
	since   time.Time
	attempt int
	// runs counts its runs, Later ones too, so that each has a number.
	runs int
	// extra marks a Duplicate: it holds no name, and its verdict is ignored.
	extra  bool
	reason string
	ended  time.Time
}

// New opens an empty queue. The error is Invalid: the kinds.
func New(options Options) (*Queue, error) {
	if err := queue.CheckKinds(options.Kinds); err != nil {
		return nil, err
	}
	q := &Queue{
		kinds: slices.Sorted(slices.Values(options.Kinds)),
		now:   options.Now,
		rand:  options.Rand,
		log:   options.Log,
		tasks: map[string]*task{},
		names: names{rand: options.Rand, taken: map[nameKey]*taken{}},
	}
	if q.now == nil {
		q.now = time.Now
	}
	if q.rand == nil {
		q.rand = rand.IntN
	}
	if q.log == nil {
		q.log = slog.New(slog.DiscardHandler)
	}
	return q, nil
}

// Enqueue implements queue.Enqueuer. It is never Unavailable.
func (q *Queue) Enqueue(_ context.Context, handed queue.Task) (bool, error) {
	now := q.now()
	if err := queue.Check(handed, q.kinds, now); err != nil {
		return false, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.names.free(handed, now) {
		return false, nil
	}
	handed.Payload = slices.Clone(handed.Payload)
	added := q.add(handed, later(now, handed.NotBefore), now)
	q.names.take(added)
	q.loop.wake()
	return true, nil
}

// add makes a waiting task; the caller holds mu.
func (q *Queue) add(handed queue.Task, due, now time.Time) *task {
	q.lastID++
	added := &task{
		Task: handed, id: strconv.Itoa(q.lastID), number: q.lastID,
		state: waiting, due: due, since: now,
	}
	q.tasks[added.id] = added
	return added
}

// DeadLetters implements queue.Queue.
func (q *Queue) DeadLetters(_ context.Context, limit int) ([]queue.DeadLetter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ended := q.inState(dead)
	slices.SortFunc(ended, func(a, b *task) int {
		return cmp.Or(b.ended.Compare(a.ended), cmp.Compare(b.number, a.number))
	})
	letters := []queue.DeadLetter{}
	for _, t := range ended[:min(len(ended), max(limit, 0))] {
		letters = append(letters, queue.DeadLetter{
			ID: t.id, Kind: t.Kind, Name: t.Name, Payload: slices.Clone(t.Payload),
			Reason: t.reason, Attempt: t.attempt, At: t.ended,
		})
	}
	return letters, nil
}

// Retry implements queue.Queue.
func (q *Queue) Retry(_ context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.tasks[id]
	if t == nil || t.state != dead {
		return fault.New(fault.NotFound, "there is no such dead letter; list them again")
	}
	now := q.now()
	t.state, t.due, t.since, t.attempt = waiting, now, now, 0
	q.loop.wake()
	return nil
}

// Depths implements queue.Queue.
func (q *Queue) Depths(context.Context) ([]queue.Depth, error) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	depths := make([]queue.Depth, len(q.kinds))
	for i, kind := range q.kinds {
		depths[i].Kind = kind
	}
	for _, t := range q.tasks {
		depth := &depths[slices.Index(q.kinds, t.Kind)]
		switch t.state {
		case dead:
			depth.Dead++
		case waiting:
			depth.Waiting++
			if !t.due.After(now) && (depth.Oldest.IsZero() || t.due.Before(depth.Oldest)) {
				depth.Oldest = t.due
			}
		}
	}
	return depths, nil
}

// inState lists the tasks in a state, those due first first; the caller holds
// mu.
func (q *Queue) inState(wanted state) []*task {
	var found []*task
	for _, t := range q.tasks {
		if t.state == wanted {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *task) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.number, b.number))
	})
	return found
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
