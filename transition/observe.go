package transition

import (
	"slices"
	"strings"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// eventStateNames are the names of event states in the journal.
var eventStateNames = map[rules.EventState]string{
	rules.Present: "present", rules.Gone: "gone", rules.Series: "series", rules.Unreadable: "unreadable",
}

// EventStateName is the name of an event state in the journal.
func EventStateName(state rules.EventState) string { return eventStateNames[state] }

// EventStateNamed finds an event state by its name; false for an unknown name.
func EventStateNamed(name string) (rules.EventState, bool) {
	for state, known := range eventStateNames {
		if known == name {
			return state, true
		}
	}
	return 0, false
}

// Observe carries out a decision about an observation of the event that the poll
// follows. entry is the journal's of it.
func (s *Step) Observe(decision rules.Decision, entry poll.JournalEntry) {
	entry.At = s.Now
	switch decision.Action {
	case rules.Nothing:
		return
	case rules.Forget:
		s.dropEntry()
		return
	case rules.Record:
		s.note(entry)
		return
	case rules.Revive:
		s.revive(decision.Then)
	}
	after, winning, announced := s.observed(decision, &entry)
	entry.After = after.Sync.Applied
	s.record(after, entry, winning, announced)
}

// Observed is a poll after a decision about an observation of its event, as its journal has
// it: Observe without its writes.
func Observed(p poll.Poll, decision rules.Decision, entry poll.JournalEntry) poll.Poll {
	replayed := Step{State: State{Poll: p, Entry: &poll.IndexEntry{EventID: entry.EventID}}}
	replayed.IDs.UUID = func() string { return entry.WinningSlotID } // of a slot that the step made
	after, _, _ := replayed.observed(decision, &entry)
	return after
}

// observed carries out a decision, and returns the poll afterwards, its winning slot, and
// whether that is announced.
func (s *Step) observed(decision rules.Decision, entry *poll.JournalEntry) (after poll.Poll, winning *poll.Slot, announced bool) {
	p, winning, updated := s.Poll, s.Winning, entry.Updated
	action := decision.Action
	if action == rules.Revive {
		p = p.Unmarked()
		link := p.Sync.Awaited.Link
		p.Status, p.Sync.Awaited, p.GoogleEventID, p.GoogleCalendarID = rules.Finalized, nil, link.Event, link.Calendar
		action, announced = decision.Then, true
	}
	moved, applied := p.Sync.Rescheduled, entry.Fingerprint
	switch action {
	case rules.Cancel:
		p = marked(p, poll.Cancelled{At: entry.At, Reason: rules.ReasonCalendarDeleted})
		p.GoogleEventID = ""
		p.Sync.Awaited = &poll.Awaited{
			Link:  rules.Link{Account: entry.AccountID, Calendar: entry.CalendarID, Event: entry.EventID, Generation: p.Sync.Generation},
			Until: entry.At.Add(rules.AwaitFor), Winning: timeOf(s.Winning), Original: timeOf(s.Original),
		}
		s.awaitEvent()
		applied, announced = p.Sync.Applied, true
	case rules.MoveCalendar:
		p.GoogleCalendarID = entry.Inputs.MovedTo.CalendarID
		s.moveEntry(entry.Inputs.MovedTo)
		applied, updated = p.Sync.Applied, time.Time{} // of an event that was gone
	case rules.Adopt:
		p.Sync.Baseline = entry.Fingerprint
		if decision.Drift {
			entry.Reason += ": the event does not start where the slot does"
		}
	case rules.Reschedule:
		first := poll.Rescheduled{FromSlotID: p.WinningSlotID, ToSlotID: s.IDs.UUID(), SnapshotID: s.IDs.UUID(), At: entry.At}
		p.WinningSlotID, p.Sync.Rescheduled = first.ToSlotID, first.MovedTo(entry.Fingerprint, entry.At)
		slot := poll.SlotAt(p.WinningSlotID, entry.Fingerprint)
		s.Writes.Create(poll.SlotPath(p.ID, slot.ID), poll.EncodeSlot(slot))
		s.Writes.Create(poll.SnapshotPath(p.ID, first.SnapshotID), poll.EncodeSnapshot(p.ID, s.snapshot(first.SnapshotID)))
		winning, announced = &slot, true
	case rules.RescheduleAgain: // the first snapshot and the original slot stay
		p.WinningSlotID, p.Sync.Rescheduled = moved.ToSlotID, moved.MovedTo(entry.Fingerprint, entry.At)
		winning, announced = s.moveCalendarSlot(p, entry.Fingerprint), true
	case rules.Restore:
		winning, announced = s.restoreOriginal(), true
		p.WinningSlotID, p.Sync.Rescheduled = winning.ID, nil
	default:
		applied = p.Sync.Applied
	}
	p.Sync.State, p.Sync.Applied, p.Sync.LastSyncedAt, p.UpdatedAt = decision.State, applied, entry.At, entry.At
	p.Sync.Observed = rules.Newest(p.Sync.Observed, updated)
	if known := p.Sync.Error; decision.Error == "" {
		p.Sync.Error = nil
	} else if known == nil || known.Code != decision.Error {
		p.Sync.Error = syncError(decision.Error, entry.At)
	}
	return p, winning, announced
}

func timeOf(slot *poll.Slot) rules.Fingerprint {
	if slot == nil {
		return rules.Fingerprint{}
	}
	return slot.Fingerprint()
}

// snapshot is the poll as it is before the calendar moves it.
func (s *Step) snapshot(id string) poll.Snapshot {
	return poll.Snapshot{
		ID: id, CreatedAt: s.Now, ExpiresAt: s.Now.Add(s.SnapshotKeep), WinningSlotID: s.Poll.WinningSlotID,
		Participants: s.Poll.ParticipantIDs, PendingInvites: s.Poll.PendingInvites, Votes: s.Votes,
	}
}

func (s *Step) moveCalendarSlot(after poll.Poll, to rules.Fingerprint) *poll.Slot {
	slot := poll.SlotAt(after.WinningSlotID, to)
	path := poll.SlotPath(after.ID, slot.ID)
	if s.Winning != nil && s.Winning.ID == slot.ID {
		s.Writes.Update(path, poll.MoveSlot(to)...)
	} else { // somebody removed it
		s.Writes.Set(path, poll.EncodeSlot(slot))
	}
	return &slot
}

// restoreOriginal removes the calendar's slot and gives the original one. Votes that vanished
// from people who still take part come back; nothing that people wrote since is overwritten.
func (s *Step) restoreOriginal() *poll.Slot {
	p, moved, original := s.Poll, s.Poll.Sync.Rescheduled, s.Original
	if original == nil { // somebody removed it: the baseline is its time
		slot := poll.SlotAt(moved.FromSlotID, p.Sync.Baseline)
		if slot.ID == "" { // none won before
			slot.ID = s.IDs.UUID()
		}
		slot.Source, slot.CreatedBy = poll.SourcePoll, ""
		original = &slot
		s.Writes.Create(poll.SlotPath(p.ID, slot.ID), poll.EncodeSlot(slot))
	}
	s.Writes.Delete(poll.SlotPath(p.ID, moved.ToSlotID))
	for _, vote := range vanished(s.Snapshot, s.Votes, p.People(s.Group)) {
		vote.UpdatedAt = s.Now // snapshots do not keep it
		s.Writes.Create(poll.VotePath(p.ID, vote.UserID), poll.EncodeVote(vote))
	}
	return original
}

// vanished are the votes of a snapshot whose voters still take part and have none any more.
func vanished(snapshot *poll.Snapshot, votes []poll.Vote, people []string) []poll.Vote {
	if snapshot == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(snapshot.Votes), func(old poll.Vote) bool {
		return old.UserID == "" || !slices.Contains(people, old.UserID) ||
			slices.ContainsFunc(votes, func(vote poll.Vote) bool { return vote.UserID == old.UserID })
	})
}

