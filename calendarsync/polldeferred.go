package calendarsync

import (
	"context"
	"errors"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

// fetchDeferred fetches the events that were deferred when the run began, and returns
// those it applied.
func (l *pollConsumer) fetchDeferred(ctx context.Context) (settled []string, err error) {
	for _, eventID := range l.calendar.DeferredEvents() {
		if l.calendar.Deferred[eventID] == calendars.DeferredHeld {
			continue // awaits confirmation
		}
		linked, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
		if err != nil {
			return nil, err
		}
		if linked == nil {
			intent, err := poll.LoadIntent(ctx, l.Store, poll.IntentID(l.ref.Account, l.ref.Calendar, eventID))
			if err != nil {
				return nil, err
			}
			if intent != nil && intent.Kind == poll.IntentInsert {
				continue // not linked yet; a later run fetches it
			}
		} else if err := l.fetchAndApply(ctx, eventID); err != nil {
			if !l.mayStayDeferred(ctx, eventID, err) {
				return nil, err
			}
			continue
		}
		settled = append(settled, eventID)
	}
	return settled, nil
}

// mayStayDeferred reports whether the sync token may pass a deferred event that failed
// again: the sweep fetches it later.
func (l *pollConsumer) mayStayDeferred(ctx context.Context, eventID string, failure error) bool {
	known := l.calendar.Deferred[eventID] == calendars.DeferredFailed || errors.Is(failure, errMalformed)
	if l.endsRun(ctx, failure) || !known && l.attempt() < stuckAfter {
		return false
	}
	l.Log.WarnContext(ctx, "deferred event still fails", "event", eventID, "calendar", l.ref.Calendar,
		"trace", l.cause.Trace, "error", failure)
	return true
}

func (l *pollConsumer) fetchAndApply(ctx context.Context, eventID string) error {
	event, err := l.fetchConfirmed(ctx, eventID)
	if err != nil {
		return err
	}
	observed := l.freshObservation(event)
	observed.Confirmed = l.calendar.Deferred[eventID] == calendars.DeferredConfirmed
	err = l.applyObservation(ctx, observed)
	if err == nil && event.Malformed {
		err = errMalformed
	}
	return err
}

// freshObservation is the observation of an event that was fetched individually.
func (l *pollConsumer) freshObservation(event gcal.Event) scheduler.Observation {
	observed := l.observation(event)
	observed.Fresh = true
	return observed
}
