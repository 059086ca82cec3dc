package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// A moved event keeps its id, and the calendar that it leaves shows a deletion. So a missing
// event is searched for in its owner's other calendars before it counts as deleted.

// Missing is an event that is gone from a calendar.
type Missing struct {
	poll.Place
	EventID string
	PollID  string // the poll that the event was made for, or that follows it
}

// mayHaveMoved reports whether a decision rests on an absence that was not searched for.
func (observed ObservedEvent) mayHaveMoved(decision rules.Decision) bool {
	return decision.Action == rules.Cancel && (!observed.Searched || observed.Own)
}

// unlessTaken gives the place where a missing event was found, unless another poll follows it
// there.
func unlessTaken(ctx context.Context, tx store.Tx, observed ObservedEvent, pollID string) (poll.Place, error) {
	if observed.MovedTo == (poll.Place{}) {
		return observed.MovedTo, nil
	}
	there, _, err := poll.FindIndex(ctx, tx, observed.MovedTo.AccountID, observed.MovedTo.CalendarID, observed.EventID)
	if err != nil || there != nil && there.PollID != pollID {
		return poll.Place{}, err
	}
	return observed.MovedTo, nil
}

// watchSoon ensures a watch channel of the calendar that a poll's event is in, and wakes a
// sync. Where either fails, the sweep and the drain do it.
func (s *Service) watchSoon(ctx context.Context, pollID string, at poll.Place, cause Cause) {
	if err := s.Watches.Ensure(ctx, at.AccountID, at.CalendarID); err != nil {
		s.watchFailed(ctx, pollID, at.CalendarID, cause, err)
	}
	s.syncSoon(ctx, at.AccountID, at.CalendarID)
}

// followMoved reads the event that a poll follows, and follows it to another calendar. A
// missing event is given as its own calendar shows it.
func (s *Service) followMoved(
	ctx context.Context, entry poll.IndexEntry, person Person, cause Cause,
) (poll.IndexEntry, CalendarEvent, error) {
	event, err := s.Calendar.Get(ctx, entry.AccountID, entry.CalendarID, entry.EventID)
	if !fault.Is(err, fault.NotFound) && (err != nil || event.EventState != rules.Gone) {
		return entry, event, err
	}
	found, searchErr := s.Calendar.Find(ctx, Missing{entry.Place(), entry.EventID, entry.PollID})
	switch {
	case searchErr != nil:
		return entry, event, searchErr
	case found == nil:
		return entry, event, err
	}
	_, err = s.Apply(ctx, ObservedEvent{
		AccountID: entry.AccountID, CalendarID: entry.CalendarID, EventID: entry.EventID,
		EventState: rules.Gone, Updated: event.Updated, Searched: true, MovedTo: found.Place, Own: true, Cause: cause, Who: person.ID,
	})
	if err != nil {
		return entry, event, err
	}
	moved, _, err := poll.FindIndex(ctx, s.Store, found.AccountID, found.CalendarID, entry.EventID)
	if err == nil && (moved == nil || moved.PollID != entry.PollID) {
		err = fault.New(fault.Conflict, "The event was moved. Request a sync to see its present state.")
	}
	if err != nil {
		return entry, event, err
	}
	return *moved, found.CalendarEvent, nil
}

// deleteWhereItIs deletes the event of an intent, also in the calendar that it was moved to:
// its own may lack it, or refuse. A missing event is no error.
func (s *Service) deleteWhereItIs(ctx context.Context, intent poll.Intent) error {
	deleted, err := s.Calendar.Delete(ctx, intent.AccountID, intent.CalendarID, intent.EventID)
	if deleted || err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Provider) {
		return err
	}
	found, searchErr := s.Calendar.Find(ctx, Missing{intent.Place(), intent.EventID, intent.PollID})
	switch {
	case searchErr != nil && !s.failsForLong(intent):
		return searchErr
	case searchErr != nil:
		s.Log.ErrorContext(ctx, "search for a missing event in other calendars failed", "poll", intent.PollID,
			"event", intent.EventID, "calendar", intent.CalendarID, "trace", intent.Trace, "error", searchErr)
		return err
	case found == nil && err != nil:
		return err
	case found == nil:
		// Moved back while the other calendars were searched, or gone from all.
		_, err = s.Calendar.Delete(ctx, intent.AccountID, intent.CalendarID, intent.EventID)
		return err
	}
	deleted, err = s.Calendar.Delete(ctx, found.AccountID, found.CalendarID, intent.EventID)
	if err == nil && !deleted {
		err = fault.New(fault.Unavailable, "The event was moved again; the search is repeated.")
	}
	return err
}
