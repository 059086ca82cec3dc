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
	// turnPatience is how long a task waits for a worker before it is put off.
	turnPatience = 5 * time.Second
	// refusedFor is when a task is to come again that was not begun.
	refusedFor = time.Second
)

// answer is what Cloud Tasks is to be answered.
type answer struct {
	status int
	after  time.Duration // until the task is to come again
}

var ended = answer{status: http.StatusOK}

func again(status int, after time.Duration) answer { return answer{status: status, after: after} }

// Deliver runs a task that Cloud Tasks sent, whose sender has been verified, and
// gives the status that it is to be answered: 200 once the task is done, its
// successor is handed over or its dead letter is kept; 429 or 503 where it has to
// come again, and then how long after. It takes as long as its handler, and a
// turn's wait more; ctx's end does not stop the handler, since who waits for the
// answer is not who waits for the work.
func (q *Queue) Deliver(ctx context.Context, kind string, header http.Header, body []byte) (status int, retryAfter time.Duration) {
	a := q.deliver(ctx, kind, header, body)
	return a.status, a.after
}

func (q *Queue) deliver(ctx context.Context, kind string, header http.Header, body []byte) answer {
	h, retries := q.handedFrom(kind, header, body)
	attempt := h.attempts + retries + 1
	if !slices.Contains(q.with.Kinds, kind) { // of a version that had it
		return q.bury(ctx, h, attempt, errors.New("there is no handler for the kind"))
	}
	if h.NotBefore.After(q.with.Now()) { // Cloud Tasks' clock is ahead of ours, or its limit was nearer
		return q.handOn(ctx, h.next(attempt-1, h.NotBefore))
	}
	s := q.begin()
	if s == nil {
		return again(http.StatusServiceUnavailable, refusedFor)
	}
	defer s.end()
	if !s.take(ctx, kind) {
		return again(http.StatusTooManyRequests, refusedFor)
	}
	defer s.giveBack(kind)
	delivery := queue.Delivery{Kind: kind, Name: h.Name, Payload: body, Attempt: attempt}
	verdict := queue.Invoke(s.ctx, s.handlers[kind], delivery)
	verdict = verdict.Final(attempt, q.with.Now().Sub(h.since), s.ctx.Err() != nil)
	queue.LogVerdict(s.ctx, q.with.Log, delivery, verdict)
	return q.settle(ctx, h, attempt, verdict)
}

// settle makes an answer of a verdict.
func (q *Queue) settle(ctx context.Context, h handed, attempt int, verdict queue.Verdict) answer {
	switch verdict.Outcome {
	case queue.Done:
		return ended
	case queue.Later:
		return q.handOn(ctx, h.next(attempt-1, q.with.Now().Add(verdict.After)))
	case queue.Permanent:
		return q.bury(ctx, h, attempt, verdict.Err)
	}
	after := verdict.After
	if after == 0 {
		after = queue.Backoff(attempt, q.with.Rand)
	}
	if after > queue.BackoffMax { // the queue itself waits no longer
		return q.handOn(ctx, h.next(attempt, q.with.Now().Add(after)))
	}
	if fault.Is(verdict.Err, fault.RateLimited) || fault.Is(verdict.Err, fault.Exhausted) {
		return again(http.StatusTooManyRequests, after)
	}
	return again(http.StatusServiceUnavailable, after)
}

// handOn hands a task's successor over. One that is there already was handed
// over when the task was delivered before.
func (q *Queue) handOn(ctx context.Context, next handed) answer {
	if _, err := q.create(context.WithoutCancel(ctx), next); err != nil {
		q.with.Log.WarnContext(ctx, "queue: a task could not be put off, and comes again at once", "kind", next.Kind, "error", err)
		return again(http.StatusServiceUnavailable, queue.BackoffMin)
	}
	return ended
}

// bury keeps a task as a dead letter.
func (q *Queue) bury(ctx context.Context, h handed, attempt int, why error) answer {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), callPatience)
	defer cancel()
	if err := q.keep(patient, h, attempt, queue.Reason(why)); err != nil {
		q.with.Log.WarnContext(ctx, "queue: a dead letter could not be kept, and its task comes again", "kind", h.Kind, "error", err)
		return again(http.StatusServiceUnavailable, queue.BackoffMin)
	}
	return ended
}
