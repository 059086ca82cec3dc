package river

import (
	"context"
	"time"

	riverqueue "github.com/riverqueue/river"

	"questscheduler/internal/queue"
)

// Periodic is a task that a queue which is started hands over to itself again
// and again: once at the start, and then in every period. What was missed while
// it was not started is not made up for: the task finds out what is due.
type Periodic struct {
	// Name tells it from others.
	Name string
	// Every is the period, a second at least.
	Every time.Duration
	// Task has a kind of the queue's, and no name.
	Task queue.Task
}

// periodicJobs are River's own, for a client that runs tasks. River keeps their
// times in memory and by the machine's clock.
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
