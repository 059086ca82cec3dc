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

// driver is River's SQLite driver with what this queue has found amiss in
// v0.31.0 mended; see executor.
type driver struct {
	*riversqlite.Driver
	// due finds whether a job of a queue is due; nil where none are run.
	due *sql.Stmt
}

func newDriver(db *sql.DB) *driver { return &driver{Driver: riversqlite.New(db)} }

// dueQuery is one look into River's own index; every job has priority 1.
const dueQuery = `SELECT 1 FROM river_job
	WHERE state = 'available' AND queue = ? AND priority = 1 AND scheduled_at <= ? LIMIT 1`

// GetExecutor gives what River's services work with.
func (d *driver) GetExecutor() riverdriver.Executor {
	return &executor{Executor: d.Driver.GetExecutor(), due: d.due}
}

// executor stands between River's services and the file.
type executor struct {
	riverdriver.Executor
	due *sql.Stmt
}

// JobGetAvailable fetches jobs to run. River polls with it, and its statement
// is a long UPDATE that is compiled at each call and takes the write lock; a
// prepared look whether there is anything at all costs a tenth of it.
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

// JobDeleteBefore cleans ended jobs away. Its SQLite driver does not look at
// which are to be kept for ever, and would delete those within the minute.
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

// JobSetStateIfRunningMany settles jobs that have run. Two faults of it:
//
// SQLite knows times as texts, and River compares them as such; it writes that
// of a snoozed job in the machine's zone and compares it with UTC, so that
// east of Greenwich a snooze of a second lasts hours, and west of it none.
//
// A job whose row is gone ends the batch early, with the jobs behind it
// unsettled and without rows, on which River's completer panics.
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

// dropFirst removes the first n jobs of a batch.
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
			// Round strips the monotonic reading, which would be written too.
			utc := t.UTC().Round(0)
			converted[i] = &utc
		}
	}
	return converted
}
