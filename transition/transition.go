// Package transition is the only place that changes the state of a poll after its
// creation. A transition is a function of values: a Step holds what was read and
// what every transition depends on. Its methods compute the poll afterwards and every
// write that goes with it (Outcome). The caller applies the Outcome in the transaction
// that read the poll. Nothing here reads, writes, or knows the time.
//
// A poll after a transition follows from the poll before it and the journal entry
// (after.go, and Observed in observe.go), so the replay of a journal applies the same functions.
package transition

import (
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Step works out one transition. Each of its methods is one, or a part of one, and
// is called once.
type Step struct {
	State
	Setting
	Outcome
}

// Setting is the input of every transition beside the poll.
type Setting struct {
	Now            time.Time
	IDs            IDs
	Trace, Trigger string // of what caused it
	// SnapshotKeep is how long a snapshot is kept.
	SnapshotKeep time.Duration
	// Settle is the delay between a transition and its announcement, AppNoticeDelay the
	// least delay after a cancellation by the web app itself.
	Settle, AppNoticeDelay time.Duration
}

// request asks for a sync for what caused the transition.
func (s Setting) request() calendars.Request {
	return calendars.Request{At: s.Now, Trigger: s.Trigger, Trace: s.Trace}
}

// IDs draws identifiers: UUIDs for shared documents, ULIDs with a prefix for our own.
type IDs struct {
	UUID func() string
	ULID func(prefix string) string
}

// Outcome is what a transition leaves to be written, in one transaction, and to be done by
// the outbox once that is committed.
type Outcome struct {
	// After is the poll afterwards, of whose document the difference is written;
	// nil where it is not written.
	After *poll.Poll
	// Entries are those of its journal.
	Entries []poll.JournalEntry
	// Writes are those of other documents, in order.
	Writes store.Writes
	// Intents are written, and carried out at once.
	Intents []poll.Intent
	// Due is the announcement that is wanted; nil for none.
	Due *Announcement
	// Card is the poll whose card is updated without an announcement; nil for none.
	Card *poll.Poll
	// Sync names the calendar to sync at once; nil for none.
	Sync *poll.Place
	// Session is the session that is compared with what its group shares, unless that is
	// nothing; nil for none.
	Session *Session
}

// Session is a poll's session in the group GroupID, as transition Ref left it. GroupID is ""
// where the group is not known.
type Session struct{ PollID, GroupID, Ref string }

// Announcement is one that a transition made due.
type Announcement struct {
	PollID string
	At     time.Time
}

// entry is the beginning of a journal entry about the poll as it was read.
func (s *Step) entry() poll.JournalEntry {
	return poll.JournalEntry{
		Trace: s.Trace, Trigger: s.Trigger, At: s.Now, EventID: s.Poll.GoogleEventID, CalendarID: s.Poll.GoogleCalendarID,
		Before: s.Poll.Sync.Applied, After: s.Poll.Sync.Applied,
	}
}

// record leaves the poll as after says, with the entry of its journal and, where
// announce is set, an announcement that is due. Every change of status, sync state,
// winning slot or time goes through here, so none lacks its entry. winning is the winning slot
// afterwards, for what is announced or known; nil for none.
func (s *Step) record(after poll.Poll, entry poll.JournalEntry, winning *poll.Slot, announce bool) {
	entry.ID, entry.CreatorID, entry.At = s.IDs.ULID("jrn"), after.CreatorID, s.entryTime(after)
	entry = Leaving(entry, after)
	known := &after.Sync.Recorded
	known.At, known.Status, known.WinningSlotID, known.EventID = entry.At, after.Status, after.WinningSlotID, after.GoogleEventID
	after = after.Counted(s.Poll, s.Now)
	if entry.Command != "" {
		s.NameFirst()
	}
	state := poll.Message{
		Ref: entry.ID, State: after.AnnouncedState(winning), Actor: after.CreatorID, Trace: entry.Trace, At: entry.At, Updated: entry.Updated,
	}
	if entry.Who != "" && (entry.Command != "" || entry.Decision == rules.Cancel) {
		state.Actor = entry.Who
	}
	if announce {
		s.Due = &Announcement{PollID: after.ID, At: s.Now.Add(s.settle(entry))}
		entry.Announcement = entry.ID
		s.Writes.Merge(poll.AnnouncementPath(after.ID), poll.PendingUpdates(after.ID, state, s.Due.At)...)
	} else if entry.Decision == rules.Adopt {
		s.Writes.Merge(poll.AnnouncementPath(after.ID), poll.KnownUpdates(after.ID, state)...)
	}
	if s.changesSession(after) && (after.GroupID != "" || entry.Trigger == OutsideEdit) {
		s.Session = &Session{after.ID, after.GroupID, entry.ID}
	}
	s.After, s.Entries = &after, append(s.Entries, entry)
}

// changesSession reports whether a poll's session differs from the one that the last transition left:
// of what others write too, the journal knows that. Who wrote it may have changed the group as well.
func (s *Step) changesSession(after poll.Poll) bool {
	before, known := s.Poll, s.Poll.Sync.Recorded
	return after.Status != known.Status || after.GoogleEventID != known.EventID ||
		after.GoogleCalendarID != before.GoogleCalendarID || after.Sync.Applied != before.Sync.Applied
}

// entryTime is the time of the poll's next journal entry: now, but always later than the last
// entry. Entries are read in the order of their times, and the clocks of two processes differ.
func (s *Step) entryTime(p poll.Poll) time.Time {
	now := store.Instant(s.Now)
	if last := p.Sync.Recorded.At; !now.After(last) {
		return last.Add(time.Microsecond)
	}
	return now
}

// settle is the delay between a transition and its announcement. After a cancellation by the
// web app itself, the delay gives the app's own functions time to notify people first.
func (s *Step) settle(entry poll.JournalEntry) time.Duration {
	if rules.Repair(entry.Reason) == rules.RepairCancel {
		return max(s.Settle, s.AppNoticeDelay)
	}
	return s.Settle
}

// Leaving is an entry that leaves a poll as it is given.
func Leaving(entry poll.JournalEntry, p poll.Poll) poll.JournalEntry {
	entry.Status, entry.State, entry.Generation = p.Status, p.Sync.State, p.Sync.Generation
	entry.WinningSlotID, entry.Rescheduled, entry.Baseline = p.WinningSlotID, p.Sync.Rescheduled != nil, p.Sync.Baseline
	entry.Cancelled = p.MarkedCancelled()
	if p.Sync.Error != nil {
		entry.Error = p.Sync.Error.Code
	}
	return entry
}
