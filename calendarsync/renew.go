package calendarsync

import (
	"context"
	"errors"
	"slices"

	"questscheduler/internal/calendars"
	"questscheduler/scheduler"
)

const renewPage = 100

// Renewed counts what a renewal did.
type Renewed struct {
	Calendars int // checked
	Opened    int // new channels
	Stopped   int // channels of calendars that nothing follows
	Failed    int // calendars left to the next renewal
}

// RenewPage renews the channels of a page of calendars. A followed calendar without an
// up-to-date channel gets a new one, and its old ones are stopped afterwards; it is
// synced if it was unwatched or an old channel was stopped. A calendar that nothing
// follows loses its channels. A failure stops no other and leaves live channels. Retry
// covers what falls due between renewals.
//
// at is where an earlier page ended ("" starts at the beginning); next continues, "" at
// the end. Repeating a page is harmless. The error is the store's.
func (w *Watcher) RenewPage(ctx context.Context, cause scheduler.Cause, at string) (renewed Renewed, next string, err error) {
	until := w.Now().Add(batchTime)
	found, next, err := calendars.All(ctx, w.Store, renewPage, at)
	for i, calendar := range found {
		if i > 0 && !w.Now().Before(until) {
			return renewed, found[i-1].Key, err
		}
		if failure := w.renewOne(ctx, calendar, cause, &renewed); failure != nil {
			renewed.Failed++
			w.Log.WarnContext(ctx, "watch channels left to the next renewal", "calendar", calendar.CalendarID,
				"account", calendar.AccountID, "trace", cause.Trace, "error", failure)
		}
	}
	return renewed, next, err
}

func (w *Watcher) renewOne(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, renewed *Renewed) error {
	renewed.Calendars++
	if calendar.Wanted() && calendar.Revoked() {
		return nil // Links watches it when the account is relinked
	}
	watches, err := Watches(ctx, w.Store, calendar.AccountID, calendar.CalendarID)
	if err != nil {
		return err
	}
	if !calendar.Wanted() {
		stopped, err := w.releaseAll(ctx, watches)
		renewed.Stopped += stopped
		return err
	}
	unapplied := observedOnly(calendar) && !w.Observing // observations must now be applied
	if !unapplied && (w.Address == "" || slices.ContainsFunc(watches, w.upToDate)) {
		return nil
	}
	watched := !unapplied && slices.ContainsFunc(watches, w.isLive)
	opened, failure := w.ensure(ctx, calendar.AccountID, calendar.CalendarID)
	if opened {
		renewed.Opened++
	}
	if failure != nil && !opened || watched && !opened {
		return calendarError(calendar.CalendarID, "watch", failure)
	}
	// A stopped channel's pushes are refused: sync what changed before the new one opened.
	err = w.requestSync(ctx, calendar.Key, cause)
	return errors.Join(calendarError(calendar.CalendarID, "watch", failure), err)
}
