package timers

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// Record is the document of a job's last run.
type Record struct {
	Job string
	// Due is that of the run; runs with an earlier one are over.
	Due       time.Time
	StartedAt time.Time
	// EndedAt is zero until the run ends.
	EndedAt time.Time
	// Part and At are where its next step begins.
	Part, At string
	// Did counts what it did so far, sorted by name.
	Did Counts
	// Failure is the kind of the last step's error; "" where it succeeded.
	Failure  string
	FailedAt time.Time
	// SucceededAt is when a run last ended, this one or an earlier one.
	SucceededAt time.Time
}

func recordPath(job string) store.Path { return store.Doc("timers", job) }

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
		Part: f.String("part"), At: f.String("at"), Did: countsFrom(f.Map("did")), Failure: f.String("failure"), FailedAt: f.Time("failedAt"),
		SucceededAt: f.Time("succeededAt"),
	}
}

func (r Record) encode() map[string]any {
	return map[string]any{
		"due": r.Due, "startedAt": r.StartedAt, "endedAt": store.NullIfZero(r.EndedAt), "part": r.Part, "at": r.At, "did": r.Did.fields(),
		"failure": store.NullIfEmpty(r.Failure), "failedAt": store.NullIfZero(r.FailedAt),
		"succeededAt": store.NullIfZero(r.SucceededAt),
	}
}

// goesOn reports whether the record is that of the run due then, which has not ended.
func (r Record) goesOn(due time.Time) bool { return r.Due.Equal(due) && r.EndedAt.IsZero() }

// ended reports whether the record is that of the run due then, which has ended.
func (r Record) ended(due time.Time) bool { return r.Due.Equal(due) && !r.EndedAt.IsZero() }

// change changes the record of a job by do, and writes it where do returns true.
func (t *Timers) change(ctx context.Context, job string, do func(r *Record) bool) (Record, error) {
	var record Record
	err := t.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, recordPath(job))
		if err != nil {
			return err
		}
		if record = decode(doc); !do(&record) {
			return nil
		}
		return tx.Set(recordPath(job), record.encode())
	})
	return record, err
}

// begin begins a run or continues one. goesOn is false where it has ended or a
// newer run replaced it.
func (t *Timers) begin(ctx context.Context, job string, due time.Time) (r Record, goesOn bool, err error) {
	now := store.Instant(t.Now())
	r, err = t.change(ctx, job, func(r *Record) bool {
		if !due.After(r.Due) {
			return false
		}
		*r = Record{Job: job, Due: due, StartedAt: now, SucceededAt: r.SucceededAt}
		return true
	})
	return r, err == nil && r.goesOn(due), err
}

// advance records a finished step of a run. goesOn is false where the run is over
// with it, or another process recorded the step first.
func (t *Timers) advance(ctx context.Context, job string, run Run, did Stretch) (r Record, goesOn bool, err error) {
	now := store.Instant(t.Now())
	r, err = t.change(ctx, job, func(r *Record) bool {
		if goesOn = r.goesOn(run.Due) && r.Part == run.Part && r.At == run.At; !goesOn {
			return false
		}
		r.Part, r.At, r.Failure, r.FailedAt = did.Part, did.Next, "", time.Time{}
		r.Did = r.Did.Add(did.Did)
		if did.Part == "" && did.Next == "" {
			goesOn, r.EndedAt, r.SucceededAt = false, now, now
		}
		return true
	})
	return r, err == nil && goesOn, err
}

// failed records that a step of a run failed. The run stays where it is.
func (t *Timers) failed(ctx context.Context, job string, run Run, kind string) error {
	now := store.Instant(t.Now())
	if run.ByHand { // the person may have ended the command
		ctx = context.WithoutCancel(ctx)
	}
	_, err := t.change(ctx, job, func(r *Record) bool {
		if !r.goesOn(run.Due) {
			return false
		}
		r.Failure, r.FailedAt = kind, now
		return true
	})
	return err
}
