package cloudtasks

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// workerPatience is how long a delivery waits for a worker.
	workerPatience = 5 * time.Second
	// refusedFor is the Retry-After of a delivery that was not begun.
	refusedFor = time.Second
)

// MostWait is the longest wait before a task comes again for a store that did not answer: that
// of the queues (deploy/queues.txt).
const MostWait = 10 * time.Minute

// Deliver runs the entry of a task that Cloud Tasks sent, whose sender has been verified, and
// returns the answer to Cloud Tasks: 200 where nothing is left to do by this task, otherwise
// 429 or 503 and the wait before the next attempt. It takes as long as a run and
// workerPatience; a handler that takes longer than Cloud Tasks waits loses its worker to others.
// The end of ctx, which is the request's, does not stop the run.
func (w *Waker) Deliver(ctx context.Context, kind string, header http.Header, body []byte) (status int, retryAfter time.Duration) {
	s := w.join()
	if s == nil {
		return http.StatusServiceUnavailable, refusedFor
	}
	defer s.running.Done()
	if s.workers[kind] == nil { // enqueued by another version, whose drain has what is recorded
		w.work.Log.WarnContext(ctx, "task of an unknown kind ended", "kind", kind)
		return http.StatusOK, 0
	}
	if !s.acquire(ctx, kind) {
		return http.StatusTooManyRequests, refusedFor
	}
	release := sync.OnceFunc(func() { s.release(kind) })
	defer release()
	watchdog := time.AfterFunc(w.dispatchDeadline(kind), func() { // Cloud Tasks sends the task again
		w.work.Log.ErrorContext(s.ctx, "a run ignores the end of its time", "kind", kind, "id", string(body))
		w.work.GiveUp(kind, string(body))
		release()
	})
	defer watchdog.Stop()
	again, err := w.work.Run(s.ctx, kind, string(body))
	if err != nil {
		return http.StatusServiceUnavailable, backoff(header.Get(headerRetries))
	}
	if again.IsZero() {
		return http.StatusOK, 0
	}
	if err := w.succeed(ctx, kind, string(body), header, again); err != nil {
		w.work.Log.WarnContext(ctx, "task could not be put off and comes again at once", "kind", kind, "error", err)
		return http.StatusServiceUnavailable, refusedFor
	}
	return http.StatusOK, 0
}

// backoff is the wait after an attempt of a task that had so many before: it doubles with each.
func backoff(retries string) time.Duration {
	earlier, err := strconv.ParseUint(retries, 10, 31)
	if err != nil { // Cloud Tasks sends a number; a delivery by hand may have none
		return refusedFor
	}
	return min(refusedFor<<min(earlier, 20), MostWait)
}
