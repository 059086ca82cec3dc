package scheduler

import (
	"fmt"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// finalised is the poll after a finalisation for a slot: nothing is left of a
// reschedule, a cancellation or an error of before.
func finalised(p poll.Poll, slot *poll.Slot, generation int64, request poll.Request) poll.Poll {
	p = p.Unmarked()
	p.Status, p.WinningSlotID = rules.Finalized, slot.ID
	p.GoogleEventID, p.GoogleCalendarID = "", ""
	p.Sync = poll.Sync{Generation: generation, LastSyncedAt: p.Sync.LastSyncedAt, Recorded: p.Sync.Recorded, Request: request}
	return p
}

// writeFinalised writes what every finalisation writes: the poll's fields, the
// end of a calendar slot that is no longer needed, journal and announcement.
// after is the poll as it will be, with its link and baseline where it has an
// event; st is what was read.
func (s *Service) writeFinalised(tx store.Tx, st state, after poll.Poll, slot *poll.Slot, entry poll.Entry) (*announcement, error) {
	now := s.Now()
	after.FinalizedAt, after.UpdatedAt = now, now
	if _, kept := after.SlotPriority[slot.ID]; !kept {
		after = after.Chosen(slot.ID, now)
	}
	if left := st.poll.Sync.Rescheduled; left != nil && left.ToSlotID != slot.ID {
		if err := tx.Delete(poll.SlotPath(after.ID, left.ToSlotID)); err != nil {
			return nil, err
		}
	} else if left != nil { // the calendar's time was chosen: it becomes an ordinary slot
		if err := tx.Update(poll.SlotPath(after.ID, slot.ID), poll.Set("source", poll.SourcePoll), poll.Set("createdBy", nil)); err != nil {
			return nil, err
		}
	}
	entry.EventID, entry.CalendarID = after.GoogleEventID, after.GoogleCalendarID
	entry.Before, entry.After = st.poll.Sync.Applied, after.Sync.Applied
	return s.record(tx, entry, outcome{after, slot}, entry.Who, true)
}

// pollError gives an error its place: which poll, and what was being done.
func pollError(pollID, doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("poll %s: %s: %w", pollID, doing, err)
}
