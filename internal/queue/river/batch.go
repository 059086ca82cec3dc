package river

import (
	"context"
	"sync"
	"time"

	riverqueue "github.com/riverqueue/river"
)

const (
	// maxBatch bounds a batch, so that one commit stays a matter of tens of
	// milliseconds for everybody else who writes to the file.
	maxBatch = 128
	// insertTimeout bounds one batch's insert.
	insertTimeout = 10 * time.Second
)

// gatherer lets concurrent inserts share a commit, which is what they cost.
// The first caller's insert begins at once; those who come while it runs
// gather, and the next batch takes them all. Nobody waits for company.
type gatherer struct {
	insert func(ctx context.Context, jobs []riverqueue.InsertManyParams) ([]bool, error)

	mu      sync.Mutex
	waiting []*waiter
	// inserting: a goroutine is at it, and will take who waits.
	inserting bool
}

type waiter struct {
	job riverqueue.InsertManyParams
	// done gets the result; it holds one, so that nobody waits for a caller
	// who has gone.
	done chan result
}

type result struct {
	created bool
	err     error
}

// enqueue inserts a job with whatever else is to be inserted. The insert does
// not end with ctx, since others share it: then the error is Unavailable, and
// the job may be inserted or not.
func (g *gatherer) enqueue(ctx context.Context, job riverqueue.InsertManyParams) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, unavailable(err, "insert a task")
	}
	w := &waiter{job: job, done: make(chan result, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	begin := !g.inserting
	g.inserting = true
	g.mu.Unlock()
	if begin {
		go g.work(context.WithoutCancel(ctx))
	}
	select {
	case r := <-w.done:
		return r.created, r.err
	case <-ctx.Done():
		return false, unavailable(ctx.Err(), "insert a task")
	}
}

// work inserts batches until nobody waits.
func (g *gatherer) work(ctx context.Context) {
	for {
		g.mu.Lock()
		batch := g.waiting
		g.waiting = nil
		if len(batch) > maxBatch {
			batch, g.waiting = batch[:maxBatch:maxBatch], batch[maxBatch:]
		}
		g.inserting = len(batch) > 0
		g.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		g.insertBatch(ctx, batch)
	}
}

func (g *gatherer) insertBatch(ctx context.Context, batch []*waiter) {
	ctx, cancel := context.WithTimeout(ctx, insertTimeout)
	defer cancel()
	jobs := make([]riverqueue.InsertManyParams, len(batch))
	for i, w := range batch {
		jobs[i] = w.job
	}
	created, err := g.insert(ctx, jobs)
	for i, w := range batch {
		if err != nil {
			w.done <- result{err: err}
			continue
		}
		w.done <- result{created: created[i]}
	}
}
