package attendees

import (
	"context"

	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
)

// Consumer is the Service as a consumer of calendar changes. Every event of a calendar that
// it follows concerns it.
type Consumer struct{ *Service }

var _ calendarsync.PageConsumer = Consumer{}

// Name implements calendarsync.Consumer.
func (Consumer) Name() string { return mappings.Consumer }

// Reads implements calendarsync.Consumer.
func (Consumer) Reads() gcal.Mask { return gcal.WithGuests }

// Concerns implements calendarsync.Consumer.
func (Consumer) Concerns(calendar calendars.Calendar, _ string) bool {
	return calendar.Interests[mappings.Consumer] > 0
}

// Apply implements calendarsync.Consumer. An observation that changes nothing writes
// nothing.
func (c Consumer) Apply(ctx context.Context, run calendarsync.Run, observed calendarsync.SyncedEvent) error {
	return c.apply(ctx, observationOf(run, observed))
}

// ApplyPage implements calendarsync.PageConsumer. It takes the events for which it
// writes nothing; Apply gets the others.
func (c Consumer) ApplyPage(
	ctx context.Context, run calendarsync.Run, observed []calendarsync.SyncedEvent, _ bool,
) (map[string]bool, error) {
	page := make([]observation, len(observed))
	for i, one := range observed {
		page[i] = observationOf(run, one)
	}
	return c.passPage(ctx, page)
}

// Unlisted implements calendarsync.Consumer. There is nothing to decide about an event that
// a calendar no longer shows: the guests of a deleted event are left as they are, and the
// writer finds the calendar without it if something must still be written.
func (Consumer) Unlisted(context.Context, calendarsync.Run, func(string) bool) error { return nil }

func observationOf(run calendarsync.Run, observed calendarsync.SyncedEvent) observation {
	at := run.Calendar
	return observation{
		shownEvent: show(at.Key, at.AccountID, at.CalendarID, observed.Event),
		writable:   observed.Writable, cause: run.Cause, holds: run.Holds,
	}
}
