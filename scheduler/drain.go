package scheduler

import (
	"context"
	"strconv"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/transition"
)

// Drained counts what a drain handed over.
type Drained struct {
	Intents       int
	Announcements int
	Cards         int
}

// Drain enqueues everything that was committed and may not have been enqueued: intents and
// announcements that are due, and pending cards. It runs every minute, and at the start of
// a process. Tasks that are done or queued already absorb the second. What failed
// is left to its task while that retries, or an outage would make a task of each minute.
func (s *Service) Drain(ctx context.Context, cause Cause) (drained Drained, err error) {
	now := s.Now()
	// A name of its own each minute: one that an ended task still holds must
	// not keep its document waiting.
	bucket := "/drain/" + strconv.FormatInt(now.Unix()/60, 10)
	for intent, err := range poll.PendingIntents(ctx, s.Store, now) {
		if err != nil {
			return drained, err
		}
		drained.Intents++
		s.enqueue(ctx, KindIntent, intent.ID()+bucket, Work{ID: intent.ID(), Trace: intent.Trace}, time.Time{})
	}
	for due, err := range poll.PendingAnnouncements(ctx, s.Store, now) {
		if err != nil {
			return drained, err
		}
		if due.AgainAt.After(now) {
			continue
		}
		drained.Announcements++
		s.enqueue(ctx, poll.AnnounceKind, due.PollID+"/"+due.Wanted.Ref+bucket, Work{ID: due.PollID, Trace: due.Wanted.Trace}, time.Time{})
	}
	for card, err := range poll.PendingCards(ctx, s.Store) {
		if err != nil {
			return drained, err
		}
		drained.Cards++
		s.enqueue(ctx, poll.AnnounceKind, card.PollID+"/card"+bucket, Work{ID: card.PollID, Trace: cause.Trace}, time.Time{})
	}
	return drained, nil
}

// Recover takes back what a dead process of the same store held: leases of sync runs and
// intents under way. Only for a store that one process has to itself.
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
