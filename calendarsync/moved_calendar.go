package calendarsync

import (
	"context"

	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// applySeen applies what was seen of an event. Where a page may be too old to
// decide, the event is fetched. A deletion that would cancel a poll is applied once
// the event is gone by a call of its own, and was looked for in its owner's other
// calendars. An error leaves it open, and nothing is applied.
func (l *look) applySeen(ctx context.Context, seen scheduler.Observed) error {
	applied, err := l.Polls.Apply(ctx, seen)
	switch {
	case err != nil:
		return err
	case applied.Decision.Refetch:
		return l.probe(ctx, seen.EventID)
	case applied.Unsearched:
		return l.applySearched(ctx, seen, applied.PollID)
	default:
		return nil
	}
}

// applySearched applies a deletion once the event was looked for everywhere.
func (l *look) applySearched(ctx context.Context, seen scheduler.Observed, pollID string) error {
	if !seen.Fresh {
		event, err := l.fetch(ctx, seen.EventID)
		if err != nil {
			return err
		}
		if event.Seen != rules.Gone { // it is back since it was listed
			return l.applySeen(ctx, l.fetched(event))
		}
	}
	var err error
	if seen.MovedTo, err = l.movedTo(ctx, seen.EventID, pollID); err != nil {
		return err
	}
	seen.Searched = true
	_, err = l.Polls.Apply(ctx, seen)
	return err
}

// movedTo looks for an event that is gone in its owner's other calendars; the zero
// place where it is in none.
func (l *look) movedTo(ctx context.Context, eventID, pollID string) (poll.Place, error) {
	if l.search == nil {
		l.search = l.Elsewhere.begin(l.calendar.OwnerID)
	}
	here := poll.Place{AccountID: l.ref.Account, CalendarID: l.ref.Calendar}
	found, err := l.search.find(ctx, scheduler.Missing{Place: here, EventID: eventID, PollID: pollID})
	if err != nil || found == nil {
		return poll.Place{}, err
	}
	return found.Place, nil
}

// fetch reads one event; one that is not found is Gone.
func (l *look) fetch(ctx context.Context, eventID string) (gcal.Event, error) {
	event, err := l.Google.Get(ctx, l.ref, eventID)
	if fault.Is(err, fault.NotFound) {
		return gcal.Event{ID: eventID, Seen: rules.Gone}, nil
	}
	return event, err
}

// searchedAtOnce is how many events are looked for in other calendars before many
// that are gone at once are held: nothing is written of those that are in none, so
// a look that has to be made again begins anew with them.
const searchedAtOnce = 50

// withoutMoved leaves of events that are gone those that are in no other calendar
// of their owner, and has the polls of the others follow theirs. Events beyond
// searchedAtOnce, and those whose search keeps failing, are left too: they are
// looked for when a person confirms that they are gone.
func (l *look) withoutMoved(ctx context.Context, gone []gcal.Event) (still []gcal.Event, err error) {
	for i, event := range gone {
		entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, event.ID)
		if err != nil {
			return nil, err
		}
		if entry == nil || i >= searchedAtOnce {
			still = append(still, event)
			continue
		}
		seen := l.fetched(event)
		seen.MovedTo, err = l.movedTo(ctx, event.ID, entry.PollID)
		switch {
		case err == nil && seen.MovedTo != (poll.Place{}):
			seen.Searched = true
			_, err = l.Polls.Apply(ctx, seen)
			if err := l.parkIfStuck(ctx, event.ID, err); err != nil {
				return nil, err
			}
		case err != nil && (l.ends(ctx, err) || l.attempt < stuckAfter):
			return nil, err
		default:
			still = append(still, event)
		}
	}
	return still, nil
}
