package scheduler

import (
	"context"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// How long a person's sync waits for its sync run, and between its checks, which are reads.
const (
	syncPatience   = 3 * time.Second
	syncCheckFirst = 20 * time.Millisecond
	syncCheckMost  = 300 * time.Millisecond
)

// Sync asks for a sync of a poll's calendar, waits for it for up to 3 seconds, and gives the
// poll as it then is. A longer run goes on. Only the creator may.
func (s *Service) Sync(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	p, _, err := created(ctx, s.Store, person, pollID)
	if err != nil {
		return View{}, err
	}
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil {
		return View{}, pollError(pollID, "sync", err)
	}
	if entry != nil {
		if err := s.awaitSync(ctx, *entry, cause); err != nil {
			return View{}, pollError(pollID, "sync", err)
		}
	}
	return s.View(ctx, person, pollID)
}

// awaitSync asks for a sync of the calendar and waits for the end of one that began
// afterwards, or of its patience.
func (s *Service) awaitSync(ctx context.Context, entry poll.IndexEntry, cause Cause) error {
	key := poll.CalendarKey(entry.AccountID, entry.CalendarID)
	var asked calendars.Calendar
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var err error
		asked, _, err = calendars.LoadKey(ctx, tx, key)
		if err != nil {
			return err
		}
		return tx.Merge(calendars.Path(key), asked.RequestFetch(cause.Request(s.Now()), entry.EventID)...)
	})
	if err != nil {
		return err
	}
	s.syncSoon(ctx, entry.AccountID, entry.CalendarID)
	deadline := s.Now().Add(syncPatience)
	pause := syncCheckFirst
	for left := syncPatience; left > 0; left = deadline.Sub(s.Now()) {
		calendar, _, err := calendars.LoadKey(ctx, s.Store, key)
		if err != nil {
			return err
		}
		if calendar.Fence > asked.Fence && calendar.LeaseUntil.IsZero() {
			return nil
		}
		if err := s.Wait(ctx, min(pause, left)); err != nil {
			return err
		}
		pause = min(2*pause, syncCheckMost)
	}
	return nil
}
