package calendarsync

import (
	"context"
	"errors"
	"slices"

	"questscheduler/internal/calendars"
	"questscheduler/scheduler"
)

// renewPage is how many calendars a renewal reads at a time.
const renewPage = 100

// Renewed counts what a renewal did.
type Renewed struct {
	Calendars int // looked over
	Opened    int // new channels
	Stopped   int // channels that nothing needs any more
	Failed    int // calendars left to the next renewal
}

// RenewPage looks over a page of calendars: one that something follows gets a new
// channel where none lives that is not due to be renewed, and the old ones are
// stopped behind it; one that nothing follows has its channels stopped. A calendar
// that no channel watched, or whose old one is stopped, is looked at, since nothing
// said what happened until then. One failure does not stop the others, and takes
// nothing away that lives. What is due between two renewals is Retry's.
//
// at is where an earlier page ended ("": from the beginning); next is where to
// go on, "" at the end. A page that is done again does nothing twice. The error
// is that of a store that does not answer.
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
		return nil // Links makes sure of it when its account is linked again
	}
	watches, err := Watches(ctx, w.Store, calendar.AccountID, calendar.CalendarID)
	if err != nil {
		return err
	}
	if !calendar.Wanted() {
		for _, watch := range watches {
			unneeded, err := w.release(ctx, watch)
			if err != nil {
				return err
			}
			if unneeded && w.retire(ctx, watch) {
				renewed.Stopped++
			}
		}
		return nil
	}
	unapplied := observedOnly(calendar) && !w.Observing // what was observed is to be applied now
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
	// What an old channel pushes once it is stopped is not taken: what happened
	// until the new one was open is found by a look.
	err = w.enqueueSync(ctx, calendar.Key, cause.Hint, cause.Trace)
	return errors.Join(calendarError(calendar.CalendarID, "watch", failure), err)
}
