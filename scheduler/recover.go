package scheduler

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/transition"
)

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
		err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			current, _, err := calendars.LoadKey(ctx, tx, calendar.Key)
			if err != nil {
				return err
			}
			return tx.Update(calendars.Path(calendar.Key), current.Abandon(now)...)
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
