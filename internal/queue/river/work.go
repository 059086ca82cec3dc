package river

import (
	"context"
	"errors"
	"time"

	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"questscheduler/internal/queue"
)

// worker runs the jobs of all kinds.
type worker struct {
	riverqueue.WorkerDefaults[jobArgs]
	queue    *Queue
	handlers map[string]queue.Handler
}

// retryError makes River retry a job, and store the reason.
type retryError struct{ reason string }

func (e *retryError) Error() string { return e.reason }

// permanentError makes River cancel a job, through errorHandler.
type permanentError struct{ reason string }

func (e *permanentError) Error() string { return e.reason }

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, job *riverqueue.Job[jobArgs]) error {
	delivery := queue.Delivery{
		Kind: job.Queue, Name: string(job.Args.Name), Payload: job.Args.Payload, Attempt: job.Attempt,
	}
	verdict := queue.Invoke(ctx, w.handlers[job.Queue], delivery)
	verdict = verdict.Final(job.Attempt, w.queue.now().Sub(since(job.JobRow)), w.queue.stopping.Load())
	queue.LogVerdict(ctx, w.queue.log, delivery, verdict)
	switch verdict.Outcome {
	case queue.Done:
		return nil
	case queue.Later:
		return riverqueue.JobSnooze(verdict.After)
	case queue.Permanent:
		return &permanentError{queue.Reason(verdict.Err)}
	}
	job.Args.retryAfter = verdict.After
	if verdict.After == 0 {
		job.Args.retryAfter = queue.Backoff(job.Attempt, w.queue.rand)
	}
	return &retryError{queue.Reason(verdict.Err)}
}

// NextRetry implements river.Worker.
func (w *worker) NextRetry(job *riverqueue.Job[jobArgs]) time.Time {
	return time.Now().UTC().Add(job.Args.retryAfter)
}

type errorHandler struct{}

// HandleError cancels jobs that end as dead letters.
func (errorHandler) HandleError(_ context.Context, _ *rivertype.JobRow, err error) *riverqueue.ErrorHandlerResult {
	_, permanent := errors.AsType[*permanentError](err)
	return &riverqueue.ErrorHandlerResult{SetCancelled: permanent}
}

// HandlePanic is never called for a handler's panic, which Invoke recovers.
func (errorHandler) HandlePanic(context.Context, *rivertype.JobRow, any, string) *riverqueue.ErrorHandlerResult {
	return nil
}
