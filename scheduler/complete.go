package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// completeInsert is transaction 2 of a finalisation: the poll follows the event. Where a newer
// command superseded it, the event is deleted and the answer is Conflict. It is idempotent.
// made reports whether this run made the event, so nobody else knows of it.
func (s *Service) completeInsert(ctx context.Context, intent poll.Intent, event CalendarEvent, made bool, cause Cause) error {
	superseded := false
	err := s.change(ctx, s.runRepeatable, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		superseded = false
		current, p, err := loadInsert(ctx, tx, intent)
		if err != nil {
			return nil, err
		}
		step := s.step(transition.State{Poll: p}, cause)
		switch {
		case current == nil: // somebody else finished it, or undid it
			superseded = p.GoogleEventID != intent.EventID || p.Status != rules.Finalized
			if made && p.GoogleEventID != intent.EventID { // and did so before it was made
				step.Undo(intent)
			}
			return step, nil
		case current.Kind == poll.IntentDelete:
			superseded = true
			step.DeleteAgain(*current)
			return step, nil
		case p.ID == "" || p.Sync.Generation != intent.Generation:
			superseded = true
			step.Undo(*current)
			return step, nil
		}
		if err := checkEdits(p); err != nil {
			return nil, err
		}
		step.State, err = complete(ctx, tx, p)
		if err != nil {
			return nil, err
		}
		slot, err := poll.LoadSlot(ctx, tx, p.ID, current.Session.SlotID)
		if err != nil {
			return nil, err
		}
		at := event.at(*current)
		step.Next, _, err = calendars.Load(ctx, tx, at.AccountID, at.CalendarID)
		if err != nil {
			return nil, err
		}
		step.Link(*current, slot, at, !made, rules.Observation{Fingerprint: event.Fingerprint, Updated: event.Updated})
		return step, nil
	})
	if err != nil || !superseded {
		return err
	}
	s.Outbox.Soon(ctx, KindIntent, intent.ID(), s.Now())
	return errSuperseded
}

// loadInsert reads an intent again, nil where it is gone, and its poll, the zero one
// where that is gone.
func loadInsert(ctx context.Context, tx store.Tx, intent poll.Intent) (current *poll.Intent, p poll.Poll, err error) {
	current, err = poll.LoadIntent(ctx, tx, intent.ID())
	if err != nil {
		return nil, p, err
	}
	p, err = poll.Load(ctx, tx, intent.PollID)
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	return current, p, err
}
