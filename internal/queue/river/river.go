// Package river is the queue driver of the embedded default: River's jobs in
// the SQLite file of the store.
//
// A task is a job, a kind is a River queue. How the port's states map onto River's:
//
//	waiting      available (due, or due within 5 s), scheduled, retryable
//	running      running
//	done         completed; the row and its name are deleted after NameKept
//	dead letter  cancelled; the row and its name are kept for ever
//
// Jobs have practically unlimited attempts; the worker cancels those that queue.GivenUp
// names. Enqueue returns after its commit. River settles finished jobs in batches, up to
// a quarter of a second later: a process that is killed in between runs them again.
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
	// DB is the file's single writer connection (MaxOpenConns 1), opened with WAL and
	// synchronous=FULL. The queue never closes it, and writes to River's tables alone.
	// Calling the queue inside a transaction on DB deadlocks.
	DB    *sql.DB
	Kinds []string
	// Now is the clock of what the queue itself decides; nil: time.Now. River's
	// schedule follows the machine's clock.
	Now func() time.Time
	// Rand draws an integer from 0 to n-1 for backoffs; nil: math/rand.
	Rand func(n int) int
	// Periodic are tasks that the queue enqueues while it is started.
	Periodic []Periodic
	// Log receives failures; nil: none.
	Log *slog.Logger
}

// NameKept is how long the row of a successful task, and so its name, is kept; up to
// half a minute longer.
const NameKept = time.Hour

// Queue is a queue in a SQLite file. It is safe for concurrent use.
type Queue struct {
	db    *sql.DB
	kinds []string
	now   func() time.Time
	rand  func(n int) int
	log   *slog.Logger

	periodic []Periodic

	// inserter inserts jobs and runs none. client is the one to insert with: the
	// running one while started, since that wakes its workers.
	inserter *client
	client   atomic.Pointer[client]
	batcher  batcher
	names    recentNames

	lifecycle sync.Mutex // held by Start and Stop
	// running runs tasks, and polls with due; guarded by lifecycle.
	running *client
	due     *sql.Stmt
	// stopping: Stop has cancelled the handlers.
	stopping atomic.Bool
}

type client = riverqueue.Client[*sql.Tx]

var _ queue.Queue = (*Queue)(nil)

// New opens the queue in a file, and creates or migrates River's tables there. Errors:
// Invalid (the kinds), Unavailable (the file).
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
	q.batcher.insert = q.insert
	return q, nil
}

// unavailable wraps an error of the database or of River; the call may have taken effect.
func unavailable(err error, doing string) error {
	return fault.Wrap(fault.Unavailable, err, "queue: "+doing)
}
