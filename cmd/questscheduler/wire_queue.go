package main

import (
	"context"
	"errors"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/config"
	"questscheduler/internal/documentchanges"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/queue/cloudtasks"
	"questscheduler/internal/queue/river"
	"questscheduler/internal/timers"
	"questscheduler/scheduler"
)

// depthsKept is how long Cloud Tasks is not asked again how many tasks there are.
const depthsKept = 10 * time.Second

// wireQueue opens what runs tasks: River, in the data file that this process has
// to itself, or Cloud Tasks, which any number of processes share.
func (s *server) wireQueue(ctx context.Context) (err error) {
	if s.config.Queue == config.QueueRiver {
		s.queue, err = river.New(ctx, river.Options{
			DB: s.file.Writer(), Kinds: kinds, Now: s.now, Log: s.log,
			Periodic: []river.Periodic{{Name: "timers", Every: tickEvery, Task: timers.TickTask()}},
		})
		return err
	}
	options := cloudtasks.Options{
		Queue: s.config.CloudTasksQueue, Target: s.config.PublicURL, ServiceAccount: s.config.TasksServiceAccount,
		Audience: s.config.TasksAudience, Emulator: s.config.CloudTasksEndpoint, Store: s.documents, Kinds: kinds,
		NewID: func() string { return newULID(s.now()) }, Now: s.now, DepthsKept: depthsKept, Log: s.log,
	}
	if s.config.CloudTasksEndpoint != "" {
		options.DepthsKept = 0 // it costs nothing there
	}
	s.tasks, err = cloudtasks.Open(ctx, options)
	s.queue = s.tasks
	return err
}

// workersEach is how many tasks of a kind a process runs at the same time with Cloud
// Tasks: as many as the kind's queue hands over at once to all of them
// (deploy/queues.txt). A task that is refused for want of a worker slows its whole
// queue down, and Cloud Run starts no other instance for those that wait here.
var workersEach = map[string]int{
	calendars.SyncKind: 40, scheduler.KindIntent: 20, poll.AnnounceKind: 20, calendarsync.SweepKind: 10, timers.Kind: 5, documentchanges.Kind: 20,
}

// work is what the queue runs, and how much of it at the same time.
func (s *server) work() queue.Config {
	work := queue.Config{Handlers: s.handlers()}
	if s.tasks != nil {
		work.Workers = workersEach
	}
	return work
}

// alone tells that no other process runs tasks over the same store, so that what
// a process held that is gone by now is nobody's, and that nobody but this one
// keeps the time. River's file is locked, and beside an emulator of Cloud Tasks,
// which is for development, there is no Cloud Scheduler. A second process there
// does no harm: who takes somebody's lease away takes a new fence too.
func (s *server) alone() bool { return s.tasks == nil || s.config.CloudTasksEndpoint != "" }

// tick asks at once and every minute what is due, until the server stops, where
// the queue does not do it by itself.
func (s *server) tick() {
	for asked := error(nil); asked == nil; asked = wait(s.ticking, tickEvery) {
		if err := s.timers.Tick(s.ticking); err != nil && s.ticking.Err() == nil {
			s.log.Warn("the timers could not be asked what is due", "error", err)
		}
	}
}

// closeStores ends the queue's client and the stores behind it.
func (s *server) closeStores() error {
	var err error
	if s.tasks != nil {
		err = s.tasks.Close()
	}
	return errors.Join(err, s.stores.close())
}
