package river

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
)

// driver is River's SQLite driver with workarounds for faults of v0.31.0; see executor
// and docs/decisions.md.
type driver struct {
	*riversqlite.Driver
	// due reports whether a job of a queue is due; nil in a client that runs none.
	due *sql.Stmt
}

func newDriver(db *sql.DB) *driver { return &driver{Driver: riversqlite.New(db)} }

// dueQuery is answered by River's own index. Every job has priority 1.
const dueQuery = `SELECT 1 FROM river_job
	WHERE state = 'available' AND queue = ? AND priority = 1 AND scheduled_at <= ? LIMIT 1`

// GetExecutor returns what River's services work with.
func (d *driver) GetExecutor() riverdriver.Executor {
	return &executor{Executor: d.Driver.GetExecutor(), due: d.due}
}

// executor wraps River's access to the file.
type executor struct {
	riverdriver.Executor
	due *sql.Stmt
}

// JobGetAvailable fetches jobs to run. River polls with a long UPDATE that is compiled
// at each call and takes the write lock; the prepared query before it costs a tenth.
func (e *executor) JobGetAvailable(ctx context.Context, params *riverdriver.JobGetAvailableParams) ([]*rivertype.JobRow, error) {
	var found int
	switch err := e.due.QueryRowContext(ctx, params.Queue, timeText(time.Now())).Scan(&found); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return e.Executor.JobGetAvailable(ctx, params)
}

// JobDeleteBefore deletes ended jobs. River's SQLite driver ignores which of them are
// kept for ever, and would delete those too.
func (e *executor) JobDeleteBefore(ctx context.Context, params *riverdriver.JobDeleteBeforeParams) (int, error) {
	kept := *params
	for _, horizon := range []struct {
		deletes bool
		at      *time.Time
	}{
		{kept.CancelledDoDelete, &kept.CancelledFinalizedAtHorizon},
		{kept.CompletedDoDelete, &kept.CompletedFinalizedAtHorizon},
		{kept.DiscardedDoDelete, &kept.DiscardedFinalizedAtHorizon},
	} {
		if !horizon.deletes {
			*horizon.at = time.Time{}
		}
	}
	return e.Executor.JobDeleteBefore(ctx, &kept)
}

// JobSetStateIfRunningMany settles jobs that have run. It works around two faults.
// River writes the time of a snoozed job in the machine's zone and compares it, as text,
// with UTC: east of Greenwich a snooze of a second lasts hours, west of it none. And a
// job whose row is gone ends the batch early: the jobs behind it stay unsettled and have
// no rows, on which River's completer panics.
func (e *executor) JobSetStateIfRunningMany(ctx context.Context, params *riverdriver.JobSetStateIfRunningManyParams) ([]*rivertype.JobRow, error) {
	rest := *params
	rest.ScheduledAt, rest.FinalizedAt = allUTC(params.ScheduledAt), allUTC(params.FinalizedAt)
	var settled []*rivertype.JobRow
	for len(rest.ID) > 0 {
		rows, err := e.Executor.JobSetStateIfRunningMany(ctx, &rest)
		if err != nil {
			return nil, err
		}
		done := 0
		for done < len(rows) && rows[done] != nil {
			done++
		}
		settled = append(settled, rows[:done]...)
		dropFirst(&rest, min(done+1, len(rest.ID)))
	}
	return settled, nil
}

func dropFirst(batch *riverdriver.JobSetStateIfRunningManyParams, n int) {
	batch.ID = batch.ID[n:]
	batch.Attempt = batch.Attempt[n:]
	batch.ErrData = batch.ErrData[n:]
	batch.FinalizedAt = batch.FinalizedAt[n:]
	batch.MetadataDoMerge = batch.MetadataDoMerge[n:]
	batch.MetadataUpdates = batch.MetadataUpdates[n:]
	batch.ScheduledAt = batch.ScheduledAt[n:]
	batch.State = batch.State[n:]
}

func allUTC(times []*time.Time) []*time.Time {
	converted := make([]*time.Time, len(times))
	for i, t := range times {
		if t != nil {
			utc := t.UTC().Round(0) // without the monotonic reading, which would be written too
			converted[i] = &utc
		}
	}
	return converted
}
