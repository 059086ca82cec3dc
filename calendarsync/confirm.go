package calendarsync

import (
	"context"
	"slices"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Confirm takes a person's word that the held cancellations of these polls are
// meant: each event is looked at again, and a poll whose event is gone is
// cancelled; one whose event is back goes on. NotFound for a calendar that is
// not the person's. Polls that are not held are passed over. It gives how many
// events are looked at.
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
		for _, eventID := range calendar.PendingEvents() {
			if calendar.Pending[eventID] != calendars.PendingHeld {
				continue
			}
			entry, _, err := poll.FindIndex(ctx, tx, calendar.AccountID, calendar.CalendarID, eventID)
			if err != nil {
				return err
			}
			if entry == nil || slices.Contains(pollIDs, entry.PollID) {
				updates = append(updates, calendars.Park(eventID, calendars.PendingConfirmed))
			}
		}
		if confirmed = len(updates); confirmed == 0 {
			return nil
		}
		return tx.Update(calendars.Path(key), append(updates, calendars.Owe()...)...)
	})
	if err != nil || confirmed == 0 {
		return 0, err
	}
	return confirmed, w.enqueueSync(ctx, key, cause.Hint, cause.Trace)
}
