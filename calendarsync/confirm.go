package calendarsync

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Confirm records that a person confirmed the held cancellations of some polls: each
// event is fetched again, and the poll cancelled if it is gone. It skips polls that are
// not held and returns how many events will be fetched. NotFound: the calendar is not the
// person's.
func (w *Watcher) Confirm(ctx context.Context, person scheduler.Person, key string, pollIDs []string, cause scheduler.Cause) (int, error) {
	confirmed := 0
	err := w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		confirmed = 0
		calendar, ok, err := calendars.LoadKey(ctx, tx, key)
		if err != nil {
			return err
		}
		if !ok || calendar.OwnerID != person.ID && !person.Admin {
			return fault.New(fault.NotFound, "There is no such calendar among those you linked.")
		}
		var updates []store.Update
		for _, eventID := range calendar.DeferredEvents() {
			if calendar.Deferred(eventID).Why != calendars.DeferredHeld {
				continue
			}
			entry, _, err := poll.FindIndex(ctx, tx, calendar.AccountID, calendar.CalendarID, eventID)
			if err != nil {
				return err
			}
			if entry == nil || slices.Contains(pollIDs, entry.PollID) {
				updates = append(updates, calendars.Defer(eventID, calendars.DeferredConfirmed, w.Now()))
			}
		}
		confirmed = len(updates)
		if confirmed == 0 {
			return nil
		}
		return tx.Update(calendars.Path(key), append(updates, calendars.RequestSync(cause.Request(w.Now()))...)...)
	})
	if err != nil || confirmed == 0 {
		return 0, err
	}
	w.Outbox.Soon(ctx, calendars.SyncKind, key, w.Now())
	return confirmed, nil
}
