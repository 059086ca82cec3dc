package scheduler

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// applyCancel writes a cancellation by the calendar. The event keeps its index
// entry: a person may restore it from the calendar's bin.
func (s *Service) applyCancel(ctx context.Context, tx store.Tx, st state, entry poll.Entry) (*announcement, error) {
	awaited := poll.Awaited{Link: st.entry.Link(), Until: s.Now().Add(rules.AwaitFor)}
	if st.winning != nil {
		awaited.Winning = st.winning.Fingerprint()
	}
	if moved := st.poll.Sync.Rescheduled; moved != nil {
		original, err := poll.LoadSlot(ctx, tx, st.poll.ID, moved.FromSlotID)
		if err != nil {
			return nil, err
		}
		if original != nil {
			awaited.Original = original.Fingerprint()
		}
	}
	if err := tx.Update(st.entryPath, poll.SetEntryAwaited(true)); err != nil {
		return nil, err
	}
	if _, pending := st.calendar.Deferred[st.entry.EventID]; pending {
		if err := tx.Merge(calendars.Path(st.calendar.Key), calendars.Settle(st.entry.EventID)); err != nil {
			return nil, err
		}
	}
	st.poll.Sync.Awaited = &awaited
	cancelled := poll.Cancelled{At: s.Now(), Reason: rules.ReasonCalendarDeleted}
	return s.writeCancelled(tx, st, cancelled, true, entry)
}

// revival is what links a poll to its awaited event again. It is written after all
// that the rest of the transaction reads.
type revival struct {
	slot *poll.Slot // the winning slot, where somebody removed it
}

func (r *revival) write(tx store.Tx, st state) error {
	if err := tx.Update(st.entryPath, poll.SetEntryAwaited(false)); err != nil || r.slot == nil {
		return err
	}
	return tx.Create(poll.SlotPath(st.poll.ID, r.slot.ID), poll.EncodeSlot(*r.slot))
}

// applyRevive links a poll to its awaited event again, and does what else the
// observation says of the poll as it then stands.
func (s *Service) applyRevive(ctx context.Context, tx store.Tx, st state, decision rules.Decision, entry poll.Entry) (*announcement, error) {
	awaited := st.poll.Sync.Awaited
	p := st.poll.Unmarked()
	p.Status, p.Sync.Awaited = rules.Finalized, nil
	p.GoogleEventID, p.GoogleCalendarID = awaited.Link.Event, awaited.Link.Calendar
	st.poll = p
	st.revival = &revival{}
	replaced := decision.Then == rules.Restore || decision.Then == rules.RescheduleAgain || // which makes its slot anew
		decision.Then == rules.Reschedule && p.WinningSlotID == ""
	if st.winning == nil && !replaced {
		st.recreateSlot(s.IDs.UUID)
	}
	if decision.Action = decision.Then; !decision.Changes() {
		decision.Action = rules.Clear
	}
	return s.applyDecision(ctx, tx, st, decision, entry)
}

// recreateSlot has the winning slot of a poll made anew, which somebody removed.
func (st *state) recreateSlot(newID func() string) {
	at := st.poll.Sync.Applied
	if at.IsZero() { // linked before this backend, and never adopted
		return
	}
	slot := poll.SlotAt(st.poll.WinningSlotID, at)
	if moved := st.poll.Sync.Rescheduled; moved == nil || moved.ToSlotID != slot.ID {
		slot.Source, slot.CreatedBy = poll.SourcePoll, ""
	}
	if slot.ID == "" {
		slot.ID = newID()
		st.poll.WinningSlotID = slot.ID
	}
	st.winning, st.revival.slot = &slot, &slot
}

// stopAwaiting takes the index entry of an awaited event away. The caller removes
// the poll's own field (Sync.Awaited).
func (st state) stopAwaiting(tx store.Tx) error {
	if st.entry == nil || !st.entry.Awaited {
		return nil
	}
	return dropEntry(tx, st.entryPath, st.calendar, *st.entry)
}

// mendSlots ends the awaiting of an event whose poll was given another time.
func (s *Service) mendSlots(tx store.Tx, st state, cause Cause) error {
	if err := st.stopAwaiting(tx); err != nil {
		return err
	}
	after := st.poll
	after.Sync.Awaited = nil
	entry := outsideEntry(st, rules.MendSlots, "", cause)
	entry.Decision, entry.After = rules.Record, after.Sync.Applied
	_, err := s.record(tx, entry, outcome{after, st.winning}, after.CreatorID, false)
	return err
}

// mendForget drops the index entry of an event that is not followed any more.
func mendForget(tx store.Tx, st state) error {
	if st.entry.Awaited {
		st.poll.Sync.Awaited = nil
		if err := st.poll.Write(tx); err != nil {
			return err
		}
	}
	return dropEntry(tx, st.entryPath, st.calendar, *st.entry)
}

// restoreAwaiting is a poll that a person finalised again while its event is
// awaited: what the calendar moved went with the event, so the original time
// stands, and is what the event is compared with when it comes back.
func restoreAwaiting(tx store.Tx, st state) (after poll.Poll, err error) {
	after = st.poll
	awaited := *after.Sync.Awaited
	after.Sync.Awaited = &awaited
	if generation := after.Sync.Generation; awaited.Link.Generation != generation {
		awaited.Link.Generation = generation
		if err := tx.Update(st.entryPath, poll.Set("generation", generation)); err != nil {
			return after, err
		}
	}
	moved := after.Sync.Rescheduled
	if moved == nil {
		return after, nil
	}
	awaited.Winning, awaited.Original = awaited.Original, rules.Fingerprint{}
	after.Sync.Rescheduled, after.Sync.Applied = nil, after.Sync.Baseline
	if after.WinningSlotID == moved.ToSlotID {
		after.WinningSlotID = moved.FromSlotID
	}
	return after, tx.Delete(poll.SlotPath(after.ID, moved.ToSlotID))
}
