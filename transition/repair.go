package transition

import (
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// OutsideEdit is the trigger of a direct edit in the journal.
const OutsideEdit = "outside_edit"

// editEntry is the journal's entry of a direct edit that is carried through. For
// announcements the edit counts as the creator's.
func (s *Step) editEntry(repair rules.Repair) poll.JournalEntry {
	entry := s.entry()
	entry.Trigger, entry.Who, entry.Reason, entry.Decision = OutsideEdit, s.Poll.CreatorID, string(repair), rules.Record
	switch repair {
	case rules.RepairCancel:
		entry.Command, entry.Decision = rules.CommandCancel, ""
	case rules.RepairReopen:
		entry.Command, entry.Decision = rules.CommandReopen, ""
	case rules.RepairRestore:
		entry.Decision = rules.Clear
	}
	return entry
}

// details are those of a direct edit of the poll. A poll that names another event
// than it did knows nothing of it; one that names none any more is not moved by it.
func (s *Step) details() Details {
	p := s.Poll
	return Details{
		Awaiting:     s.Awaiting(),
		AnotherEvent: p.GoogleEventID != p.Sync.Recorded.EventID,
	}
}

// Purge does what deleting a poll does, for a poll that somebody else deleted. Documents that
// the web app left would stay for ever, and a new poll of the same id would read them.
func (s *Step) Purge(keepEvent bool) {
	s.supersede()
	if s.Entry != nil {
		s.unlink(!keepEvent, "")
	}
	s.purge()
}

// RepairCancel carries a cancellation through that somebody wrote directly.
func (s *Step) RepairCancel(account string, keepEvent bool) {
	mark := poll.Cancelled{At: s.Now, Reason: rules.ReasonManual}
	for _, known := range []*poll.Cancelled{s.Poll.Sync.Cancelled, s.Poll.Cancelled} {
		if known != nil && !known.At.IsZero() { // the app shows its badge for a time alone
			mark = *known
		}
	}
	s.cancel(s.editEntry(rules.RepairCancel), Details{EventGone: !keepEvent, Cancelled: &mark}, account)
}

// RepairReopen carries a reopening through that somebody wrote directly.
func (s *Step) RepairReopen() {
	s.reopen(s.editEntry(rules.RepairReopen), Details{}, "")
}

// RepairUnlink releases an event that the poll does not name any more. The writer of another one,
// the web app's own functions, deleted the old one or was asked to keep it.
func (s *Step) RepairUnlink() {
	s.unlink(false, "")
	s.repaired(s.editEntry(rules.RepairUnlink), s.details())
}

// RepairSlots ends the waiting for an event whose poll was given another time.
func (s *Step) RepairSlots() {
	s.stopAwaiting()
	s.repaired(s.editEntry(rules.RepairSlots), Details{})
}

// RepairForget drops the index entry of an event that is not followed any more.
func (s *Step) RepairForget() {
	if s.Entry.Awaited {
		after := s.Poll
		after.Sync.Awaited = nil
		s.After = &after
	}
	s.dropEntry()
}

// RepairNote records that the poll has another status, winning slot or event than its
// journal knew. Where it follows an event, the event is fetched: nothing may have
// been decided about it before.
func (s *Step) RepairNote() {
	mustShow := s.Entry != nil && (s.Poll.Linked() || s.Awaiting() && s.Poll.Status != rules.Archived) && s.askAgain()
	s.repaired(s.editEntry(rules.RepairRecord), s.details())
	if mustShow {
		s.showHeld()
	}
}

// RepairLink has an event followed that the poll names, in State.Next.
func (s *Step) RepairLink() {
	entry := s.editEntry(rules.RepairLink)
	s.follow()
	s.repaired(entry, s.details())
}

// repaired leaves the poll as an entry of a direct edit says.
func (s *Step) repaired(entry poll.JournalEntry, more Details) poll.Poll {
	after := Repaired(s.Poll, entry, more)
	if more.AnotherEvent {
		s.supersede() // the edit was another finalisation, which the web app announced
	}
	if s.Poll.Sync.Rescheduled != nil && after.Sync.Rescheduled == nil {
		s.removeCalendarSlot()
	}
	winning := s.Winning
	if after.WinningSlotID != s.Poll.WinningSlotID {
		winning = s.Original
	}
	entry.After = after.Sync.Applied
	s.record(after, entry, winning, entry.Decision == rules.Clear)
	return after
}

// follow makes the index entry of an event that the poll names, and has it fetched:
// an event without a baseline is adopted then.
func (s *Step) follow() {
	p := &s.Poll
	generation := p.Sync.Generation
	if s.details().AnotherEvent {
		generation++
	}
	entry := poll.IndexEntry{
		EventID: p.GoogleEventID, PollID: p.ID, AccountID: s.Next.AccountID, CreatorID: p.CreatorID,
		CalendarID: s.Next.CalendarID, Generation: generation, CreatedAt: s.Now,
	}
	s.Writes.Create(s.NextPath, poll.EncodeIndex(entry))
	asked := append(s.Next.Link(s.request(), p.CreatorID, entry.EventID),
		calendars.Defer(entry.EventID, calendars.DeferredCommand, s.Now)) // no poll followed it: nothing is held
	s.Writes.Merge(calendars.Path(s.Next.Key), asked...)
	p.GoogleCalendarID = s.Next.CalendarID // "primary" is resolved once
}

// RepairRestore removes the cancellation marks from a poll that is finalised again. An event
// that the poll still names is followed again (follows: State.Next is its calendar); an
// awaited event stays awaited. If the cancellation deleted the event, drop its reschedule too:
// nothing could undo it any more.
func (s *Step) RepairRestore(follows bool) {
	superseding := s.PendingInsert() != nil // a finalisation under way, of before
	if superseding {
		s.supersede()
		s.Poll.Sync.Generation++
	}
	entry, more := s.editEntry(rules.RepairRestore), s.details()
	if follows {
		s.follow()
	}
	if s.Entry == nil && !more.AnotherEvent && s.Poll.GoogleEventID != "" {
		more.Given = s.given()
	}
	switch p := s.Poll; {
	case more.Awaiting:
		more.AnotherEvent = false
		if generation := p.Sync.Generation; p.Sync.Awaited.Link.Generation != generation {
			s.Writes.Update(s.EntryPath, poll.Set("generation", generation))
		}
		s.askAgain() // it may be back already
	case p.GoogleEventID == "":
		more.AnotherEvent = p.Sync.Rescheduled != nil
	}
	sameEvent := s.Poll.GoogleEventID == s.Poll.Sync.Recorded.EventID
	if after := s.repaired(entry, more); sameEvent {
		s.stillKnown(s.Announcement, after)
	}
}

// given is the time that an edit of the slots gave the poll while its event stayed behind in
// the calendar; zero for none. The event is compared with that time, so that one which was
// left where it was counts as moved. It lasts as long as it did: a slot may end later. An
// event that was adopted at another time than its slot's is left there, if people know the
// slot as it is.
func (s *Step) given() rules.Fingerprint {
	differs := func(slot *poll.Slot, was rules.Fingerprint) bool {
		return slot != nil && !was.IsZero() && slot.Fingerprint().Start != was.Start
	}
	known, stays := s.Poll.Sync, s.Winning
	moved := known.Rescheduled
	shown := moved != nil && s.Poll.WinningSlotID == moved.ToSlotID
	if shown {
		stays = s.Original
	}
	switch wanted := s.Announcement.Wanted.State.At; {
	case moved == nil && stays != nil && stays.Fingerprint().Start == wanted.Start:
		return rules.Fingerprint{}
	case differs(stays, known.Baseline):
		at := stays.Fingerprint()
		if !at.AllDay && !known.Baseline.AllDay {
			at.End = at.Start + known.Baseline.End - known.Baseline.Start
		}
		return at
	case shown && differs(s.Winning, known.Applied), moved != nil && !shown:
		return known.Baseline
	default:
		return rules.Fingerprint{}
	}
}

// stillKnown renumbers what was announced of a restored poll to the present generation,
// which the cancellation incremented: people know this finalisation already, and the next
// announcement is compared with it. A poll that was finalised again before it was
// cancelled has another finalisation, which the web app announced.
func (s *Step) stillKnown(announcement poll.Announcement, p poll.Poll) {
	known, cancelled := announcement.Announced.State, announcement.Wanted.State
	if known.Status != rules.Cancelled && (cancelled.Status != rules.Cancelled || cancelled.Generation != known.Generation+1) {
		return
	}
	updates := poll.RenumberUpdates(announcement, known.Generation, p.Sync.Generation)
	if len(updates) > 0 && known.Generation != p.Sync.Generation {
		s.Writes.Update(poll.AnnouncementPath(p.ID), updates...)
	}
}
