package calendarsync

import (
	"context"
	"errors"
	"time"

	"questscheduler/cursor"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
	"questscheduler/store"
)

// freshFor is how long a calendar that a look went through is left out of a
// sweep.
const freshFor = time.Hour

// sweepPage is how many documents a sweep reads at a time.
const sweepPage = 100

// Swept counts what a sweep did.
type Swept struct {
	Calendars int // followed by a poll
	Looks     int // handed over
	Fresh     int // left out, since a look went well within the hour
	Mended    int // polls and index entries brought in order
	Failed    int // what could not be done and is tried by the next sweep
}

// Sweep heals what pushes miss (seed 002, "Polling fallback"), calendar by
// calendar and not poll by poll: it brings polls and index entries in order
// that were written behind our back, makes sure of the watch channels, owes
// each calendar a look that had none lately or has events to be asked for, and
// stops the channels that nothing needs. One failure does not stop the others.
func (w *Watcher) Sweep(ctx context.Context, cause scheduler.Cause) (Swept, error) {
	var swept Swept
	if err := w.mendPolls(ctx, cause, &swept); err != nil {
		return swept, err
	}
	var after *store.Cursor
	for {
		calendars, next, err := cursor.Followed(ctx, w.Store, sweepPage, after)
		if err != nil {
			return swept, err
		}
		for _, calendar := range calendars {
			swept.Calendars++
			if err := w.sweepCalendar(ctx, calendar, cause, &swept); err != nil {
				swept.Failed++
				w.Log.WarnContext(ctx, "sweep: calendar left to the next", "calendar", calendar.CalendarID, "trace", cause.Trace, "error", err)
			}
		}
		if next == nil {
			break
		}
		after = next
	}
	if err := w.tidy(ctx); err != nil {
		swept.Failed++
		w.Log.WarnContext(ctx, "sweep: channels left to the next", "trace", cause.Trace, "error", err)
	}
	return swept, nil
}

// sweepCalendar compares the index entries of a calendar with their polls,
// makes sure of its channel, and owes it a look unless it is fresh.
func (w *Watcher) sweepCalendar(ctx context.Context, calendar cursor.Calendar, cause scheduler.Cause, swept *Swept) error {
	err := eachEntry(ctx, w.Store, calendar.AccountID, calendar.CalendarID, func(entry poll.IndexEntry) error {
		return w.mend(ctx, entry.PollID, cause, swept)
	})
	if err != nil {
		return err
	}
	watchErr := w.sweepWatch(ctx, calendar)
	if w.fresh(calendar) {
		swept.Fresh++
		return watchErr
	}
	swept.Looks++
	err = w.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Merge(cursor.Path(calendar.Key), cursor.Owe()...)
	})
	if err == nil {
		err = w.enqueueLook(ctx, calendar.Key, cause.Hint, cause.Trace)
	}
	return errors.Join(watchErr, err)
}

// enoughSweeps is how many sweeps in a row have to go well for a calendar to do
// without a watch channel.
const enoughSweeps = 2

// sweepWatch makes sure of a calendar's watch channel. The error of one that
// cannot be made is given back; its polls show watch_failed no longer where the
// sweeps do well enough without.
func (w *Watcher) sweepWatch(ctx context.Context, calendar cursor.Calendar) error {
	if calendar.Revoked() {
		return nil // Links makes sure of it when its account is linked again
	}
	failure := w.Ensure(ctx, calendar.AccountID, calendar.CalendarID)
	if failure != nil {
		updates, good := calendar.Unwatched(w.Now())
		err := w.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Merge(cursor.Path(calendar.Key), updates...)
		})
		if err != nil || good < enoughSweeps {
			return errors.Join(failure, err)
		}
	}
	if w.Address == "" {
		return failure
	}
	// Said again where a channel lives, should a crash have kept it from being said.
	return errors.Join(failure, w.clearWatchFailed(ctx, calendar.AccountID, calendar.CalendarID))
}

// fresh tells whether nothing is owed to a calendar: a look went through within
// the hour, none is due, and no event waits but for a person.
func (w *Watcher) fresh(calendar cursor.Calendar) bool {
	for _, reason := range calendar.Pending {
		if reason != cursor.PendingHeld {
			return false
		}
	}
	return !calendar.LookDue && calendar.SuccessAt.After(w.Now().Add(-freshFor))
}

// mendPolls brings polls in order by two roads beside that of the index: those
// whose status is another than their journal knows, which need not have an index
// entry, and the finalised ones, whose event may have none.
func (w *Watcher) mendPolls(ctx context.Context, cause scheduler.Cause, swept *Swept) error {
	for _, status := range rules.Statuses {
		err := w.mendEach(ctx, cause, swept, func(after *store.Cursor) ([]poll.Poll, *store.Cursor, error) {
			return poll.Edited(ctx, w.Store, status, sweepPage, after)
		})
		if err != nil {
			return err
		}
	}
	return w.mendEach(ctx, cause, swept, func(after *store.Cursor) ([]poll.Poll, *store.Cursor, error) {
		return poll.Finalised(ctx, w.Store, sweepPage, after)
	})
}

// mendEach brings the polls of a list in order, page by page.
func (w *Watcher) mendEach(ctx context.Context, cause scheduler.Cause, swept *Swept, list func(after *store.Cursor) ([]poll.Poll, *store.Cursor, error)) error {
	var after *store.Cursor
	for {
		polls, next, err := list(after)
		if err != nil {
			return err
		}
		for _, p := range polls {
			if err := w.mend(ctx, p.ID, cause, swept); err != nil {
				swept.Failed++
				w.Log.WarnContext(ctx, "sweep: poll left to the next", "poll", p.ID, "trace", cause.Trace, "error", err)
			}
		}
		if next == nil {
			return nil
		}
		after = next
	}
}

func (w *Watcher) mend(ctx context.Context, pollID string, cause scheduler.Cause, swept *Swept) error {
	mending, err := w.Polls.Reconcile(ctx, pollID, cause)
	if err == nil && mending != rules.MendNothing {
		swept.Mended++
	}
	return err
}
