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
func (s *Service) Drain(ctx context.Context, cause Cause) (Drained, error) {
	var drained Drained
	now := s.Now()
	// A name of its own each minute: one that an ended task still holds must
	// not keep its document waiting.
	bucket := "/drain/" + strconv.FormatInt(now.Unix()/60, 10)
	err := eachPage(func(after *store.Cursor) (*store.Cursor, error) {
		intents, next, err := poll.IntentsDue(ctx, s.Store, now, drainPage, after)
		for _, intent := range intents {
			drained.Intents++
			s.enqueue(ctx, KindIntent, intent.ID()+bucket, Work{ID: intent.ID(), Trace: intent.Trace}, time.Time{})
		}
		return next, err
	})
	if err != nil {
		return drained, err
	}
	err = eachPage(func(after *store.Cursor) (*store.Cursor, error) {
		owed, next, err := poll.AnnouncementsDue(ctx, s.Store, now, drainPage, after)
		for _, announcement := range owed {
			if announcement.AgainAt.After(now) {
				continue
			}
			drained.Announcements++
			name := announcement.PollID + "/" + announcement.Wanted.Ref + bucket
			s.enqueue(ctx, poll.AnnounceKind, name, Work{ID: announcement.PollID, Trace: announcement.Wanted.Trace}, time.Time{})
		}
		return next, err
	})
	if err != nil {
		return drained, err
	}
	err = eachPage(func(after *store.Cursor) (*store.Cursor, error) {
		owed, next, err := poll.CardsOwed(ctx, s.Store, drainPage, after)
		for _, card := range owed {
			drained.Cards++
			s.enqueue(ctx, poll.AnnounceKind, card.PollID+"/card"+bucket, Work{ID: card.PollID, Trace: cause.Trace}, time.Time{})
		}
		return next, err
	})
	if err != nil {
		return drained, err
	}
	err = eachPage(func(after *store.Cursor) (*store.Cursor, error) {
		found, next, err := calendars.Due(ctx, s.Store, drainPage, after)
		for _, calendar := range found {
			drained.Looks++
			if _, err := s.Queue.Enqueue(ctx, calendars.LookTask(calendar, cause.Hint, cause.Trace)); err != nil {
				return nil, err
			}
		}
		return next, err
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

// eachPage calls page from the beginning until it gives no further cursor.
func eachPage(page func(after *store.Cursor) (*store.Cursor, error)) error {
	var after *store.Cursor
	for {
		next, err := page(after)
		if err != nil || next == nil {
			return err
		}
		after = next
	}
}
