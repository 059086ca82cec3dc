package river

import (
	"context"
	"database/sql"
	"errors"
	"time"

	riverqueue "github.com/riverqueue/river"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

const (
	// fetchCooldown is the least time between two looks for jobs of a kind. An
	// insert makes River look at once; under load this bounds how often.
	fetchCooldown = 2 * time.Millisecond
	// fetchPoll is how often River looks for jobs that nobody announces: those
	// whose wait is over. It bounds how late they begin.
	fetchPoll = 50 * time.Millisecond
	// rescueAfter is when a job that runs is taken for dead while the process
	// lives; a handler that ignores the end of its context is run a second
	// time then.
	rescueAfter = 90 * time.Second
	// keepForEver is River's word for how long dead letters are kept.
	keepForEver = -1
	// stopGrace is how long Stop waits, after it cancelled the handlers'
	// contexts, for the handlers to return.
	stopGrace = 5 * time.Second
)

// Start begins to run tasks; see queue.Queue. What ctx carries is passed on to
// the handlers, its end is not: Stop ends them. Errors: Invalid (no handler
// for a kind), Conflict (started already), Unavailable (the file).
//
// The file must belong to this process alone: what another process runs is
// taken for left over by a dead one and is run again.
func (q *Queue) Start(ctx context.Context, config queue.Config) error {
	if err := queue.CheckConfig(config, q.kinds); err != nil {
		return err
	}
	q.lifecycle.Lock()
	defer q.lifecycle.Unlock()
	if q.running != nil {
		return fault.New(fault.Conflict, "the queue is started already; stop it first")
	}
	if err := q.takeOver(ctx); err != nil {
		return err
	}
	due, err := q.db.PrepareContext(ctx, dueQuery)
	if err != nil {
		return unavailable(err, "start")
	}
	q.stopping.Store(false)
	started, err := q.newClient(config, due)
	if err == nil {
		err = started.Start(context.WithoutCancel(ctx))
	}
	if err != nil {
		return unavailable(errors.Join(err, due.Close()), "start")
	}
	q.running, q.due = started, due
	// Not before Start has returned: inserting through a client while it
	// starts is a data race in River.
	q.client.Store(started)
	return nil
}

// newClient makes a River client that runs tasks.
func (q *Queue) newClient(config queue.Config, due *sql.Stmt) (*client, error) {
	workers := riverqueue.NewWorkers()
	if err := riverqueue.AddWorkerSafely(workers, &worker{queue: q, handlers: config.Handlers}); err != nil {
		return nil, err
	}
	queues := map[string]riverqueue.QueueConfig{}
	for _, kind := range q.kinds {
		queues[kind] = riverqueue.QueueConfig{MaxWorkers: config.WorkersFor(kind)}
	}
	driver := newDriver(q.db)
	driver.due = due
	return riverqueue.NewClient(driver, &riverqueue.Config{
		CancelledJobRetentionPeriod: keepForEver,
		CompletedJobRetentionPeriod: NameKept,
		DiscardedJobRetentionPeriod: keepForEver,
		ErrorHandler:                errorHandler{},
		FetchCooldown:               fetchCooldown,
		FetchPollInterval:           fetchPoll,
		Hooks:                       q.hooks(),
		JobTimeout:                  queue.RunTimeout,
		Logger:                      q.riverLog(),
		MaxAttempts:                 maxAttempts,
		PeriodicJobs:                q.periodicJobs(),
		Queues:                      queues,
		ReindexerSchedule:           never{},
		RescueStuckJobsAfter:        rescueAfter,
		Workers:                     workers,
	})
}

// never is the schedule of River's reindexing: SQLite's indexes do not bloat,
// and rebuilding them would hold up every other writer.
type never struct{}

// Next is a time that the process does not live to see.
func (never) Next(now time.Time) time.Time { return now.AddDate(100, 0, 0) }

// takeOver makes a dead process's work available, in one transaction: jobs
// that it ran would wait for the rescue (90 s), those whose time has come for
// the scheduler, and both for the election of a new leader, which waits until
// the dead one's term is over.
func (q *Queue) takeOver(ctx context.Context) error {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return unavailable(err, "take over")
	}
	defer tx.Rollback() // after a commit there is nothing to roll back, before it the error is told
	for _, step := range []struct {
		statement string
		arguments []any
	}{
		{`DELETE FROM river_leader`, nil},
		{`UPDATE river_job SET state = 'available' WHERE state = 'running'`, nil},
		{`UPDATE river_job SET state = 'available' WHERE state IN ('scheduled', 'retryable') AND scheduled_at <= ?`,
			[]any{timeText(q.now().Add(schedulerTick))}},
	} {
		if _, err := tx.ExecContext(ctx, step.statement, step.arguments...); err != nil {
			return unavailable(err, "take over")
		}
	}
	if err := tx.Commit(); err != nil {
		return unavailable(err, "take over")
	}
	return nil
}

// Stop begins no further run and waits for those that run; see queue.Queue.
// When ctx ends it cancels their contexts; a run that then asks for another
// attempt is not counted. What was handed over is kept, and Enqueue goes on
// taking tasks in for the next Start. The error is Unavailable where a handler
// ignores even that for 5 s: do not start the queue again in this process then.
func (q *Queue) Stop(ctx context.Context) error {
	q.lifecycle.Lock()
	defer q.lifecycle.Unlock()
	if q.running == nil {
		return nil
	}
	q.client.Store(q.inserter)
	stopped := q.running
	q.running = nil
	if err := stopped.Stop(ctx); err != nil {
		q.stopping.Store(true)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		if err := stopped.StopAndCancel(grace); err != nil {
			return unavailable(err, "a handler did not return; its task is run again after a restart")
		}
	}
	if err := q.due.Close(); err != nil {
		return unavailable(err, "stop")
	}
	return nil
}
