package calendarsync

import (
	"context"
	"errors"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// freshFor is how long a successful run exempts a calendar from a sweep.
const freshFor = time.Hour

const sweepPage = 100

// Swept counts what a sweep did.
type Swept struct {
	Calendars  int // followed by anything
	HandedOver int // of these, to be swept separately
	Syncs      int // sync runs requested
	Fresh      int // synced within the hour
	Repaired   int // repaired polls and index entries
	Failed     int // left to the next sweep
}

// sweepCalendar compares a calendar's index entries with their polls, and ensures its
// channel. stale reports that the calendar must be synced.
func (w *Watcher) sweepCalendar(
	ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, swept *Swept,
) (stale bool, err error) {
	mayShowUnwatched := false // a poll may say that nothing watches its calendar
	entries, err := store.Collect(poll.IndexOfCalendar(ctx, w.Store, calendar.AccountID, calendar.CalendarID))
	if err != nil {
		return false, err
	}
	for page := range slices.Chunk(entries, sweepPage) {
		disagreeing, unwatched, err := w.disagreeing(ctx, page)
		if err != nil {
			return false, err
		}
		for _, pollID := range disagreeing {
			w.repair(ctx, pollID, cause, swept)
		}
		mayShowUnwatched = mayShowUnwatched || unwatched || len(disagreeing) > 0
	}
	stale = !w.fresh(calendar)
	if stale {
		swept.Syncs++
	} else {
		swept.Fresh++
	}
	return stale, w.sweepWatch(ctx, calendar, mayShowUnwatched)
}

// disagreeing returns the polls of a page of index entries that may disagree with their
// entry, and reports whether another one shows watch_failed. It reads the polls in one
// call: almost all agree, and reconciling one reads seven documents.
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

// enoughSweeps is how many successful sweeps in a row make up for a missing watch
// channel.
const enoughSweeps = 2

// sweepWatch ensures a calendar's watch channel and returns the error if it cannot. It
// clears watch_failed on the polls if a channel is live, or the sweeps suffice.
// mayShowUnwatched: a poll may show it.
func (w *Watcher) sweepWatch(ctx context.Context, calendar calendars.Calendar, mayShowUnwatched bool) error {
	if calendar.Revoked() {
		return nil // Links watches it when the account is relinked
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
	// Repeated while a channel is live, in case a crash prevented it.
	return errors.Join(failure, w.clearWatchFailed(ctx, calendar.AccountID, calendar.CalendarID))
}

// write merges updates into a calendar's document.
func (w *Watcher) write(ctx context.Context, key string, updates []store.Update) error {
	return w.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Merge(calendars.Path(key), updates...)
	})
}

// fresh reports whether a calendar needs no run: one succeeded lately, none is pending,
// and no event is deferred except for a person.
func (w *Watcher) fresh(calendar calendars.Calendar) bool {
	return !calendar.SyncPending && !calendar.HasBacklog() && calendar.SuccessAt.After(w.Now().Add(-freshFor))
}

// repair reconciles a poll; the next sweep retries a failure.
func (w *Watcher) repair(ctx context.Context, pollID string, cause scheduler.Cause, swept *Swept) {
	repair, err := w.Polls.Reconcile(ctx, pollID, cause)
	switch {
	case err != nil:
		swept.Failed++
		w.Log.WarnContext(ctx, "sweep: poll left to the next", "poll", pollID, "trace", cause.Trace, "error", err)
	case repair != rules.RepairNothing:
		swept.Repaired++
	}
}
