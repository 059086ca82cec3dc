package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// chosenSlot reads the slot that a finalisation asks for. NotFound where the poll has none of
// that id; Conflict where no session can have its times, which others may have written.
func chosenSlot(ctx context.Context, reader store.Reader, pollID string, ask Finalise) (*poll.Slot, error) {
	slot, err := poll.LoadSlot(ctx, reader, pollID, ask.SlotID)
	switch {
	case err != nil:
		return nil, err
	case slot == nil:
		return nil, &fault.Error{
			Kind: fault.NotFound, Message: "This poll has no such slot. Reload it and choose one of its slots.",
			Details: []fault.Detail{{Field: "slot_id", Rule: "must be a slot of this poll"}},
		}
	case !ask.fits(*slot):
		return nil, &fault.Error{
			Kind: fault.Conflict, Message: "This slot has no times that can be used. Edit the poll and set them anew, or choose another slot.",
			Details: []fault.Detail{{Field: "slot_id", Rule: "must have times that can be used"}},
		}
	}
	return slot, nil
}

// fits reports whether a session can have a slot's times. A duration replaces a missing end, and
// without an event none is needed.
func (ask Finalise) fits(slot poll.Slot) bool {
	end := slot.End
	if ask.Duration > 0 && !slot.AllDay {
		end = slot.Start.Add(ask.Duration)
	}
	return rules.InYears(slot.Start) && (end.IsZero() || rules.InYears(end)) && (slot.Start.Before(end) || !ask.CreateEvent)
}
