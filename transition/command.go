package transition

import (
	"maps"
	"slices"
	"strconv"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// commandEntry is the journal's entry of a command of a person.
func (s *Step) commandEntry(command rules.Command, who, reason string) poll.JournalEntry {
	entry := s.entry()
	entry.Command, entry.Who, entry.Reason = command, who, reason
	return entry
}

// takeBack is for a command that finds the poll as asked already: a finalisation
// under way is superseded. Nothing is announced, since nothing changed for anybody.
func (s *Step) takeBack(command rules.Command, who string) {
	if s.PendingInsert() == nil {
		return
	}
	s.supersede()
	s.stopAwaiting()
	entry := s.commandEntry(command, who, "a finalisation under way was taken back")
	entry.EventID, entry.CalendarID = "", ""
	s.record(TakenBack(s.Poll), entry, s.Winning, false)
}

// Cancel cancels the poll. account is that of an event that the index does not know.
func (s *Step) Cancel(who, account string, keepEvent bool) error {
	change, err := rules.Apply(s.Rules(), rules.CommandCancel)
	if err != nil {
		return err
	}
	if change.Nothing {
		s.takeBack(rules.CommandCancel, who)
		return nil
	}
	s.cancel(s.commandEntry(rules.CommandCancel, who, "cancelled by hand"), Details{EventGone: !keepEvent}, account)
	return nil
}

func (s *Step) cancel(entry poll.JournalEntry, more Details, account string) {
	s.supersede()
	more.EventGone = s.unlink(more.EventGone, account)
	entry.EventID = s.Poll.EventID()
	s.record(cancelled(s.Poll, entry, more), entry, s.Winning, true)
}

// Reopen opens the poll again for votes.
func (s *Step) Reopen(who, account string, deleteEvent bool) error {
	change, err := rules.Apply(s.Rules(), rules.CommandReopen)
	if err != nil {
		return err
	}
	if change.Nothing {
		s.takeBack(rules.CommandReopen, who)
		return nil
	}
	s.reopen(s.commandEntry(rules.CommandReopen, who, "reopened"), Details{EventGone: deleteEvent}, account)
	return nil
}

func (s *Step) reopen(entry poll.JournalEntry, more Details, account string) {
	s.supersede()
	more.EventGone = s.unlink(more.EventGone, account)
	s.removeCalendarSlot()
	after := reopened(s.Poll, entry, more)
	entry.After = after.Sync.Applied
	s.record(after, entry, nil, true)
}

// removeCalendarSlot removes the slot of a reschedule that ends.
func (s *Step) removeCalendarSlot() {
	if moved := s.Poll.Sync.Rescheduled; moved != nil {
		s.Writes.Delete(poll.SlotPath(s.Poll.ID, moved.ToSlotID))
	}
}

// Archive archives or unarchives the poll. Its event stays linked; where it
// follows an event afterwards, the event may have changed before, and is fetched.
func (s *Step) Archive(command rules.Command, who string) error {
	change, err := rules.Apply(s.Rules(), command)
	if err != nil || change.Nothing {
		return err
	}
	if s.PendingInsert() != nil {
		return fault.New(fault.Conflict, "This poll is being finalised. Try again in a moment.")
	}
	entry := s.commandEntry(command, who, string(command))
	entry.EventID, entry.CalendarID = "", ""
	after := Commanded(s.Poll, entry, Details{})
	mustShow := false
	if s.Entry != nil && (after.Linked() || s.Awaiting() && after.Status != rules.Archived) {
		place := s.Entry.Place()
		s.Sync, mustShow = &place, s.askAgain()
	}
	s.record(after, entry, s.Winning, false)
	if mustShow {
		s.showHeld()
	}
	s.Card = s.After
	return nil
}

// AcceptNew makes the calendar's time the poll's own: the calendar's slot becomes an
// ordinary one. observed is the fingerprint that the person decided on; Conflict
// where the event was moved since.
func (s *Step) AcceptNew(who, observed string) error {
	if _, err := rules.Apply(s.Rules(), rules.CommandAcceptNew); err != nil {
		return err
	}
	if observed == "" || s.Poll.Sync.Applied.String() != observed {
		return fault.New(fault.Conflict, "The event was moved again. Reload the poll and accept the time it shows.")
	}
	winning, slotID := s.Winning, s.Poll.Sync.Rescheduled.ToSlotID
	if winning == nil { // somebody removed it
		slot := poll.SlotAt(slotID, s.Poll.Sync.Applied)
		slot.Source, slot.CreatedBy = poll.SourcePoll, ""
		s.Writes.Set(poll.SlotPath(s.Poll.ID, slotID), poll.EncodeSlot(slot))
		winning = &slot
	} else {
		s.makeOrdinary(slotID)
	}
	entry := s.commandEntry(rules.CommandAcceptNew, who, "the new time was accepted")
	entry.Fingerprint = s.Poll.Sync.Applied
	s.record(Commanded(s.Poll, entry, Details{}), entry, winning, true)
	return nil
}

// makeOrdinary makes a slot of the calendar's one like those of people.
func (s *Step) makeOrdinary(slotID string) {
	s.Writes.Update(poll.SlotPath(s.Poll.ID, slotID), poll.Set("source", poll.SourcePoll), poll.Set("createdBy", nil))
}

// DeleteEvent takes the poll's event out of the calendar; false where it names none.
// Nothing is announced: the session stays, and the command that follows announces.
func (s *Step) DeleteEvent(who, account string) (deleted bool, err error) {
	if _, err := rules.Apply(s.Rules(), rules.CommandDeleteEvent); err != nil {
		return false, err
	}
	if s.Poll.GoogleEventID == "" {
		s.takeBack(rules.CommandDeleteEvent, who)
		return false, nil
	}
	s.supersede()
	s.unlink(true, account)
	entry := s.commandEntry(rules.CommandDeleteEvent, who, "the event was deleted by hand")
	after := Commanded(s.Poll, entry, Details{})
	if after.Sync.Rescheduled == nil {
		s.removeCalendarSlot()
	}
	entry.After = after.Sync.Applied
	s.record(after, entry, nil, false)
	s.Card = s.After
	return true, nil
}

// Delete removes the poll. An intent removes the documents below it.
func (s *Step) Delete(account string, keepEvent bool) {
	s.supersede()
	s.unlink(!keepEvent, account)
	s.purge()
	s.Writes.Delete(poll.Path(s.Poll.ID))
}

// purge has whatever is below a poll removed that goes, and takes its announcement
// away. Purging what is not there does nothing.
func (s *Step) purge() {
	s.Outcome.Intents = append(s.Outcome.Intents, poll.Intent{
		Kind: poll.IntentPurge, PollID: s.Poll.ID, Generation: s.LastGeneration(), Due: s.Now, CreatedAt: s.Now, Trace: s.Trace,
	})
	s.Writes.Delete(poll.AnnouncementPath(s.Poll.ID))
	if s.Poll.GroupID != "" || s.Poll.CreatorID == "" { // of a poll that is gone, its group is unknown
		s.Session = &Session{s.Poll.ID, s.Poll.GroupID, "purge." + strconv.FormatInt(s.LastGeneration(), 10)}
	}
}

// Times are a slot as an edit asks for it; ID is "" for a new one.
type Times struct {
	ID string
	At rules.Fingerprint
}

// Edit leaves the poll with the texts and people of an edit. Nothing is journaled. Other texts are
// another version of the session in calendar feeds, unless nothing of ours is on the poll yet, and
// of the event that a group shares.
func (s *Step) Edit(after poll.Poll) {
	before := s.Poll
	texts := after.Title != before.Title || after.Description != before.Description
	if texts && !before.Pristine() {
		after = after.Counted(before, s.Now)
	}
	if after.Linked() && after.GroupID != "" && (texts || after.Timezone != before.Timezone) {
		s.Session = &Session{after.ID, after.GroupID, s.IDs.ULID("edt")}
	}
	s.After, s.Card = &after, &after
}

// EditSlots gives the poll, behind Edit, the wanted slots instead of those that it
// has. What is not wanted goes, with the votes for it. The caller asks rules.Apply
// before it reads the slots.
func (s *Step) EditSlots(who string, slots []poll.Slot, wanted []Times) error {
	moved, removed, known := s.Poll.Sync.Rescheduled, map[string]bool{}, map[string]bool{}
	for _, slot := range slots {
		removed[slot.ID], known[slot.ID] = true, moved == nil || slot.ID != moved.ToSlotID
	}
	wanted = keepDays(slots, wanted)
	for _, edit := range wanted {
		switch {
		case edit.ID == "":
			slot := poll.Slot{ID: s.IDs.UUID(), Start: edit.At.StartTime(), End: edit.At.EndTime()}
			s.Writes.Create(poll.SlotPath(s.Poll.ID, slot.ID), poll.EncodeSlot(slot))
		case !known[edit.ID]:
			return fault.Field("slots", "must name slots of this poll by their ids, each once, or leave the id out for a new one")
		default:
			removed[edit.ID], known[edit.ID] = false, false
			s.Writes.Update(poll.SlotPath(s.Poll.ID, edit.ID), poll.MoveSlot(edit.At)...)
		}
	}
	s.removeSlots(slots, removed)
	// Another time of the session is a decision: a deleted event is not awaited then.
	more := Details{Removed: removed, NotAwaited: s.Awaiting() && !s.keepsTime(wanted)}
	if more.NotAwaited {
		s.stopAwaiting()
	}
	entry := s.commandEntry(rules.CommandEditSlots, who, "the slots were edited")
	entry.EventID, entry.CalendarID = "", ""
	s.record(Commanded(*s.After, entry, more), entry, nil, false)
	return nil
}

// keepDays has whole days whose ends an edit leaves stay whole days, which its times cannot say.
func keepDays(slots []poll.Slot, wanted []Times) []Times {
	kept, days := slices.Clone(wanted), map[string]rules.Fingerprint{}
	for _, slot := range slots {
		days[slot.ID] = slot.Fingerprint()
	}
	for i, edit := range kept {
		if at := days[edit.ID]; at.Start == edit.At.Start && at.End == edit.At.End {
			kept[i].At = at
		}
	}
	return kept
}

// keepsTime reports whether an edit of the slots leaves the session at its time. An edit
// that ends a reschedule does not.
func (s *Step) keepsTime(wanted []Times) bool {
	return s.Poll.Sync.Rescheduled == nil && s.Winning != nil && slices.ContainsFunc(wanted, func(edit Times) bool {
		return edit.ID == s.Winning.ID && edit.At == s.Winning.Fingerprint()
	})
}

// mostNamed is how many choices that go an update of a vote names each. Where it would be more,
// it writes the others instead: the votes of a poll at its limits fit into a transaction either way.
const mostNamed = 100

// removeSlots deletes the slots that are no longer wanted, and the votes for them.
func (s *Step) removeSlots(slots []poll.Slot, removed map[string]bool) {
	for _, slot := range slots {
		if removed[slot.ID] {
			s.Writes.Delete(poll.SlotPath(s.Poll.ID, slot.ID))
		}
	}
	for _, vote := range s.Votes {
		var gone []store.Update
		for _, slotID := range vote.Chosen() {
			if removed[slotID] {
				gone = append(gone, store.Update{Path: store.Field("votes", slotID), Value: store.Delete})
			}
		}
		if len(gone) > mostNamed {
			left := maps.Clone(vote.Choices)
			maps.DeleteFunc(left, func(slotID, _ string) bool { return removed[slotID] })
			gone = []store.Update{poll.SetChoices(left)}
		}
		if len(gone) > 0 {
			s.Writes.Update(poll.VotePath(s.Poll.ID, vote.UserID), gone...)
		}
	}
}
