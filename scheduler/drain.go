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
	Looks         int
}

// drainPage is how many documents a drain reads at a time.
const drainPage = 100

// Drain enqueues everything that was committed and may not have been enqueued: intents and
// announcements that are due, pending cards and pending syncs. It runs every minute, and at
// the start of a process. Tasks that are done or queued already absorb the second. What failed
// is left to its task while that retries, or an outage would make a task of each minute.
func (s *Service) Drain(ctx context.Context, cause Cause) (drained Drained, err error) {
	now := s.Now()
	// A name of its own each minute: one that an ended task still holds must
	// not keep its document waiting.
	bucket := "/drain/" + strconv.FormatInt(now.Unix()/60, 10)
	err = each(func(after *store.Cursor) ([]poll.Intent, *store.Cursor, error) {
		return poll.IntentsDue(ctx, s.Store, now, drainPage, after)
	}, func(intent poll.Intent) error {
		drained.Intents++
		s.enqueue(ctx, KindIntent, intent.ID()+bucket, Work{ID: intent.ID(), Trace: intent.Trace}, time.Time{})
		return nil
	})
	if err != nil {
		return drained, err
	}
	err = each(func(after *store.Cursor) ([]poll.Announcement, *store.Cursor, error) {
		return poll.AnnouncementsDue(ctx, s.Store, now, drainPage, after)
	}, func(due poll.Announcement) error {
		if !due.AgainAt.After(now) {
			drained.Announcements++
			s.enqueue(ctx, poll.AnnounceKind, due.PollID+"/"+due.Wanted.Ref+bucket, Work{ID: due.PollID, Trace: due.Wanted.Trace}, time.Time{})
		}
		return nil
	})
	if err != nil {
		return drained, err
	}
	err = each(func(after *store.Cursor) ([]poll.Announcement, *store.Cursor, error) {
		return poll.CardsOwed(ctx, s.Store, drainPage, after)
	}, func(card poll.Announcement) error {
		drained.Cards++
		s.enqueue(ctx, poll.AnnounceKind, card.PollID+"/card"+bucket, Work{ID: card.PollID, Trace: cause.Trace}, time.Time{})
		return nil
	})
	if err != nil {
		return drained, err
	}
	err = each(func(after *store.Cursor) ([]calendars.Calendar, *store.Cursor, error) {
		return calendars.Due(ctx, s.Store, drainPage, after)
	}, func(calendar calendars.Calendar) error {
		drained.Looks++
		_, err := s.Queue.Enqueue(ctx, calendars.LookTask(calendar, cause.Hint, cause.Trace))
		return err
	})
	return drained, err
}

// Recover takes back what a dead process of the same store held: leases of sync runs and
// intents under way. Only for a store that one process has to itself.
func (s *Service) Recover(ctx context.Context) error {
	now := s.Now()
	found, err := calendars.Leased(ctx, s.Store, now)
	if err != nil {
		return err
	}
	intents, _, err := poll.IntentsDue(ctx, s.Store, now.Add(transition.InsertGrace), 0, nil)
	if err != nil {
		return err
	}
	for _, calendar := range found {
		err := s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			updates := append(calendars.Owe(), calendars.Release())
			return tx.Update(calendars.Path(calendar.Key), updates...)
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

// each calls do for all that the pages hold.
func each[T any](page func(after *store.Cursor) ([]T, *store.Cursor, error), do func(T) error) error {
	var after *store.Cursor
	for {
		found, next, err := page(after)
		if err != nil {
			return err
		}
		for _, one := range found {
			if err := do(one); err != nil {
				return err
			}
		}
		if after = next; after == nil {
			return nil
		}
	}
}
