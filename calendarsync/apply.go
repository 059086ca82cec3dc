package calendarsync

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// applyObservation applies an observation. An event whose listing may be outdated is
// fetched first. A deletion that would cancel a poll is applied only after a separate
// call confirmed it and the owner's other calendars were searched. After an error nothing
// is applied.
func (l *pollConsumer) applyObservation(ctx context.Context, observed scheduler.ObservedEvent) error {
	applied, err := l.Polls.Apply(ctx, observed)
	switch {
	case err != nil:
		return err
	case applied.Decision.Refetch:
		return l.fetchAndApply(ctx, observed.EventID)
	case applied.Unsearched:
		return l.applySearched(ctx, observed, applied.PollID)
	default:
		return nil
	}
}

// applySearched applies a deletion after searching for the event elsewhere. The event is fetched
// last: it may have been moved back during the search, and what was read of it before may be from
// before the poll followed it.
func (l *pollConsumer) applySearched(ctx context.Context, observed scheduler.ObservedEvent, pollID string) error {
	var err error
	observed.MovedTo, err = l.movedTo(ctx, observed.EventID, pollID)
	if err != nil {
		return err
	}
	event, err := l.fetch(ctx, observed.EventID)
	if err != nil {
		return err
	}
	if event.EventState != rules.Gone {
		return l.applyObservation(ctx, l.observation(event, true))
	}
	observed.Searched = true
	_, err = l.Polls.Apply(ctx, observed)
	return err
}

// movedTo returns the owner's other calendar that has a missing event; the zero Place if
// none has.
func (l *pollConsumer) movedTo(ctx context.Context, eventID, pollID string) (poll.Place, error) {
	if l.search == nil {
		l.search = l.MoveFinder.begin(l.calendar.OwnerID)
	}
	here := poll.Place{AccountID: l.ref.Account, CalendarID: l.ref.Calendar}
	found, err := l.search.find(ctx, scheduler.Missing{Place: here, EventID: eventID, PollID: pollID})
	if err != nil || found == nil {
		return poll.Place{}, err
	}
	return found.Place, nil
}

// fetch reads one event; one that is not found is Gone.
func (l *pollConsumer) fetch(ctx context.Context, eventID string) (gcal.Event, error) {
	event, err := l.Google.Get(ctx, l.ref, eventID)
	if fault.Is(err, fault.NotFound) {
		return gcal.Event{ID: eventID, EventState: rules.Gone}, nil
	}
	return event, err
}

// maxSearches bounds the searches for events gone at once before they are held. Nothing
// is stored of those found nowhere, so a repeated run searches again.
const maxSearches = 50

// withoutPast removes from the missing events those of past sessions, whose polls record it, and
// of archived polls: they are cancelled no more. An absence that would cancel a poll is not applied,
// since nothing was searched yet. One that could not be decided remains: left to be fetched alone,
// it would be cancelled unconfirmed.
func (l *pollConsumer) withoutPast(ctx context.Context, run Run, gone []gcal.Event) (remaining []gcal.Event, err error) {
	for _, event := range gone {
		if err := l.keepLease(ctx); err != nil {
			return nil, err
		}
		applied, err := l.Polls.Apply(ctx, l.observation(event, true))
		decision := applied.Decision
		settled := decision.Action == rules.Record || decision.Action == rules.Forget || decision.Row == "not_finalised"
		switch {
		case err != nil && l.endsRun(ctx, err):
			return nil, err
		case err != nil || !settled:
			remaining = append(remaining, event)
		default:
			if err := run.Applied(ctx, event.ID, nil); err != nil {
				return nil, err
			}
		}
	}
	return remaining, nil
}

// withoutMoved removes from the missing events those found in another calendar, whose
// polls follow them. Events beyond maxSearches, and those whose search fails,
// remain: they are searched for when a person confirms.
func (l *pollConsumer) withoutMoved(ctx context.Context, run Run, gone []gcal.Event) (remaining []gcal.Event, err error) {
	for i, event := range gone {
		if err := l.keepLease(ctx); err != nil {
			return nil, err
		}
		entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, event.ID)
		if err != nil {
			return nil, err
		}
		if entry == nil || i >= maxSearches {
			remaining = append(remaining, event)
			continue
		}
		observed := l.observation(event, true)
		observed.MovedTo, err = l.movedTo(ctx, event.ID, entry.PollID)
		switch {
		case err == nil && observed.MovedTo != (poll.Place{}):
			observed.Searched = true
			_, err = l.Polls.Apply(ctx, observed)
			if err := run.Applied(ctx, event.ID, err); err != nil {
				return nil, err
			}
		case err != nil && (l.endsRun(ctx, err) || run.part.backlog().Relist.IsZero()):
			return nil, err // all is listed again
		default:
			remaining = append(remaining, event)
		}
	}
	return remaining, nil
}
