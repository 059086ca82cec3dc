package mirrors

import (
	"context"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
)

// Consumer is the Service as a consumer of calendar changes. Every event of a calendar that
// mirroring follows concerns it: an event of a person is an origin, an event of ours a
// mirror.
type Consumer struct{ *Service }

var _ calendarsync.PageConsumer = Consumer{}

// Name implements calendarsync.Consumer.
func (Consumer) Name() string { return mirror.Consumer }

// Reads implements calendarsync.Consumer.
func (Consumer) Reads() gcal.Mask { return gcal.WithDetails }

// Concerns implements calendarsync.Consumer.
func (Consumer) Concerns(calendar calendars.Calendar, _ string) bool {
	return calendar.Interests[mirror.Consumer] > 0
}

// Apply implements calendarsync.Consumer. An observation that changes nothing writes
// nothing.
func (c Consumer) Apply(ctx context.Context, run calendarsync.Run, observed calendarsync.SyncedEvent) error {
	return c.apply(ctx, observation{
		calendar: run.Calendar, cause: run.Cause, event: observed.Event, writable: observed.Writable, follows: run.Follows,
	})
}

// ApplyPage implements calendarsync.PageConsumer.
func (c Consumer) ApplyPage(
	ctx context.Context, run calendarsync.Run, observed []calendarsync.SyncedEvent, full bool,
) (map[string]bool, error) {
	if len(observed) < together {
		return nil, nil
	}
	page := make([]observation, len(observed))
	for i, one := range observed {
		page[i] = observation{calendar: run.Calendar, cause: run.Cause, event: one.Event, writable: one.Writable, follows: run.Follows}
	}
	if !full {
		return c.applyPage(ctx, page, nil)
	}
	known, err := c.storedOf(ctx, run)
	if err != nil {
		return nil, err
	}
	return c.applyPage(ctx, page, known)
}

// Unlisted implements calendarsync.Consumer.
func (c Consumer) Unlisted(ctx context.Context, run calendarsync.Run, shown func(eventID string) bool) error {
	known, err := c.storedOf(ctx, run)
	if err != nil {
		return err
	}
	return c.unlisted(ctx, &listing{
		calendar: run.Calendar, cause: run.Cause, shown: shown, known: known, fetch: run.FetchMissing, follows: run.Follows,
	})
}
