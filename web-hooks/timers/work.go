package timers

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Kind is the kind of the outbox that runs jobs.
const Kind = "timer"

// Work is the kind of the outbox that runs the jobs of the table. Each step is recorded in a
// transaction that compares the run, so nothing is claimed.
func (t *Timers) Work() outbox.Kind {
	return outbox.Kind{
		Name: Kind, Does: "jobs of the timers", Path: recordPath, Due: t.due, Codec: runs, Handle: t.handle, Workers: 5,
		Unclaimed: true, Planned: true,
	}
}

// runs is the codec of records.
var runs = outbox.Codec{
	Decode: func(doc store.Document) outbox.State {
		r := decode(doc)
		return outbox.State{Due: r.RunAt, Attempts: r.Failures, FailedSince: r.FailedAt, Error: r.Failure, Trace: r.Trace}
	},
	Encode: func(s outbox.State) []store.Update {
		return []store.Update{store.Set("runAt", store.NullIfZero(s.Due))}
	},
}

// due yields the records of jobs that are due: by the clock, whose table is compared with all
// of them, or else those of which a run was requested.
func (t *Timers) due(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error] {
	if !t.ByClock {
		return outbox.Query(toRun)(ctx, reader, now)
	}
	return func(yield func(store.Document, error) bool) {
		paths := make([]store.Path, len(t.Jobs))
		for i, job := range t.Jobs {
			paths[i] = recordPath(job.Name)
		}
		docs, err := reader.GetAll(ctx, paths)
		if err != nil {
			yield(store.Document{}, err)
			return
		}
		for i, job := range t.Jobs {
			if _, at := t.next(job, decode(docs[i]), now); !at.IsZero() && !at.After(now) && !yield(docs[i], nil) {
				return
			}
		}
	}
}

// next is the run of a job that should begin or go on, and when; zero: none.
func (t *Timers) next(job Job, record Record, now time.Time) (run Run, at time.Time) {
	due := record.Due
	if t.ByClock {
		due = job.due(now, t.Started)
	}
	switch {
	case record.Due.Before(due), t.ByClock && record.isAhead(now):
		return Run{Due: due, Cause: scheduler.Cause{Trigger: trigger, Trace: t.NewTrace()}}, due
	case record.goesOn(record.Due) && !record.RunAt.IsZero():
		return Run{Due: record.Due, Cause: scheduler.Cause{Trigger: trigger, Trace: record.Trace}}, record.RunAt
	default:
		return Run{}, time.Time{}
	}
}

// handle goes on with a job for a stretch of time. A step that fails is repeated after a wait,
// three times, and then left to the next period.
func (t *Timers) handle(ctx context.Context, item outbox.Item) outbox.Result {
	at := slices.IndexFunc(t.Jobs, func(job Job) bool { return job.Name == item.ID })
	if at < 0 { // recorded by a version that had it
		return outbox.Done()
	}
	job := t.Jobs[at]
	doc, err := t.Store.Get(ctx, recordPath(job.Name))
	if err != nil {
		return outbox.Broken(err)
	}
	now := store.Instant(t.Now())
	run, due := t.next(job, decode(doc), now)
	if due.IsZero() || due.After(now) {
		return outbox.Kept(due)
	}
	record, _, err := t.begin(ctx, job.Name, run, now)
	if err != nil {
		return outbox.Broken(err)
	}
	until := now.Add(stretch)
	record, over, err := t.steps(ctx, job, run, record, func() bool { return t.Now().After(until) })
	switch {
	case err != nil && record.Failures > retries:
		t.Log.ErrorContext(ctx, "job left to its next period after repeated failures", "job", job.Name, "trace", run.Cause.Trace, "error", err)
		return outbox.Kept(time.Time{})
	case err != nil && fault.KindOf(err) == fault.Unavailable && record.RunAt.IsZero():
		return outbox.Broken(err)
	case err != nil:
		return outbox.Postponed(cmp.Or(record.RunAt, now), err)
	case over && record.ended(run.Due):
		t.Log.InfoContext(ctx, "job done", "job", record.Job, "did", record.Did.String(),
			"took", record.EndedAt.Sub(record.StartedAt), "trigger", trigger, "trace", run.Cause.Trace)
		return outbox.Done()
	case over:
		return outbox.Done()
	default:
		return outbox.Kept(now)
	}
}
