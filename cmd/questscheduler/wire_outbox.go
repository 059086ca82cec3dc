package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"questscheduler/internal/config"
	"questscheduler/internal/outbox"
	"questscheduler/internal/outbox/cloudtasks"
)

// newOutbox makes the outbox, with the waker of the settings: a pool in this process, or Cloud
// Tasks, which several processes share. tasks is nil with the pool. A process that has the
// data file has it to itself, by a lock.
func (s *server) newOutbox(ctx context.Context) (err error) {
	s.outbox = &outbox.Outbox{Store: s.documents, Now: s.now, Log: s.log, Meter: s.metrics.Count, Alone: s.file != nil}
	if s.config.Queue == config.QueueEmbedded {
		s.pool = outbox.NewPool(s.outbox)
		return nil
	}
	s.tasks, err = openCloudTasks(ctx, s.config, s.outbox)
	return err
}

func openCloudTasks(ctx context.Context, cfg config.Config, work *outbox.Outbox) (*cloudtasks.Waker, error) {
	return cloudtasks.Open(ctx, work, cloudtasks.Options{
		Queue: cfg.CloudTasksQueue, Target: cfg.PublicURL, ServiceAccount: cfg.TasksServiceAccount,
		Audience: cfg.TasksAudience, Emulator: cfg.CloudTasksEndpoint, Kinds: kindsOf(cfg),
	})
}

// addWork adds the kinds of work, and compares them with the list by which queues are made and
// checked: a kind that can be recorded and is not registered would never be done.
func (s *server) addWork(kinds ...outbox.Kind) error {
	s.outbox.Add(kinds...)
	registered, known := slices.Sorted(slices.Values(s.outbox.Kinds())), slices.Sorted(slices.Values(kindsOf(s.config)))
	if !slices.Equal(registered, known) {
		return fmt.Errorf("the kinds of work are %v, and those registered %v", known, registered)
	}
	return nil
}

// startWork begins to run what is due; with Cloud Tasks, what it delivers.
func (s *server) startWork(ctx context.Context) error {
	if s.tasks != nil {
		return s.tasks.Start(ctx)
	}
	return s.pool.Start(ctx)
}

func (s *server) stopWork(ctx context.Context) error {
	if s.tasks != nil {
		return s.tasks.Stop(ctx)
	}
	return s.pool.Stop(ctx)
}

// idle reports whether no work runs or waits for the next minute.
func (s *server) idle(ctx context.Context) (bool, error) {
	if s.tasks == nil {
		return s.pool.Idle(), nil
	}
	waiting, err := s.tasks.Waiting(ctx)
	return waiting == 0, err
}

// clockSet takes up what became due because the clock was set.
func (s *server) clockSet(ctx context.Context) error {
	if s.tasks == nil {
		return s.pool.ClockSet(ctx)
	}
	_, err := s.outbox.Drain(ctx)
	return err
}

// alone reports whether no other process runs the work of the same store: then leases left by
// a dead process are free, and this process keeps the time. An emulator of Cloud Tasks is for
// development, without Cloud Scheduler; a second process there does no harm, since taking over
// a lease takes a new fence.
func (s *server) alone() bool { return s.tasks == nil || s.config.CloudTasksEndpoint != "" }

// closeStores closes the client of Cloud Tasks and then the stores.
func (s *server) closeStores() error {
	s.end()
	var err error
	if s.tasks != nil {
		err = s.tasks.Close()
	}
	return errors.Join(err, s.stores.close())
}
