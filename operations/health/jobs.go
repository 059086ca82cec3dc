package health

import (
	"context"
	"time"

	"questscheduler/internal/store"
	"questscheduler/web-hooks/timers"
)

// Job is a job of the timers with the state of its last run.
type Job struct {
	timers.Job
	timers.Record
	Level Level
	// State describes the last run in a word or two.
	State string
	// Late reports that the next run should have begun, and Unfinished that one
	// should have ended.
	Late, Unfinished bool
}

// ReadJobs reads and judges the jobs of a table.
func ReadJobs(ctx context.Context, documents store.Reader, table []timers.Job, now time.Time, grace time.Duration) ([]Job, error) {
	records, err := timers.RecordsOf(ctx, documents, table)
	jobs := make([]Job, len(records))
	for i, record := range records {
		jobs[i] = JudgeJob(table[i], record, now, grace)
	}
	return jobs, err
}

// JudgeJob judges the record of a job. Runs should begin and end within two
// periods and grace: one may be under way, and a step of it be retried.
func JudgeJob(job timers.Job, record timers.Record, now time.Time, grace time.Duration) Job {
	least := now.Add(-2*job.Every - grace)
	judged := Job{
		Job: job, Record: record, Level: Fine, State: "done",
		Late: record.StartedAt.Before(least), Unfinished: record.SucceededAt.Before(least),
	}
	switch {
	case record.StartedAt.IsZero():
		judged.Level, judged.State = Mind, "never ran"
	case record.Failure != "":
		judged.Level, judged.State = Bad, "failed: "+record.Failure
	case judged.Late:
		judged.Level, judged.State = Bad, "late"
	case record.EndedAt.IsZero():
		judged.State = "running"
	}
	return judged
}
