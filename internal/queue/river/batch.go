package river

import (
	"context"
	"sync"
	"time"

	riverqueue "github.com/riverqueue/river"
)

const (
	// maxBatch keeps a commit, which blocks all other writers, to tens of milliseconds.
	maxBatch      = 128
	insertTimeout = 10 * time.Second
)

// batcher lets concurrent inserts share a commit. The first insert begins at once; those
// that arrive during it form the next batch.
type batcher struct {
	insert func(ctx context.Context, jobs []riverqueue.InsertManyParams) ([]bool, error)

	mu      sync.Mutex
	waiting []*waiter
	// inserting: a goroutine runs that takes the waiting ones.
	inserting bool
}

type waiter struct {
	job riverqueue.InsertManyParams
	// done has room for the result, so that a caller who left blocks nobody.
	done chan result
}

type result struct {
	created bool
	err     error
}

// enqueue inserts a job together with others. The end of ctx ends the wait, not the
// shared insert: the error is Unavailable then, and the job may be inserted or not.
func (b *batcher) enqueue(ctx context.Context, job riverqueue.InsertManyParams) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, unavailable(err, "insert a task")
	}
	w := &waiter{job: job, done: make(chan result, 1)}
	b.mu.Lock()
	b.waiting = append(b.waiting, w)
	if !b.inserting {
		b.inserting = true
		go b.work(context.WithoutCancel(ctx))
	}
	b.mu.Unlock()
	select {
	case r := <-w.done:
		return r.created, r.err
	case <-ctx.Done():
		return false, unavailable(ctx.Err(), "insert a task")
	}
}

// work inserts batches until none waits.
func (b *batcher) work(ctx context.Context) {
	for {
		b.mu.Lock()
		count := min(len(b.waiting), maxBatch)
		batch := b.waiting[:count:count]
		b.waiting = b.waiting[count:]
		b.inserting = count > 0
		b.mu.Unlock()
		if count == 0 {
			return
		}
		b.insertBatch(ctx, batch)
	}
}

func (b *batcher) insertBatch(ctx context.Context, batch []*waiter) {
	ctx, cancel := context.WithTimeout(ctx, insertTimeout)
	defer cancel()
	jobs := make([]riverqueue.InsertManyParams, len(batch))
	for i, w := range batch {
		jobs[i] = w.job
	}
	created, err := b.insert(ctx, jobs)
	if err != nil {
		created = make([]bool, len(batch))
	}
	for i, w := range batch {
		w.done <- result{created[i], err}
	}
}
