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
	// fetchCooldown is the least time between two fetches of a kind; an insert
	// triggers one.
	fetchCooldown = 2 * time.Millisecond
	// fetchPoll is how often River fetches jobs whose wait is over.
	fetchPoll = 50 * time.Millisecond
	// rescueAfter is when a running job is treated as dead: a handler that ignores
	// the end of its context is run a second time then.
	rescueAfter = 90 * time.Second
	keepForEver = -1 // in River's settings
	// stopGrace is how long cancelled handlers may take to return.
	stopGrace = 5 * time.Second
)

// Start implements queue.Queue. The file must belong to this process alone: jobs that
// are marked as running are treated as left over by a dead process and run again.
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
	// After Start has returned: inserting through a starting client is a data race in
	// River.
	q.client.Store(started)
	return nil
}

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

// never turns River's reindexing off: SQLite's indexes do not bloat, and rebuilding them
// would block every other writer.
type never struct{}

// Next implements river.PeriodicSchedule.
func (never) Next(now time.Time) time.Time { return now.AddDate(100, 0, 0) }

// takeOver makes a dead process's jobs available, in one transaction. Otherwise its
// running jobs would wait for the rescue (90 s), its due ones for the scheduler, and both
// until a new leader is elected after the dead one's term.
func (q *Queue) takeOver(ctx context.Context) error {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return unavailable(err, "take over")
	}
	defer tx.Rollback() // after the commit it does nothing
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

// Stop implements queue.Queue. After an error do not start the queue again in this
// process: a handler has ignored its cancelled context for stopGrace.
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
