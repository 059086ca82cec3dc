package scheduler

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/transition"
)

// Drained counts what a drain handed over.
type Drained struct {
	Syncs int
}

// Drain enqueues the pending syncs of calendars, whose tasks may not have been enqueued. It runs
// every minute, and at the start of a process. A task that is queued already absorbs the second.
func (s *Service) Drain(ctx context.Context, cause Cause) (drained Drained, err error) {
	for calendar, err := range calendars.SyncsPending(ctx, s.Store) {
		if err != nil {
			return drained, err
		}
		drained.Syncs++
		if _, err := s.Queue.Enqueue(ctx, calendars.SyncTask(calendar, cause.Trigger, cause.Trace)); err != nil {
			return drained, err
		}
	}
	return drained, nil
}

// Recover takes back what a dead process of the same store held: leases of sync runs,
// intents and deliveries under way. Only for a store that one process has to itself.
func (s *Service) Recover(ctx context.Context) error {
	now := s.Now()
	found, err := calendars.Leased(ctx, s.Store, now)
	if err != nil {
		return err
	}
	intents, err := store.Collect(poll.PendingIntents(ctx, s.Store, now.Add(transition.InsertGrace)))
	if err != nil {
		return err
	}
	for _, calendar := range found {
		err := s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			updates := append(calendars.RequestSync(), calendars.Release())
			return tx.Update(calendars.Path(calendar.Key), updates...)
		})
		if err != nil {
			return err
		}
	}
	for pollID, err := range poll.Delivering(ctx, s.Store, now) {
		if err == nil {
			err = s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
				return tx.Update(poll.AnnouncementPath(pollID), poll.ReleaseUpdate())
			})
		}
		if err != nil {
			return err
		}
	}
	for _, intent := range intents {
		err := s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Update(intent.Path(), poll.Set("due", now))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
