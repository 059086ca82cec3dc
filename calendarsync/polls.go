package calendarsync

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// pollConsumer is the consumer of one run that polls are. An event that fails fails the
// run, so that the outbox retries it, until the event was tried stuckAfter times.
type pollConsumer struct {
	*syncRun
	// search is nil until an event is searched for.
	search *search
	// settled are the deferred events that were applied.
	settled []string
}

// Name implements Consumer.
func (l *pollConsumer) Name() string { return poll.ConsumerPoll }

// Reads implements Consumer.
func (l *pollConsumer) Reads() gcal.Mask { return gcal.Times }

// Concerns implements Consumer: whether an event may be linked.
func (l *pollConsumer) Concerns(calendar calendars.Calendar, eventID string) bool {
	return isOurs(eventID) || slices.Contains(calendar.LegacyEventIDs, eventID)
}

func isOurs(eventID string) bool { return strings.HasPrefix(eventID, poll.EventPrefix) }

// Apply implements Consumer. A deletion counts only if we may write to the calendar, since
// readers may be shown less. Otherwise the event is deferred, and its poll shows
// sync_failed.
func (l *pollConsumer) Apply(ctx context.Context, _ Run, observed Observation) error {
	event := observed.Event
	if event.EventState == rules.Gone && !observed.Writable {
		return l.deferFailed(ctx, event.ID)
	}
	return l.deferIfStuck(ctx, event.ID, guarded(func() error { return l.applyOrDefer(ctx, event, l.observation(event)) }))
}

// Unlisted implements Consumer.
func (l *pollConsumer) Unlisted(ctx context.Context, _ Run, _ func(string) bool) error {
	return l.fetchUnlisted(ctx)
}

// settle does what follows a listing: it announces what is held, applies deferred events,
// and clears errors of the account.
func (l *pollConsumer) settle(ctx context.Context) (err error) {
	if l.calendar.HoldUnannounced {
		if err := l.announceHeld(ctx); err != nil {
			return err
		}
	}
	l.settled, err = l.fetchDeferred(ctx)
	if err != nil {
		return err
	}
	return l.clearAccountErrors(ctx)
}

// applyOrDefer applies an observation. A malformed event is applied as unreadable and
// deferred too: once it is readable, no further listing need show it.
func (l *pollConsumer) applyOrDefer(ctx context.Context, event gcal.Event, observed scheduler.Observation) error {
	if err := l.applyObservation(ctx, observed); err != nil || !event.Malformed {
		return err
	}
	return l.deferEvent(ctx, event.ID)
}

// observation is an event as the rules take it.
func (l *pollConsumer) observation(event gcal.Event) scheduler.Observation {
	return scheduler.Observation{
		AccountID: l.ref.Account, CalendarID: l.ref.Calendar, EventID: event.ID,
		EventState: event.EventState, Fingerprint: event.Fingerprint, Updated: event.Updated,
		Fence: l.fence, Cause: l.cause,
	}
}

// stuckAfter is how many attempts one failing event may block the sync token.
const stuckAfter = 3

// attempt counts the runs since the last successful one, this one included.
func (l *syncRun) attempt() int64 { return l.calendar.SyncAttempts + 1 }

// deferIfStuck lets the sync token pass an event that keeps failing: its poll shows
// sync_failed, and it is fetched individually from then on.
func (l *pollConsumer) deferIfStuck(ctx context.Context, eventID string, failure error) error {
	if failure == nil || l.endsRun(ctx, failure) || l.attempt() < stuckAfter {
		return failure
	}
	l.Log.ErrorContext(ctx, "event keeps failing and is deferred", "event", eventID, "calendar", l.ref.Calendar,
		"trace", l.cause.Trace, "error", failure)
	return l.deferFailed(ctx, eventID)
}

// deferFailed defers an event and shows that on its poll.
func (l *pollConsumer) deferFailed(ctx context.Context, eventID string) error {
	if err := l.deferEvent(ctx, eventID); err != nil {
		return err
	}
	entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
	if err != nil || entry == nil {
		return err
	}
	if err := l.Polls.SetSyncError(ctx, entry.PollID, rules.SyncFailed, l.cause, l.stillHolds); err != nil {
		// The event is deferred all the same: a poll that cannot be written blocks no other.
		l.Log.ErrorContext(ctx, "sync_failed not shown on poll", "poll", entry.PollID, "trace", l.cause.Trace, "error", err)
	}
	return nil
}

// deferEvent has an event fetched individually by later runs. Events that await or have a
// user's confirmation are left alone.
func (l *pollConsumer) deferEvent(ctx context.Context, eventID string) error {
	return l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		if now.Awaits(eventID) {
			return nil
		}
		return []store.Update{calendars.Defer(eventID, calendars.DeferredFailed)}
	})
}
