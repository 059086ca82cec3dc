package timers

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// Record is a document of timers: how far the last run of a job is. Closed to
// clients.
type Record struct {
	Job string
	// Due is what the run is for (Run.Due); runs of an earlier one are over.
	Due       time.Time
	StartedAt time.Time
	// EndedAt is when it came to its end; zero while it has not.
	EndedAt time.Time
	// Part and At are where its next step begins.
	Part, At string
	// Did counts what it did so far, sorted by what.
	Did Counts
	// Failure is the kind of the error of its last step, "" where that went
	// well; FailedAt is when.
	Failure  string
	FailedAt time.Time
	// SucceededAt is when a run last came to its end, this one or one before.
	SucceededAt time.Time
}

// Path is where the record of a job stands.
func Path(job string) store.Path { return store.Doc("timers", job) }

// Records is RecordsOf the jobs of the table.
func (t *Timers) Records(ctx context.Context) ([]Record, error) {
	return RecordsOf(ctx, t.Store, t.Jobs)
}

// RecordsOf reads what became of each of some jobs, in their order. A job that
// never ran has a record that says nothing but its name. The errors are the
// store's.
func RecordsOf(ctx context.Context, documents store.Reader, jobs []Job) ([]Record, error) {
	paths := make([]store.Path, len(jobs))
	for i, job := range jobs {
		paths[i] = Path(job.Name)
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

// goesOn tells whether the run of that time is the one that the record is of,
// and is not over.
func (r Record) goesOn(due time.Time) bool { return r.Due.Equal(due) && r.EndedAt.IsZero() }

// ended tells whether the run of that time is the one of the record, and over.
func (r Record) ended(due time.Time) bool { return r.Due.Equal(due) && !r.EndedAt.IsZero() }

// change reads the record of a job and writes what do makes of it, unless do
// says that there is nothing to write.
func (t *Timers) change(ctx context.Context, job string, do func(r *Record) bool) (Record, error) {
	var record Record
	err := t.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, Path(job))
		if err != nil {
			return err
		}
		if record = decode(doc); !do(&record) {
			return nil
		}
		return tx.Set(Path(job), record.encode())
	})
	return record, err
}

// begin takes a run up: it is begun, or gone on with where somebody began it.
// goesOn is false where it is over, or a newer one took its place.
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
func (t *Timers) failed(ctx context.Context, job string, due time.Time, kind string) error {
	now := store.Instant(t.Now())
	_, err := t.change(ctx, job, func(r *Record) bool {
		if !r.goesOn(due) {
			return false
		}
		r.Failure, r.FailedAt = kind, now
		return true
	})
	return err
}
