package timers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Kind is the kind of the tasks that run jobs.
const Kind = "timer"

const (
	// stretch is how long a task works on its run before it comes back later: far
	// less than the time limits of a task (60 s) and of a shutdown.
	stretch = 5 * time.Second
	// retries is how often a failing step is repeated, until the next period.
	retries = 3
	// trigger is what makes runs, except those of a person.
	trigger = "timer"
)

// task is the payload of a task: a run of a job, or with Job "" a tick.
type task struct {
	Job   string    `json:"job,omitempty"`
	Due   time.Time `json:"due,omitzero"`
	Trace string    `json:"trace,omitempty"`
}

// TickTask is the task of a Tick, for a queue that repeats it every minute.
func TickTask() queue.Task { return queue.Task{Kind: Kind, Payload: []byte("{}")} }

// Tick hands over a run of each job that is due. Repeating it is harmless.
func (t *Timers) Tick(ctx context.Context) error {
	records, err := t.Records(ctx)
	if err != nil {
		return fmt.Errorf("timers: %w", err)
	}
	now := t.Now()
	var failures []error
	for i, job := range t.Jobs {
		if due := job.due(now, t.Started); records[i].Due.Before(due) {
			failures = append(failures, t.handOver(ctx, job.Name, due))
		}
	}
	return errors.Join(failures...)
}

// HandOver enqueues a run of a job now, for a clock outside the program. NotFound:
// no such job.
func (t *Timers) HandOver(ctx context.Context, name string) error {
	if _, err := t.named(name); err != nil {
		return err
	}
	return t.handOver(ctx, name, store.Instant(t.Now()))
}

// handOver enqueues a run under its own name, so that it is enqueued once.
func (t *Timers) handOver(ctx context.Context, name string, due time.Time) error {
	payload, err := json.Marshal(task{Job: name, Due: due.UTC(), Trace: t.NewTrace()})
	if err != nil {
		return err
	}
	_, err = t.Queue.Enqueue(ctx, queue.Task{
		Kind: Kind, Name: name + "/" + strconv.FormatInt(due.UnixMicro(), 10), Payload: payload,
	})
	if err != nil {
		return fmt.Errorf("timers: hand over %s: %w", name, err)
	}
	return nil
}

// Handle is the handler of the tasks. A run that is not over after a while comes
// back; a step that fails is repeated three times, and then left to the next
// period.
func (t *Timers) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var asked task
	if err := json.Unmarshal(delivery.Payload, &asked); err != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: fmt.Errorf("timers: the task cannot be read: %w", err)}
	}
	if asked.Job == "" {
		if err := t.Tick(ctx); err != nil { // the next minute asks again
			t.Log.WarnContext(ctx, "the timers could not be asked what is due", "error", err)
		}
		return queue.Verdict{Outcome: queue.Done}
	}
	job, err := t.named(asked.Job)
	if err != nil { // a task of a version that had it
		t.Log.WarnContext(ctx, "a job that there is no more was left out", "job", asked.Job)
		return queue.Verdict{Outcome: queue.Done}
	}
	over, err := t.work(ctx, job, asked)
	switch {
	case err == nil && over:
		return queue.Verdict{Outcome: queue.Done}
	case err == nil:
		return queue.Verdict{Outcome: queue.Later}
	case delivery.Attempt <= retries || ctx.Err() != nil:
		return queue.Verdict{Outcome: queue.Retry, Err: err}
	default:
		t.Log.ErrorContext(ctx, "a job was given up until its next time", "job", job.Name, "trace", asked.Trace, "error", err)
		return queue.Verdict{Outcome: queue.Done}
	}
}

// work continues a run for a stretch of time; over reports whether nothing is left.
func (t *Timers) work(ctx context.Context, job Job, asked task) (over bool, err error) {
	until := t.Now().Add(stretch)
	run := Run{Due: asked.Due, Cause: scheduler.Cause{Trigger: trigger, Trace: asked.Trace}}
	record, over, err := t.steps(ctx, job, run, func() bool { return t.Now().After(until) }, func(Counts) {})
	if over && record.ended(asked.Due) {
		t.logEnd(ctx, record, asked)
	}
	return over, err
}

// steps takes the steps of a run until none is left or pause, asked before each,
// says to stop; did receives what each did. over reports whether this caller has
// nothing left to do: the run ended, or another process took its place.
func (t *Timers) steps(ctx context.Context, job Job, run Run, pause func() bool, did func(Counts)) (record Record, over bool, err error) {
	record, goesOn, err := t.begin(ctx, job.Name, run.Due)
	for err == nil && goesOn {
		if pause() {
			return record, false, nil
		}
		run.Part, run.At = record.Part, record.At
		step, failure := job.Step(ctx, run)
		if failure != nil {
			recorded := t.failed(ctx, job.Name, run, fault.KindOf(failure).String())
			return record, false, errors.Join(fmt.Errorf("%s: %w", job.Name, failure), recorded)
		}
		did(step.Did)
		record, goesOn, err = t.advance(ctx, job.Name, run, step)
	}
	return record, err == nil, err
}

// logEnd logs what a finished run did; that of every minute at debug level.
func (t *Timers) logEnd(ctx context.Context, record Record, asked task) {
	log := t.Log.InfoContext
	if asked.Job == Drain {
		log = t.Log.DebugContext
	}
	log(ctx, "a job of the timers is done", "job", record.Job, "did", record.Did.fields(),
		"took", record.EndedAt.Sub(record.StartedAt), "hint", trigger, "trace", asked.Trace)
}

// RunNow runs a job to its end while a person waits, and returns what it did, with
// an error as far as it came. progress, where set, receives after each step what
// was done so far. NotFound: no such job; Conflict: a newer run of it replaced
// this one.
func (t *Timers) RunNow(ctx context.Context, name string, progress func(Counts)) (Counts, error) {
	job, err := t.named(name)
	if err != nil {
		return nil, err
	}
	run := Run{Due: store.Instant(t.Now()), ByHand: true, Cause: scheduler.Cause{Trigger: "sweep", Trace: t.NewTrace()}}
	var done Counts
	record, _, err := t.steps(ctx, job, run, func() bool { return false }, func(did Counts) {
		done = done.Add(did)
		if progress != nil {
			progress(done)
		}
	})
	if err == nil && !record.ended(run.Due) {
		err = fault.Newf(fault.Conflict, "Another run of %s is under way and goes on with it.", name)
	}
	return done, err
}
