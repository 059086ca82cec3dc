package calendarsync

import (
	"context"
	"errors"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// freshFor is how long a calendar that a look went through is left out of a
// sweep.
const freshFor = time.Hour

// sweepPage is how many documents a sweep reads at a time.
const sweepPage = 100

// Swept counts what a sweep did.
type Swept struct {
	Calendars  int // followed by a poll
	HandedOver int // of these, each as a task of its own
	Looks      int // handed over
	Fresh      int // left out, since a look went well within the hour
	Mended     int // polls and index entries brought in order
	Failed     int // what could not be done and is tried by the next sweep
}

// sweepCalendar compares the index entries of a calendar with their polls,
// makes sure of its channel, and owes it a look unless it is fresh.
func (w *Watcher) sweepCalendar(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, swept *Swept) error {
	mayShowUnwatched := false // a poll may say that nothing watches its calendar
	err := eachPage(ctx, w.Store, calendar.AccountID, calendar.CalendarID, func(entries []poll.IndexEntry) error {
		disagreeing, unwatched, err := w.disagreeing(ctx, entries)
		for _, pollID := range disagreeing {
			w.repair(ctx, pollID, cause, swept)
		}
		mayShowUnwatched = mayShowUnwatched || unwatched || len(disagreeing) > 0
		return err
	})
	if err != nil {
		return err
	}
	watchErr := w.sweepWatch(ctx, calendar, mayShowUnwatched)
	if w.fresh(calendar) {
		swept.Fresh++
		return watchErr
	}
	swept.Looks++
	err = w.write(ctx, calendar.Key, calendars.Owe())
	if err == nil {
		err = w.enqueueSync(ctx, calendar.Key, cause.Hint, cause.Trace)
	}
	return errors.Join(watchErr, err)
}

// untidy gives those polls of a page of index entries that may not agree with
// their entry, and tells whether one of the others shows watch_failed. The polls
// are read in one call: almost all agree, and to reconcile each would read seven
// documents of each.
func (w *Watcher) disagreeing(ctx context.Context, entries []poll.IndexEntry) (ids []string, unwatched bool, err error) {
	paths := make([]store.Path, len(entries))
	for i, entry := range entries {
		paths[i] = poll.Path(entry.PollID)
	}
	docs, err := w.Store.GetAll(ctx, paths)
	if err != nil {
		return nil, false, err
	}
	for i, doc := range docs {
		p := poll.Decode(doc)
		switch {
		case !doc.Exists() || !scheduler.Agrees(p, entries[i], w.Now()):
			ids = append(ids, entries[i].PollID)
		case p.Sync.Error != nil && p.Sync.Error.Code == rules.WatchFailed:
			unwatched = true
		}
	}
	return ids, unwatched, nil
}

// enoughSweeps is how many sweeps in a row have to go well for a calendar to do
// without a watch channel.
const enoughSweeps = 2

// sweepWatch makes sure of a calendar's watch channel. The error of one that
// cannot be made is given back; its polls show watch_failed no longer where the
// sweeps do well enough without. complained: one of them may show it now.
func (w *Watcher) sweepWatch(ctx context.Context, calendar calendars.Calendar, mayShowUnwatched bool) error {
	if calendar.Revoked() {
		return nil // Links makes sure of it when its account is linked again
	}
	failure := w.Ensure(ctx, calendar.AccountID, calendar.CalendarID)
	watched := failure == nil || fault.CodeOf(failure) == scheduler.CodeStillWatched
	if !watched {
		updates, good := calendar.Unwatched(w.Now())
		err := w.write(ctx, calendar.Key, updates)
		if err != nil || good < enoughSweeps {
			return errors.Join(failure, err)
		}
	}
	if w.Address == "" || watched && !mayShowUnwatched {
		return failure
	}
	// Said again where a channel lives, should a crash have kept it from being said.
	return errors.Join(failure, w.clearWatchFailed(ctx, calendar.AccountID, calendar.CalendarID))
}

// write merges updates into a calendar's document.
func (w *Watcher) write(ctx context.Context, key string, updates []store.Update) error {
	return w.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Merge(calendars.Path(key), updates...)
	})
}

// fresh tells whether nothing is owed to a calendar: a look went through within
// the hour, none is due, and no event waits but for a person.
func (w *Watcher) fresh(calendar calendars.Calendar) bool {
	for _, reason := range calendar.Pending {
		if reason != calendars.PendingHeld {
			return false
		}
	}
	return !calendar.LookDue && calendar.SuccessAt.After(w.Now().Add(-freshFor))
}

// mend brings a poll in order. One that cannot be is left to the next sweep.
func (w *Watcher) repair(ctx context.Context, pollID string, cause scheduler.Cause, swept *Swept) {
	repair, err := w.Polls.Reconcile(ctx, pollID, cause)
	switch {
	case err != nil:
		swept.Failed++
		w.Log.WarnContext(ctx, "sweep: poll left to the next", "poll", pollID, "trace", cause.Trace, "error", err)
	case repair != rules.MendNothing:
		swept.Mended++
	}
}
