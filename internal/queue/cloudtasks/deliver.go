package cloudtasks

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// MaxBody is the largest body of a task, in bytes.
const MaxBody = queue.MaxPayload

const (
	// workerPatience is how long a delivery waits for a worker.
	workerPatience = 5 * time.Second
	// refusedFor is the Retry-After of a delivery that was not begun.
	refusedFor = time.Second
)

// Deliver runs a task that Cloud Tasks sent, whose sender has been verified, and
// returns the answer to Cloud Tasks: 200 once the task is done, its successor is
// enqueued or its dead letter is stored; otherwise 429 or 503 and the wait before
// the next attempt. It takes as long as the handler and workerPatience. The end of
// ctx, which is the request's, does not stop the handler.
func (q *Queue) Deliver(ctx context.Context, kind string, header http.Header, body []byte) (status int, retryAfter time.Duration) {
	e, retries := q.receive(kind, header, body)
	attempt := e.attempts + retries + 1
	if !slices.Contains(q.with.Kinds, kind) { // enqueued by another version
		return q.endDead(ctx, e, attempt, errors.New("there is no handler for the kind"))
	}
	if e.NotBefore.After(q.with.Now()) { // the clocks differ, or NotBefore was beyond Cloud Tasks' limit
		return q.postpone(ctx, e.successor(attempt-1, e.NotBefore))
	}
	s := q.join()
	if s == nil {
		return http.StatusServiceUnavailable, refusedFor
	}
	defer s.running.Done()
	if !s.acquire(ctx, kind) {
		return http.StatusTooManyRequests, refusedFor
	}
	defer s.release(kind)
	delivery := queue.Delivery{Kind: kind, Name: e.Name, Payload: body, Attempt: attempt}
	verdict := queue.Invoke(s.ctx, s.handlers[kind], delivery)
	verdict = verdict.Final(attempt, q.with.Now().Sub(e.since), s.ctx.Err() != nil)
	queue.LogVerdict(s.ctx, q.with.Log, delivery, verdict)
	return q.settle(ctx, e, attempt, verdict)
}

func (q *Queue) settle(ctx context.Context, e envelope, attempt int, verdict queue.Verdict) (status int, retryAfter time.Duration) {
	switch verdict.Outcome {
	case queue.Done:
		return http.StatusOK, 0
	case queue.Later:
		return q.postpone(ctx, e.successor(attempt-1, q.with.Now().Add(verdict.After)))
	case queue.Permanent:
		return q.endDead(ctx, e, attempt, verdict.Err)
	}
	after := verdict.After
	if after == 0 {
		after = queue.Backoff(attempt, q.with.Rand)
	}
	if after > queue.BackoffMax { // longer than the queue itself waits
		return q.postpone(ctx, e.successor(attempt, q.with.Now().Add(after)))
	}
	if fault.Is(verdict.Err, fault.RateLimited) || fault.Is(verdict.Err, fault.Exhausted) {
		return http.StatusTooManyRequests, after
	}
	return http.StatusServiceUnavailable, after
}

// postpone enqueues a task's successor. One that exists was enqueued by an earlier
// delivery of the same task.
func (q *Queue) postpone(ctx context.Context, next envelope) (status int, retryAfter time.Duration) {
	if _, err := q.create(context.WithoutCancel(ctx), next); err != nil {
		q.with.Log.WarnContext(ctx, "queue: a task could not be put off, and comes again at once", "kind", next.Kind, "error", err)
		return http.StatusServiceUnavailable, queue.BackoffMin
	}
	return http.StatusOK, 0
}

func (q *Queue) endDead(ctx context.Context, e envelope, attempt int, why error) (status int, retryAfter time.Duration) {
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if err := q.saveDead(saving, e, attempt, queue.Reason(why)); err != nil {
		q.with.Log.WarnContext(ctx, "queue: a dead letter could not be kept, and its task comes again", "kind", e.Kind, "error", err)
		return http.StatusServiceUnavailable, queue.BackoffMin
	}
	return http.StatusOK, 0
}
