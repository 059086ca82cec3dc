package scheduler

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/transition"
)

// InProgress reports whether a finalisation was asked for before and is under way, or was answered
// within the minutes for which its name is known. Its errors are those of Finalise.
func (s *Service) InProgress(ctx context.Context, person Person, pollID string, ask Finalise) (bool, error) {
	underWay, err := s.underWay(ctx, person, pollID, ask)
	if err != nil {
		return false, pollError(pollID, "finalise", err)
	}
	return underWay, nil
}

// Repeats reports whether a finalisation that began nothing (Finalise.Begin) and ended with
// outcome repeats another that was answered or is under way. It is false where its reads fail.
func (s *Service) Repeats(ctx context.Context, person Person, pollID string, ask Finalise, outcome error) bool {
	if !fault.Is(outcome, fault.Unavailable) {
		return outcome == nil
	}
	underWay, err := s.underWay(ctx, person, pollID, ask)
	return err == nil && underWay
}

// Refused reports whether InProgress decided that the person may not finalise the poll so.
func Refused(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Forbidden, fault.NotFound, fault.Conflict:
		return true
	default:
		return false
	}
}

func (s *Service) underWay(ctx context.Context, person Person, pollID string, ask Finalise) (bool, error) {
	p, _, err := created(ctx, s.Store, person, pollID)
	if err != nil {
		return false, err
	}
	if s.answered(p, ask) {
		return true, nil
	}
	intents, err := poll.IntentsOf(ctx, s.Store, pollID)
	if err != nil {
		return false, err
	}
	pending := transition.State{Poll: p, Intents: intents}.PendingInsert()
	if pending == nil || !ask.CreateEvent {
		return false, nil
	}
	slot, err := chosenSlot(ctx, s.Store, pollID, ask)
	if err != nil {
		return false, err
	}
	// The account of an older event is found out on the way.
	ask.oldAccount = pending.Session.OldAccount
	sameCalendar := slices.Contains([]string{"", "primary", pending.CalendarID}, ask.CalendarID)
	sameAccount := slices.Contains([]string{"", pending.AccountID}, ask.AccountID)
	return sameCalendar && sameAccount && sameSession(pending.Session, sessionOf(p, *slot, ask, person)), nil
}
