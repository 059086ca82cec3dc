package calendarsync

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/scheduler"
)

const registerPage = 10

// Register opens a new watch channel for each followed calendar of a page, regardless of
// existing ones, stops the others unless the new one is brief, and syncs the calendar:
// for channels that are alive at Google but do not push, and for a deployment without
// recorded channels. A calendar that fails keeps its channels and stops no other.
//
// at is where an earlier page ended ("" starts at the beginning); next continues, "" at
// the end. After until no further calendar is begun, but at least one is done. Repeating
// a page registers again. Conflict: no public address. Other errors are the store's.
func (w *Watcher) Register(
	ctx context.Context, cause scheduler.Cause, at string, until time.Time,
) (renewed Renewed, next string, err error) {
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
			w.Log.WarnContext(ctx, "calendar keeps its watch channels", "calendar", calendar.CalendarID,
				"account", calendar.AccountID, "trace", cause.Trace, "error", failure)
			continue
		}
		renewed.Opened++
	}
	return renewed, next, err
}

// register opens a channel for one calendar and stops its earlier ones.
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
	return stopped, w.requestSync(ctx, calendar.Key, cause)
}
