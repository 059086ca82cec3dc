package scheduler

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
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
		updates := ask.updates(st.poll, now)
		writeNames, err := s.nameMore(ctx, tx, person, p, ask)
		if err != nil {
			return err
		}
		if ask.Slots != nil {
			if _, err := rules.Apply(st.rules(), rules.CommandEditSlots); err != nil {
				return err
			}
			more, err := s.editSlots(ctx, tx, st, *ask.Slots)
			if err != nil {
				return err
			}
			updates = append(updates, more...)
		}
		if ask.Slots == nil {
			err = tx.Update(poll.Path(pollID), updates...)
		} else {
			err = s.recordSlotsEdited(tx, st, *ask.Slots, updates, person, cause)
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

// updates are the poll's own fields that the edit names.
func (e Edit) updates(p poll.Poll, now time.Time) []store.Update {
	updates := []store.Update{poll.Set("updatedAt", now)}
	if e.Title != nil {
		updates = append(updates, poll.Set("title", strings.TrimSpace(*e.Title)))
	}
	if e.Description != nil {
		updates = append(updates, poll.Set("description", *e.Description))
	}
	if e.Timezone != nil {
		updates = append(updates, poll.Set("timezone", store.NullIfEmpty(*e.Timezone)))
	}
	if e.ParticipantIDs != nil {
		updates = append(updates, poll.Set("participantIds", withPerson(p.CreatorID, *e.ParticipantIDs)))
	}
	if e.PendingInvites != nil {
		updates = append(updates, poll.Set("pendingInvites", listOrEmpty(lowerAll(*e.PendingInvites))))
	}
	if e.AllowLinkSharing != nil {
		updates = append(updates, poll.Set("allowLinkSharing", *e.AllowLinkSharing))
	}
	return updates
}

func listOrEmpty(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// editSlots writes the slots and the votes for them, and gives the updates of
// the poll that go with it.
func (s *Service) editSlots(ctx context.Context, tx store.Tx, st state, wanted []SlotEdit) ([]store.Update, error) {
	slots, err := poll.LoadSlots(ctx, tx, st.poll.ID)
	if err != nil {
		return nil, err
	}
	votes, err := poll.LoadVotes(ctx, tx, st.poll.ID)
	if err != nil {
		return nil, err
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
			return nil, err
		}
	}
	if err := removeSlots(tx, st.poll.ID, slots, votes, removed); err != nil {
		return nil, err
	}
	return slotsEdited(st.poll, removed), nil
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

// recordSlotsEdited writes a poll whose slots were edited, with its journal entry.
// Another time of the session is a decision: a deleted event is not awaited then.
func (s *Service) recordSlotsEdited(tx store.Tx, st state, wanted []SlotEdit, updates []store.Update, person Person, cause Cause) error {
	after := st.poll
	if st.awaiting() && !keepsTime(st, wanted) {
		if err := st.stopAwaiting(tx); err != nil {
			return err
		}
		after.Sync.Awaited = nil
		updates = append(updates, poll.SetAwaited(nil))
	}
	after.Sync.Rescheduled = nil
	winning := st.winning
	for _, update := range updates {
		if update.Path.String() != "winningSlotId" {
			continue
		}
		after.WinningSlotID, _ = update.Value.(string)
		winning = nil // another one, which was not read; nothing is announced of it
	}
	_, err := s.record(tx, poll.Entry{
		Trace: cause.Trace, Hint: cause.Hint, Who: person.ID, Command: rules.CommandEditSlots, Reason: "the slots were edited",
		Before: st.poll.Sync.Applied, After: st.poll.Sync.Applied,
	}, outcome{after, winning, updates}, person.ID, false)
	return err
}

// slotsEdited clears what is left of a reschedule, and a winning slot that is
// no more.
func slotsEdited(p poll.Poll, removed map[string]bool) []store.Update {
	var updates []store.Update
	winning := p.WinningSlotID
	if moved := p.Sync.Rescheduled; moved != nil {
		updates = append(updates, poll.SetRescheduled(nil))
		winning = moved.FromSlotID
	}
	if removed[winning] {
		winning = ""
	}
	if winning != p.WinningSlotID {
		updates = append(updates, poll.Set("winningSlotId", store.NullIfEmpty(winning)))
	}
	return slices.Clip(updates)
}
