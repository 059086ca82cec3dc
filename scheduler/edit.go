package scheduler

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Edit is what a person changes of a poll; nil leaves a field as it is.
type Edit struct {
	Title            *string
	Description      *string
	Timezone         *string
	ParticipantIDs   *[]string
	PendingInvites   *[]string
	AllowLinkSharing *bool
	// Slots are all slots the poll is to have: those with an id are kept and
	// moved, the others made, and what is not named is removed with the votes
	// for it.
	Slots *[]SlotEdit
	// Demand, where set, is asked of the poll as it stands (SyncedAt left out) in
	// the edit's own transaction, which may run again: its error ends the edit
	// with nothing changed.
	Demand func(View) error
}

// SlotEdit is one slot of an Edit; ID is "" for a new one.
type SlotEdit struct {
	ID string
	Times
}

// Edit changes a poll. Its slots cannot be changed while it is finalised; an
// edit of them clears what is left of a reschedule.
func (s *Service) Edit(ctx context.Context, person Person, pollID string, ask Edit, cause Cause) (View, error) {
	if err := ask.check(); err != nil {
		return View{}, err
	}
	err := s.afterEdits(ctx, cause, func() error { return s.edit(ctx, person, pollID, ask, cause) })
	if err != nil {
		return View{}, err
	}
	return s.shown(ctx, rules.CommandEdit, person, pollID, cause)
}

func (s *Service) edit(ctx context.Context, person Person, pollID string, ask Edit, cause Cause) error {
	var p poll.Poll
	now := store.Instant(s.Now())
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return err
		}
		p = st.poll
		if ask.Demand != nil {
			view, err := viewOf(ctx, tx, st.poll, st.group)
			if err != nil {
				return err
			}
			if err := ask.Demand(view); err != nil {
				return err
			}
		}
		if _, err := rules.Apply(st.rules(), rules.CommandEdit); err != nil {
			return err
		}
		if err := ask.checkPeople(st.poll); err != nil {
			return err
		}
		after := ask.edited(st.poll, now)
		writeNames, err := s.nameMore(ctx, tx, person, p, ask)
		if err != nil {
			return err
		}
		if ask.Slots == nil {
			err = after.Write(tx)
		} else {
			err = s.editSlots(ctx, tx, st, after, *ask.Slots, person, cause)
		}
		if err == nil {
			err = writeNames()
		}
		if err != nil {
			return err
		}
		return oweCard(tx, p)
	})
	if err != nil {
		return pollError(pollID, "edit", err)
	}
	s.cardSoon(ctx, p, "edit/"+now.String(), cause)
	return nil
}

func (e Edit) check() error {
	if e.Title != nil {
		if title := strings.TrimSpace(*e.Title); title == "" || len([]rune(title)) > MaxTitle {
			return fault.Field("title", "must be 1 to 200 characters long")
		}
	}
	switch {
	case e.Description != nil && len([]rune(*e.Description)) > MaxDescription:
		return fault.Field("description", "must be at most 8000 characters long")
	case e.Slots != nil && (len(*e.Slots) == 0 || len(*e.Slots) > MaxSlots):
		return fault.Field("slots", "must hold 1 to 200 times")
	}
	if e.PendingInvites != nil {
		if err := checkInvites(*e.PendingInvites); err != nil {
			return err
		}
	}
	if e.Slots != nil {
		for _, slot := range *e.Slots {
			if err := slot.Times.check(); err != nil {
				return err
			}
		}
	}
	if e.Timezone != nil {
		return checkTimezone(*e.Timezone)
	}
	return nil
}

func (e Edit) checkPeople(p poll.Poll) error {
	if e.ParticipantIDs == nil {
		return nil
	}
	return checkPeople("participant_ids", p.CreatorID, *e.ParticipantIDs)
}

// edited is a poll with the fields that the edit names.
func (e Edit) edited(p poll.Poll, now time.Time) poll.Poll {
	p.UpdatedAt = now
	if e.Title != nil {
		p.Title = strings.TrimSpace(*e.Title)
	}
	if e.Description != nil {
		p.Description = *e.Description
	}
	if e.Timezone != nil {
		p.Timezone = *e.Timezone
	}
	if e.ParticipantIDs != nil {
		p.ParticipantIDs = withPerson(p.CreatorID, *e.ParticipantIDs)
	}
	if e.PendingInvites != nil {
		p.PendingInvites = lowerAll(*e.PendingInvites)
	}
	if e.AllowLinkSharing != nil {
		p.AllowLinkSharing = *e.AllowLinkSharing
	}
	return p
}

