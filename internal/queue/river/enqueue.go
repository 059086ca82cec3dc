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

// schedulerTick is the interval at which River's scheduler makes scheduled jobs available,
// and how far ahead it reads. A job inserted between two ticks would be late by up to a tick.
const schedulerTick = 5 * time.Second

// maxAttempts keeps River from giving jobs up; see queue.GivenUp.
const maxAttempts = 1 << 30

// jobArgs is a task as River keeps it.
type jobArgs struct {
	// Key is the hash of kind and name that River keeps unique, since a name is any
	// bytes and JSON is not; "" for a task without a name.
	Key     string `json:"key,omitempty" river:"unique"`
	Name    []byte `json:"name,omitempty"`
	Payload []byte `json:"payload,omitempty"`
	// retryAfter carries the verdict's wait from Work to NextRetry.
	retryAfter time.Duration
}

// Kind names the type of args for River; the port's kinds are queues.
func (jobArgs) Kind() string { return "task" }

// Enqueue implements queue.Enqueuer and returns after the commit. Concurrent calls share
// a transaction. A name that this process enqueued lately costs no access to the file.
func (q *Queue) Enqueue(ctx context.Context, task queue.Task) (bool, error) {
	now := q.now()
	if err := queue.Check(task, q.kinds, now); err != nil {
		return false, err
	}
	job, key := toJob(task, now)
	if key == "" {
		return q.batcher.enqueue(ctx, job)
	}
	if q.names.has(key) {
		return false, nil
	}
	created, err := q.batcher.enqueue(ctx, job)
	if err == nil {
		q.names.add(key)
	}
	return created, err
}

func toJob(task queue.Task, now time.Time) (riverqueue.InsertManyParams, string) {
	args := jobArgs{Name: []byte(task.Name), Payload: task.Payload}
	options := &riverqueue.InsertOpts{Queue: task.Kind}
	if task.NotBefore.After(now) {
		options.ScheduledAt = roundUp(task.NotBefore)
	}
	if task.Name != "" {
		sum := sha256.Sum256([]byte(task.Kind + "\x00" + task.Name))
		args.Key = hex.EncodeToString(sum[:])
		// In every state: a name is taken while its row exists.
		options.UniqueOpts = riverqueue.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()}
	}
	return riverqueue.InsertManyParams{Args: args, InsertOpts: options}, args.Key
}

// roundUp rounds to milliseconds, as River stores times, but never down.
func roundUp(t time.Time) time.Time {
	if cut := t.Truncate(time.Millisecond); cut.Before(t) {
		return cut.Add(time.Millisecond)
	}
	return t
}

func (q *Queue) hooks() []rivertype.Hook { return []rivertype.Hook{&soonHook{now: q.now}} }

// soonHook inserts jobs that are due within a schedulerTick as available, so that they
// do not wait for River's scheduler. They run no earlier: fetching compares the time.
type soonHook struct {
	riverqueue.HookDefaults
	now func() time.Time
}

// InsertBegin implements rivertype.HookInsertBegin.
func (h *soonHook) InsertBegin(_ context.Context, job *rivertype.JobInsertParams) error {
	if job.State == rivertype.JobStateScheduled && !job.ScheduledAt.After(h.now().Add(schedulerTick)) {
		job.State = rivertype.JobStateAvailable
	}
	return nil
}

// insert inserts a batch in one transaction and returns which jobs were created.
func (q *Queue) insert(ctx context.Context, jobs []riverqueue.InsertManyParams) ([]bool, error) {
	results, err := q.client.Load().InsertMany(ctx, jobs)
	if err != nil {
		return nil, unavailable(err, "insert a task")
	}
	created := make([]bool, len(results))
	inserted := make(map[int64]bool, len(results))
	for i, result := range results {
		// Of two tasks of one name in one batch, River calls both created.
		created[i] = !result.UniqueSkippedAsDuplicate && !inserted[result.Job.ID]
		inserted[result.Job.ID] = true
	}
	return created, nil
}
