package timers

import (
	"context"
	"errors"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

// Record is the document of a job's last run.
type Record struct {
	Job string
	// Due is that of the run; runs with an earlier one are over.
	Due       time.Time
	StartedAt time.Time
	// RunAt is when the outbox goes on with the run; zero: it does not.
	RunAt time.Time
	// Trace correlates what the run does.
	Trace string
	// EndedAt is zero until the run ends.
	EndedAt time.Time
	// Part and At are where its next step begins.
	Part, At string
	// Did counts what it did so far, sorted by name.
	Did Counts
	// Failure is the kind of the last step's error, and Failures how many failed in a row;
	// "" and 0 where it succeeded.
	Failure  string
	Failures int64
	FailedAt time.Time
	// SucceededAt is when a run last ended, this one or an earlier one.
	SucceededAt time.Time
}

const collection = "timers"

func recordPath(job string) store.Path { return store.Doc(collection, job) }

// toRun are the records of runs that the outbox goes on with.
var toRun = store.Select("runs of jobs that are due", collection, "runAt", store.Where("runAt", store.LessOrEqual))

// Queries are the queries of the package, for opening a store.
var Queries = []*store.Query{toRun}

// Records reads the records of the table's jobs.
func (t *Timers) Records(ctx context.Context) ([]Record, error) {
	return RecordsOf(ctx, t.Store, t.Jobs)
}

// RecordsOf reads the records of jobs, in their order. That of a job that never ran
// holds its name alone. The errors are the store's.
func RecordsOf(ctx context.Context, documents store.Reader, jobs []Job) ([]Record, error) {
	paths := make([]store.Path, len(jobs))
	for i, job := range jobs {
		paths[i] = recordPath(job.Name)
	}
	docs, err := documents.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(docs))
	for i, doc := range docs {
		records[i] = decode(doc)
	}
	return records, nil
}

func decode(doc store.Document) Record {
	f := store.Fields(doc.Data)
	return Record{
		Job: doc.Path.ID(), Due: f.Time("due"), StartedAt: f.Time("startedAt"), EndedAt: f.Time("endedAt"),
		RunAt: f.Time("runAt"), Trace: f.String("trace"), Part: f.String("part"), At: f.String("at"), Did: countsFrom(f.Map("did")),
		Failure: f.String("failure"), Failures: f.Int("failures"), FailedAt: f.Time("failedAt"), SucceededAt: f.Time("succeededAt"),
	}
}

func (r Record) encode() map[string]any {
	return map[string]any{
		"due": r.Due, "startedAt": r.StartedAt, "endedAt": store.NullIfZero(r.EndedAt), "runAt": store.NullIfZero(r.RunAt),
		"trace": r.Trace, "part": r.Part, "at": r.At, "did": r.Did.fields(), "failure": store.NullIfEmpty(r.Failure),
		"failures": r.Failures, "failedAt": store.NullIfZero(r.FailedAt), "succeededAt": store.NullIfZero(r.SucceededAt),
	}
}

// goesOn reports whether the record is that of the run due then, which has not ended.
func (r Record) goesOn(due time.Time) bool { return r.Due.Equal(due) && r.EndedAt.IsZero() }

// isAhead reports whether the record is of a clock that was wrong and has been set back since: no run
// is due later than now, but for what the clocks of processes differ by.
func (r Record) isAhead(now time.Time) bool { return r.Due.After(now.Add(time.Hour)) }

// ended reports whether the record is that of the run due then, which has ended.
func (r Record) ended(due time.Time) bool { return r.Due.Equal(due) && !r.EndedAt.IsZero() }

// recordTimeout is how long a step that took all the time of its run may take to be recorded.
const recordTimeout = 3 * time.Second

// recording returns ctx, or a short extension where the time of a run is over: what is not recorded is
// repeated for ever. Where the program ends, the step stays due.
func recording(ctx context.Context) (context.Context, context.CancelFunc) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}

// change changes the record of a job by do, and writes it where do returns true.
func (t *Timers) change(ctx context.Context, job string, do func(r *Record) bool) (Record, error) {
	ctx, cancel := recording(ctx)
	defer cancel()
	var record Record
	err := t.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, recordPath(job))
		if err != nil {
			return err
		}
		record = decode(doc)
		if !do(&record) {
			return nil
		}
		return tx.Set(recordPath(job), record.encode())
	})
	return record, err
}

// begin begins a run or continues one, which the outbox goes on with from runAt (zero: it
// does not). goesOn is false where the run has ended or a newer run replaced it.
func (t *Timers) begin(ctx context.Context, job string, run Run, runAt time.Time) (r Record, goesOn bool, err error) {
	now := store.Instant(t.Now())
	r, err = t.change(ctx, job, func(r *Record) bool {
		if !run.Due.After(r.Due) && !r.isAhead(now) {
			return false
		}
		*r = Record{Job: job, Due: run.Due, StartedAt: now, RunAt: store.Instant(runAt), Trace: run.Cause.Trace, SucceededAt: r.SucceededAt}
		return true
	})
	return r, err == nil && r.goesOn(run.Due), err
}

// advance records the finished steps of a run since its place. goesOn is false where the run is over
// with it, or another process recorded the step first.
func (t *Timers) advance(ctx context.Context, job string, run Run, did Stretch) (r Record, goesOn bool, err error) {
	now := store.Instant(t.Now())
	r, err = t.change(ctx, job, func(r *Record) bool {
		goesOn = r.goesOn(run.Due) && r.Part == run.Part && r.At == run.At
		if !goesOn {
			return false
		}
		r.Part, r.At, r.Failure, r.Failures, r.FailedAt = did.Part, did.Next, "", 0, time.Time{}
		r.Did = r.Did.Add(did.Did)
		if did.ends() {
			goesOn, r.EndedAt, r.SucceededAt, r.RunAt = false, now, now, time.Time{}
		}
		return true
	})
	return r, err == nil && goesOn, err
}

// retry is the wait of a failed step.
var retry outbox.Retry

// failed records that a step of a run failed. The run stays where it is: the step is repeated
// after a wait, and after retries failures in a row it is left to the next period.
func (t *Timers) failed(ctx context.Context, job string, run Run, failure error) (Record, error) {
	now := store.Instant(t.Now())
	if run.ByHand { // the person may have ended the command
		ctx = context.WithoutCancel(ctx)
	}
	return t.change(ctx, job, func(r *Record) bool {
		if !r.goesOn(run.Due) {
			return false
		}
		r.Failure, r.FailedAt = fault.KindOf(failure).String(), now
		r.Failures++
		switch {
		case run.ByHand || r.Failures > retries:
			r.RunAt = time.Time{}
		default:
			r.RunAt = store.Instant(now.Add(retry.Wait(failure, r.Failures)))
		}
		return true
	})
}
