package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"questscheduler/internal/config"
	"questscheduler/internal/documentchanges"
	"questscheduler/internal/queue"
	"questscheduler/internal/queue/cloudtasks"
	"questscheduler/internal/queue/river"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/timers"
)

// depthsKept is how long an answer of Cloud Tasks about its depths is reused.
const depthsKept = 10 * time.Second

// openQueue opens River in the data file, which belongs to this process alone, or
// Cloud Tasks, which several processes share. cloud is nil with River.
func openQueue(
	ctx context.Context, cfg config.Config, file *sqlite.Store, documents *changes.Store, now func() time.Time, log *slog.Logger,
) (tasks queue.Queue, cloud *cloudtasks.Queue, err error) {
	if cfg.Queue == config.QueueRiver {
		tasks, err = river.New(ctx, river.Options{
			DB: file.Writer(), Kinds: kindsOf(cfg), Now: now, Log: log,
			Periodic: []river.Periodic{{Name: "timers", Every: tickEvery, Task: timers.TickTask()}},
		})
		return tasks, nil, err
	}
	options := cloudtasks.Options{
		Queue: cfg.CloudTasksQueue, Target: cfg.PublicURL, ServiceAccount: cfg.TasksServiceAccount,
		Audience: cfg.TasksAudience, Emulator: cfg.CloudTasksEndpoint, Store: documents, Kinds: kindsOf(cfg),
		NewID: func() string { return newULID(now()) }, Now: now, DepthsKept: depthsKept, Log: log,
	}
	if cfg.CloudTasksEndpoint != "" {
		options.DepthsKept = 0 // asking an emulator costs nothing
	}
	cloud, err = cloudtasks.Open(ctx, options)
	return cloud, cloud, err
}

// workersEach is how many tasks of each kind one process runs at once with Cloud
// Tasks: as many as the kind's queue dispatches at once to all processes
// (deploy/queues.txt). A task that is refused for lack of a worker slows its whole
// queue down, and Cloud Run does not scale out for tasks that wait in here.
var workersEach = map[string]int{
	timers.Kind: 5, documentchanges.Kind: 20,
}

// workOf is the handler of each kind of task. What rests with QS_SYNC=off stays due in its
// document (withSync), and its tasks end.
func (s *server) workOf(jobs *timers.Timers, changed *documentchanges.Intake) queue.Config {
	handlers := map[string]queue.Handler{
		timers.Kind:          jobs.Handle,
		documentchanges.Kind: changed.Handle,
	}
	for _, kind := range s.outbox.Kinds() {
		handlers[kind] = s.outbox.Handler(kind)
	}
	work := queue.Config{Handlers: s.metrics.Handlers(handlers)}
	if s.tasks != nil {
		work.Workers = maps.Clone(workersEach)
		for _, kind := range s.outbox.Kinds() {
			work.Workers[kind] = s.outbox.Workers(kind)
		}
	}
	return work
}

// alone reports whether no other process runs tasks on the same store: then leases
// left by a dead process are free, and this process keeps the time. River's file is
// locked. An emulator of Cloud Tasks is for development, without Cloud Scheduler; a
// second process there does no harm, since taking over a lease takes a new fence.
func (s *server) alone() bool { return s.tasks == nil || s.config.CloudTasksEndpoint != "" }

// closeStores closes the queue's client and then the stores.
func (s *server) closeStores() error {
	s.end()
	var err error
	if s.tasks != nil {
		err = s.tasks.Close()
	}
	return errors.Join(err, s.stores.close())
}