// editSlots writes the slots and the votes for them, and the poll that is after but
// for what goes with its slots.
func (s *Service) editSlots(ctx context.Context, tx store.Tx, st state, after poll.Poll, wanted []SlotEdit, person Person, cause Cause) error {
	if _, err := rules.Apply(st.rules(), rules.CommandEditSlots); err != nil {
		return err
	}
	slots, err := poll.LoadSlots(ctx, tx, st.poll.ID)
	if err != nil {
		return err
	}
	votes, err := poll.LoadVotes(ctx, tx, st.poll.ID)
	if err != nil {
		return err
	}
	moved := st.poll.Sync.Rescheduled
	removed := map[string]bool{}
	known := map[string]bool{}
	for _, slot := range slots {
		calendars := moved != nil && slot.ID == moved.ToSlotID
		removed[slot.ID] = true
		known[slot.ID] = !calendars
	}
	for _, edit := range wanted {
		switch {
		case edit.ID == "":
			slot := poll.Slot{ID: s.IDs.UUID(), Start: edit.Start.UTC(), End: edit.End.UTC()}
			err = tx.Create(poll.SlotPath(st.poll.ID, slot.ID), poll.EncodeSlot(slot))
		case !known[edit.ID]:
			err = fault.Field("slots", "must name slots of this poll by their ids, each once, or leave the id out for a new one")
		default:
			removed[edit.ID], known[edit.ID] = false, false
			err = tx.Update(poll.SlotPath(st.poll.ID, edit.ID),
				poll.MoveSlot(rules.Timed(edit.Start, edit.End))...)
		}
		if err != nil {
			return err
		}
	}
	if err := removeSlots(tx, st.poll.ID, slots, votes, removed); err != nil {
		return err
	}
	return s.recordSlotsEdited(tx, st, slotsEdited(after, removed), wanted, person, cause)
}

// keepsTime tells whether an edit of the slots leaves the session at its time. One
// that clears a reschedule does not.
func keepsTime(st state, wanted []SlotEdit) bool {
	return st.poll.Sync.Rescheduled == nil && st.winning != nil && slices.ContainsFunc(wanted, func(edit SlotEdit) bool {
		return edit.ID == st.winning.ID && !st.winning.AllDay && rules.Timed(edit.Start, edit.End) == st.winning.Fingerprint()
	})
}

// removeSlots deletes the slots that are no longer wanted, and the votes for
// them.
func removeSlots(tx store.Tx, pollID string, slots []poll.Slot, votes []poll.Vote, removed map[string]bool) error {
	for _, slot := range slots {
		if !removed[slot.ID] {
			continue
		}
		if err := tx.Delete(poll.SlotPath(pollID, slot.ID)); err != nil {
			return err
		}
	}
	for _, vote := range votes {
		var gone []store.Update
		for _, slotID := range vote.Chosen() {
			if removed[slotID] {
				gone = append(gone, store.Update{Path: store.Field("votes", slotID), Value: store.Delete})
			}
		}
		if len(gone) > 0 {
			if err := tx.Update(poll.VotePath(pollID, vote.UserID), gone...); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordSlotsEdited writes a poll after its slots were edited, with its journal entry.
// Another time of the session is a decision: a deleted event is not awaited then.
func (s *Service) recordSlotsEdited(tx store.Tx, st state, after poll.Poll, wanted []SlotEdit, person Person, cause Cause) error {
	if st.awaiting() && !keepsTime(st, wanted) {
		if err := st.stopAwaiting(tx); err != nil {
			return err
		}
		after.Sync.Awaited = nil
	}
	winning := st.winning
	if after.WinningSlotID != st.poll.WinningSlotID {
		winning = nil // another one, which was not read; nothing is announced of it
	}
	_, err := s.record(tx, poll.Entry{
		Trace: cause.Trace, Hint: cause.Hint, Who: person.ID, Command: rules.CommandEditSlots, Reason: "the slots were edited",
		Before: st.poll.Sync.Applied, After: st.poll.Sync.Applied,
	}, outcome{after, winning}, person.ID, false)
	return err
}

// slotsEdited is a poll without what is left of a reschedule, and without a winning
// slot that was removed.
func slotsEdited(p poll.Poll, removed map[string]bool) poll.Poll {
	if moved := p.Sync.Rescheduled; moved != nil {
		p.Sync.Rescheduled, p.WinningSlotID = nil, moved.FromSlotID
	}
	if removed[p.WinningSlotID] {
		p.WinningSlotID = ""
	}
	return p
}
