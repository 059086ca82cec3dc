package calendarsync

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// pollConsumer is the consumer that polls are, for one run.
type pollConsumer struct {
	*syncRun
	// search is nil until an event is searched for.
	search *search
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
// readers may be shown less.
func (l *pollConsumer) Apply(ctx context.Context, run Run, observed SyncedEvent) error {
	event := observed.Event
	if event.EventState == rules.Gone && !observed.Writable {
		return errNotWriter
	}
	if err := l.awaitLink(ctx, event.ID); err != nil {
		return err
	}
	if l.joinsHold(observed) {
		return l.holdWithOthers(ctx, run, event)
	}
	return l.applyObservation(ctx, l.observation(event, observed.Fresh))
}

// awaitLink is ErrLater while a deferred event is being inserted for a poll. Polls.Apply would defer
// it anew, and the next run would come at once, for as long as the insert takes.
func (l *pollConsumer) awaitLink(ctx context.Context, eventID string) error {
	if l.calendar.Deferred(eventID) == (calendars.Deferral{}) {
		return nil
	}
	linked, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
	if err != nil || linked != nil {
		return err
	}
	intent, err := poll.LoadIntent(ctx, l.Store, poll.IntentID(l.ref.Account, l.ref.Calendar, eventID))
	if err == nil && intent != nil && intent.Kind == poll.IntentInsert {
		err = ErrLater
	}
	return err
}

// ShowFailure implements FailureShower.
func (l *pollConsumer) ShowFailure(ctx context.Context, _ Run, eventID string) error {
	entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
	if err != nil || entry == nil {
		return err
	}
	return l.Polls.SetSyncError(ctx, entry.PollID, rules.SyncFailed, l.cause, l.stillHolds)
}

// Finish implements Finisher: it announces what is held, and clears errors of the account.
func (l *pollConsumer) Finish(ctx context.Context, _ Run) error {
	if l.calendar.HoldUnannounced && !l.Observing {
		if err := l.announceHeld(ctx); err != nil {
			return err
		}
	}
	return l.clearAccountErrors(ctx)
}

// fetchAndApply applies an event whose listing may be outdated.
func (l *pollConsumer) fetchAndApply(ctx context.Context, eventID string) error {
	event, err := l.fetchConfirmed(ctx, eventID)
	if err != nil {
		return err
	}
	err = l.applyObservation(ctx, l.observation(event, true))
	if err == nil && event.Malformed {
		err = ErrLater
	}
	return err
}

// observation is an event as the rules take it. fresh reports that it was fetched individually.
func (l *pollConsumer) observation(event gcal.Event, fresh bool) scheduler.ObservedEvent {
	return scheduler.ObservedEvent{
		AccountID: l.ref.Account, CalendarID: l.ref.Calendar, EventID: event.ID,
		EventState: event.EventState, Fingerprint: event.Fingerprint, Updated: event.Updated,
		Fence: l.fence, Cause: l.cause, Fresh: fresh, Confirmed: l.calendar.Deferred(event.ID).Why == calendars.DeferredConfirmed,
	}
}
