package river

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"questscheduler/internal/queue"
)

// schedulerTick is how often River's scheduler makes scheduled jobs available.
// It looks that far ahead, too, but a job that is inserted after its look with
// less than a tick to wait would be late by up to a tick.
const schedulerTick = 5 * time.Second

// maxAttempts keeps River from giving up by itself.
const maxAttempts = 1 << 30

// jobArgs is a task as River keeps it.
type jobArgs struct {
	// Key stands for a name in what must be unique, since a name is any bytes
	// and JSON is not; "" for a task without a name.
	Key     string `json:"key,omitempty" river:"unique"`
	Name    []byte `json:"name,omitempty"`
	Payload []byte `json:"payload,omitempty"`
	// retryAfter carries the verdict's wait from Work to NextRetry.
	retryAfter time.Duration
}

// Kind is River's name for the type of args; the port's kinds are queues.
func (jobArgs) Kind() string { return "task" }

// Enqueue inserts the task durably; see queue.Enqueuer. Concurrent calls share
// a transaction, and a lone one waits for nobody. A name that this process has
// met lately is known to be taken, and costs no look into the file.
func (q *Queue) Enqueue(ctx context.Context, task queue.Task) (bool, error) {
	now := q.now()
	if err := queue.Check(task, q.kinds, now); err != nil {
		return false, err
	}
	job, key := toJob(task, now)
	if key == "" {
		return q.gatherer.enqueue(ctx, job)
	}
	if q.taken.has(key) {
		return false, nil
	}
	created, err := q.gatherer.enqueue(ctx, job)
	if err == nil {
		q.taken.add(key)
	}
	return created, err
}

// toJob is the job to insert for a task, and its key; see jobArgs.
func toJob(task queue.Task, now time.Time) (riverqueue.InsertManyParams, string) {
	args := jobArgs{Name: []byte(task.Name), Payload: task.Payload}
	options := &riverqueue.InsertOpts{Queue: task.Kind}
	if task.NotBefore.After(now) {
		options.ScheduledAt = roundUp(task.NotBefore)
	}
	if task.Name != "" {
		sum := sha256.Sum256([]byte(task.Kind + "\x00" + task.Name))
		args.Key = hex.EncodeToString(sum[:])
		// All states: a name is taken for as long as the row is there.
		options.UniqueOpts = riverqueue.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()}
	}
	return riverqueue.InsertManyParams{Args: args, InsertOpts: options}, args.Key
}

// roundUp makes a time one that River keeps, which rounds to milliseconds, but
// never an earlier one.
func roundUp(t time.Time) time.Time {
	if cut := t.Truncate(time.Millisecond); cut.Before(t) {
		return cut.Add(time.Millisecond)
	}
	return t
}

// hooks are what River calls before it inserts.
func (q *Queue) hooks() []rivertype.Hook { return []rivertype.Hook{&soonHook{now: q.now}} }

// soonHook makes jobs available at once that are due within a tick of River's
// scheduler. They still run no earlier than asked: what fetches jobs compares
// the time, so this costs no idle first run and no wait for the scheduler.
type soonHook struct {
	riverqueue.HookDefaults
	now func() time.Time
}

// InsertBegin changes the job that is about to be inserted.
func (h *soonHook) InsertBegin(_ context.Context, job *rivertype.JobInsertParams) error {
	if job.State == rivertype.JobStateScheduled && !job.ScheduledAt.After(h.now().Add(schedulerTick)) {
		job.State = rivertype.JobStateAvailable
	}
	return nil
}

// insert inserts a batch in one transaction and tells which were created.
func (q *Queue) insert(ctx context.Context, jobs []riverqueue.InsertManyParams) ([]bool, error) {
	results, err := q.client.Load().InsertMany(ctx, jobs)
	if err != nil {
		return nil, unavailable(err, "insert a task")
	}
	created := make([]bool, len(results))
	seen := make(map[int64]bool, len(results))
	for i, result := range results {
		// Of two tasks of one name in one batch, River calls both created.
		created[i] = !result.UniqueSkippedAsDuplicate && !seen[result.Job.ID]
		seen[result.Job.ID] = true
	}
	return created, nil
}