// awaitEvent keeps the index entry of an event whose deletion cancels the poll: a
// person may restore it from the calendar's bin.
func (s *Step) awaitEvent() {
	s.Writes.Update(s.EntryPath, poll.SetEntryAwaited(true))
	if s.Calendar.Deferred(s.Entry.EventID) != (calendars.Deferral{}) {
		s.Writes.Merge(calendars.Path(s.Calendar.Key), calendars.Settle(s.Entry.EventID))
	}
}

// revive links the poll to its awaited event again. Unless what the observation does
// next gives it a slot, its winning slot is made again where somebody removed it.
func (s *Step) revive(then rules.Action) {
	s.Writes.Update(s.EntryPath, poll.SetEntryAwaited(false))
	replaced := then == rules.Restore || then == rules.RescheduleAgain || then == rules.Reschedule && s.Poll.WinningSlotID == ""
	at := s.Poll.Sync.Applied
	if s.Winning != nil || replaced || at.IsZero() {
		return
	}
	if s.Poll.WinningSlotID == "" {
		s.Poll.WinningSlotID = s.IDs.UUID()
	}
	slot := poll.SlotAt(s.Poll.WinningSlotID, at)
	if moved := s.Poll.Sync.Rescheduled; moved == nil || moved.ToSlotID != slot.ID {
		slot.Source, slot.CreatedBy = poll.SourcePoll, ""
	}
	s.Writes.Create(poll.SlotPath(s.Poll.ID, slot.ID), poll.EncodeSlot(slot))
	s.Winning = &slot
}

// note writes an entry about an event that decides nothing any more: once for each
// time that it differs from what was noted last, however often that is observed.
func (s *Step) note(entry poll.JournalEntry) {
	noted := func(state string, at rules.Fingerprint) string {
		return entry.EventID + "|" + state + "|" + at.String()
	}
	after := s.Poll
	known := &after.Sync.Recorded
	if !strings.HasPrefix(known.Noted, entry.EventID+"|") { // of an earlier event
		known.Noted, known.NotedUpdated = noted(EventStateName(rules.Present), after.Sync.Applied), time.Time{}
	}
	now := noted(entry.EventState, entry.Fingerprint)
	older := entry.EventState != EventStateName(rules.Gone) && rules.Older(entry.Updated, known.NotedUpdated)
	if now == known.Noted || older {
		return
	}
	known.Noted, known.NotedUpdated = now, rules.Newest(known.NotedUpdated, entry.Updated)
	entry.After = after.Sync.Applied
	s.record(after, entry, s.Winning, false)
}
