package river

import (
	"context"
	"time"

	riverqueue "github.com/riverqueue/river"

	"questscheduler/internal/queue"
)

// Periodic is a task that a started queue enqueues at its start and then in every
// period. Periods missed while it was stopped are not made up for.
type Periodic struct {
	// Name is unique among the periodic tasks.
	Name string
	// Every is the period, at least a second.
	Every time.Duration
	// Task has one of the queue's kinds, and no name.
	Task queue.Task
}

func (q *Queue) periodicJobs() []*riverqueue.PeriodicJob {
	var jobs []*riverqueue.PeriodicJob
	for _, periodic := range q.periodic {
		jobs = append(jobs, riverqueue.NewPeriodicJob(
			riverqueue.PeriodicInterval(periodic.Every),
			func() (riverqueue.JobArgs, *riverqueue.InsertOpts) {
				now := q.now()
				if err := queue.Check(periodic.Task, q.kinds, now); err != nil {
					q.log.ErrorContext(context.Background(), "a periodic task cannot be handed over", "periodic", periodic.Name, "error", err)
					return nil, nil
				}
				job, _ := toJob(periodic.Task, now)
				return job.Args, job.InsertOpts
			},
			&riverqueue.PeriodicJobOpts{ID: periodic.Name, RunOnStart: true},
		))
	}
	return jobs
}
