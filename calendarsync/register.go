package calendarsync

import (
	"context"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/scheduler"
)

// registerPage is how many calendars a registration deals with at a time.
const registerPage = 10

// Register opens a new watch channel for each of a page of calendars that
// something follows, whatever lives there and however soon after another one, and
// stops the others behind it, unless Google grants it for minutes only: for
// channels that live in Google's eyes and do not push, and for a deployment that
// begins with none on record. Each calendar
// is looked at once. One that cannot be registered keeps what it has; a failure
// stops no other.
//
// at is where an earlier page ended ("": from the beginning); next is where to
// go on, "" at the end. Once it is until, no further calendar is begun, and next is
// behind the last that was done: one is, however late. A page that is done again
// registers again. Conflict:
// Google has no address to push to. Any other error is that of a store that does
// not answer.
func (w *Watcher) Register(ctx context.Context, cause scheduler.Cause, at string, until time.Time) (renewed Renewed, next string, err error) {
	if w.Address == "" {
		return Renewed{}, "", fault.New(fault.Conflict, "Google has no address to push to. Set QS_PUBLIC_URL, and QS_SYNC to on.")
	}
	found, next, err := calendars.All(ctx, w.Store, registerPage, at)
	for i, calendar := range found {
		if i > 0 && !w.Now().Before(until) {
			return renewed, found[i-1].Key, err
		}
		if !calendar.Wanted() || calendar.Revoked() {
			continue
		}
		renewed.Calendars++
		stopped, failure := w.register(ctx, calendar, cause)
		renewed.Stopped += stopped
		if failure != nil {
			renewed.Failed++
			w.Log.WarnContext(ctx, "a calendar keeps the watch channels that it has", "calendar", calendar.CalendarID,
				"account", calendar.AccountID, "trace", cause.Trace, "error", failure)
			continue
		}
		renewed.Opened++
	}
	return renewed, next, err
}

// register opens a channel for one calendar, and stops those of before it.
func (w *Watcher) register(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause) (stopped int, err error) {
	before, err := Watches(ctx, w.Store, calendar.AccountID, calendar.CalendarID)
	if err != nil {
		return 0, err
	}
	granted, err := w.open(ctx, calendar.AccountID, calendar.CalendarID, true)
	if err == nil && granted.Brief() {
		err = errShortGrants
	}
	if err != nil {
		return 0, calendarError(calendar.CalendarID, "watch", err)
	}
	for _, old := range before {
		if old.Status != Expired && w.retire(ctx, old) {
			stopped++
		}
	}
	if err := w.clearWatchFailed(ctx, calendar.AccountID, calendar.CalendarID); err != nil {
		return stopped, err
	}
	return stopped, w.enqueueSync(ctx, calendar.Key, cause.Hint, cause.Trace)
}
