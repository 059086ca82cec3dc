package transition

import (
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// State is the data that a transaction reads of a poll before it writes.
type State struct {
	Poll    poll.Poll
	Group   *poll.Group
	Winning *poll.Slot
	// Original is the slot from before a reschedule, nil where it is gone; read only
	// where something depends on it.
	Original *poll.Slot
	// Entry is the index entry of the linked or awaited event, nil where it has none;
	// Calendar is the calendar that it names.
	Entry     *poll.IndexEntry
	EntryPath store.Path
	Calendar  calendars.Calendar
	// Intents are those of the poll that are not done.
	Intents []poll.Intent
	// Left reports whether documents of a deleted poll are left.
	Left bool
	// Latest is the newest entry of its journal; read only where the poll has no
	// calendarSync, and the entry may be of a deleted poll of its id.
	Latest *poll.JournalEntry
	// Votes, and Snapshot, are read for the transitions that depend on them.
	Votes    []poll.Vote
	Snapshot *poll.Snapshot
	// Announcement is read for repairs.
	Announcement poll.Announcement
	// Next is a calendar in which to follow the event, and NextPath where its index entry
	// will stand.
	Next     calendars.Calendar
	NextPath store.Path
}

// Rules is the part of the state that decisions need.
func (s State) Rules() rules.Poll {
	account := ""
	if s.Entry != nil {
		account = s.Entry.AccountID
	}
	return s.Poll.Rules(account, s.Winning, s.Original)
}

// PendingInsert is the insert under way for the poll's generation; nil for none.
func (s State) PendingInsert() *poll.Intent {
	for i := range s.Intents {
		if s.Intents[i].Kind == poll.IntentInsert && s.Intents[i].Generation == s.Poll.Sync.Generation {
			return &s.Intents[i]
		}
	}
	return nil
}

// Awaiting reports whether the index entry is for the event that the poll awaits.
func (s State) Awaiting() bool {
	awaited := s.Poll.Sync.Awaited
	return awaited != nil && s.Poll.GoogleEventID == "" && s.Entry != nil && s.Entry.EventID == awaited.Link.Event
}

// Purging reports whether what is below the poll is being removed.
func (s State) Purging() bool {
	return slices.ContainsFunc(s.Intents, func(i poll.Intent) bool { return i.Kind == poll.IntentPurge })
}

// Creator is the poll's creator, also where only its link is left.
func (s State) Creator() string {
	if s.Poll.CreatorID == "" && s.Entry != nil {
		return s.Entry.CreatorID
	}
	return s.Poll.CreatorID
}

// Recreated reports whether a deleted poll had the poll's id and documents of it are left. The
// journal decides; without one, the link and the intents do.
func (s State) Recreated() bool {
	return s.Poll.RecreatedBy(s.Latest, s.Intents) ||
		s.Latest == nil && s.Entry != nil && s.Poll.ReplacesLinked(*s.Entry)
}

// CountOn restores the generation of a poll that lost calendarSync: its link and its
// events have it.
func (s *State) CountOn() {
	if s.Poll.Pristine() && !s.Recreated() {
		s.Poll.Sync.Generation = s.LastGeneration()
	}
}

// LastGeneration is the highest generation of a poll that anything of it names.
func (s State) LastGeneration() int64 {
	last := s.Poll.Sync.Generation
	if s.Entry != nil {
		last = max(last, s.Entry.Generation)
	}
	if s.Latest != nil {
		last = max(last, s.Latest.Generation)
	}
	for _, intent := range s.Intents {
		last = max(last, intent.Generation)
	}
	return last
}

// Documents is how poll and index stand to each other.
func (s State) Documents(exists bool, now time.Time) rules.Documents {
	p := s.Poll
	return rules.Documents{
		Exists: exists, Left: s.Left, Recreated: exists && s.Recreated(), Status: p.Status, State: p.Sync.State, HasEvent: p.GoogleEventID != "",
		HasEntry: s.Entry != nil, Fits: s.Entry != nil && s.Entry.EventID == p.EventID(),
		EntryAwaited: s.Entry != nil && s.Entry.Awaited, Awaiting: s.Awaiting(), AwaitOver: s.Awaiting() && now.After(p.Sync.Awaited.Until),
		SlotsEdited: p.SlotsEdited(s.Winning, s.Original), Rescheduled: p.Sync.Rescheduled != nil,
		Marked: p.MarkedCancelled(), Cancelled: p.Cancelled != nil && p.Sync.Cancelled != nil,
		Inserting: s.PendingInsert() != nil, LongPast: s.Rules().Over(now, rules.ForgetAfter), Edited: p.EditedDirectly(),
	}
}
