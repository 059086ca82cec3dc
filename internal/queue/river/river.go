// Package river is the queue driver of the embedded default: River's jobs in
// the SQLite file of the store.
//
// A task is a job, a kind is a River queue of its own. How the port's states
// map onto River's:
//
//	waiting      available (due, or due within 5 s), scheduled, retryable
//	running      running
//	done         completed; the row and with it the name go after NameKept
//	dead letter  cancelled; kept for ever, and with it the name
//
// River decides nothing about giving up: jobs have practically unlimited
// attempts, and the worker cancels those that queue.GivenUp names.
//
// Durability is the file's: Enqueue returns after its commit. River settles
// finished jobs in batches, up to a quarter of a second later; a process that
// is killed in between runs them again.
package river

import (
	"context"
	"database/sql"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivermigrate"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// Options are what a queue is opened with.
type Options struct {
	// DB is the file's single writer connection (MaxOpenConns 1), opened with
	// WAL and synchronous=FULL. The queue never closes it, and writes to no
	// tables but River's. It must not be used inside a transaction of its own
	// while calling the queue: the two would wait for each other.
	DB *sql.DB
	// Kinds are the kinds that it takes.
	Kinds []string
	// Now is the clock of what the queue itself decides; nil: time.Now.
	// River's own schedule follows the machine's clock.
	Now func() time.Time
	// Rand gives an integer from 0 to n-1, for the waits before another
	// attempt; nil: math/rand.
	Rand func(n int) int
	// Periodic are tasks that it hands over to itself while it is started.
	Periodic []Periodic
	// Log gets what fails; nil: nothing.
	Log *slog.Logger
}

// NameKept is how long the row of a task that ended well, and so its name, is
// kept; longer by up to half a minute.
const NameKept = time.Hour

// Queue is a queue in a SQLite file. It may be used by several goroutines.
type Queue struct {
	db    *sql.DB
	kinds []string
	now   func() time.Time
	rand  func(n int) int
	log   *slog.Logger

	periodic []Periodic

	// inserter takes jobs in and runs none. client is the one to insert with:
	// the running one while started, since it wakes its workers at once.
	inserter *client
	client   atomic.Pointer[client]
	gatherer gatherer
	taken    takenNames

	// lifecycle holds off a Start or Stop while another is under way.
	lifecycle sync.Mutex
	// running is the client that runs tasks, and due the statement that it
	// polls with; guarded by lifecycle.
	running *client
	due     *sql.Stmt
	// stopping: Stop has lost patience and cancelled the handlers.
	stopping atomic.Bool
}

type client = riverqueue.Client[*sql.Tx]

var _ queue.Queue = (*Queue)(nil)

// New opens the queue in a file, and makes or migrates River's tables there.
// Tasks of before are kept; nothing runs until Start. Errors: Invalid (the
// kinds), Unavailable (the file).
func New(ctx context.Context, options Options) (*Queue, error) {
	if err := queue.CheckKinds(options.Kinds); err != nil {
		return nil, err
	}
	q := &Queue{
		db:    options.DB,
		kinds: slices.Sorted(slices.Values(options.Kinds)),
		now:   options.Now,
		rand:  options.Rand,
		log:   options.Log,

		periodic: options.Periodic,
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
	migrator, err := rivermigrate.New(newDriver(q.db), &rivermigrate.Config{Logger: q.riverLog()})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "open the queue")
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, unavailable(err, "make the queue's tables")
	}
	q.inserter, err = riverqueue.NewClient(newDriver(q.db), &riverqueue.Config{
		Logger: q.riverLog(), MaxAttempts: maxAttempts, Hooks: q.hooks(),
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "open the queue")
	}
	q.client.Store(q.inserter)
	q.gatherer.insert = q.insert
	return q, nil
}

// unavailable gives an error of the database or of River its kind: whatever
// they refuse, the caller can only come back later. What was asked for may
// have happened.
func unavailable(err error, doing string) error {
	return fault.Wrap(fault.Unavailable, err, "queue: "+doing)
}
