package scheduler

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// outcome is a poll as a transaction leaves it, which is what journal and
// announcement say of it, and its winning slot.
type outcome struct {
	poll    poll.Poll
	winning *poll.Slot
}

// entryTime is that of the next entry of a poll's journal: now, but later than
// the last entry in any case. Clocks of two processes differ, and entries are
// read in the order of their times. Nothing is decided by it, so a clock that
// was far ahead once does no more harm than to the times that a journal shows.
func (s *Service) entryTime(p poll.Poll) time.Time {
	now := store.Instant(s.Now())
	if last := p.Sync.Recorded.At; !now.After(last) {
		return last.Add(time.Microsecond)
	}
	return now
}

// record writes a poll as a transition leaves it, with the entry of its journal
// and, where announce is set, an announcement that is due: nothing that the
// journal tells of is written without its entry. entry holds what is known of
// the cause; the rest is taken from the outcome. It gives the announcement's task, to
// be enqueued after the commit, or nil.
func (s *Service) record(tx store.Tx, entry poll.Entry, after outcome, actor string, announce bool) (*announcement, error) {
	p := after.poll
	entry.ID, entry.CreatorID, entry.At = s.IDs.ULID("jrn"), p.CreatorID, s.entryTime(p)
	entry = leaving(entry, p)
	known := p.Sync.Recorded
	known.At, known.Status, known.WinningSlotID, known.EventID = entry.At, p.Status, p.WinningSlotID, p.GoogleEventID
	p.Sync.Recorded = known
	if err := p.Write(tx); err != nil {
		return nil, err
	}
	if entry.Command != "" {
		if err := s.nameFirst(tx, p.Stored()); err != nil {
			return nil, err
		}
	}
	told := poll.Told{
		Ref: entry.ID, Story: p.Story(after.winning), Actor: actor, Trace: entry.Trace,
		At: entry.At, Updated: entry.Updated,
	}
	var due *announcement
	if announce {
		due = &announcement{pollID: p.ID, ref: entry.ID, at: s.Now().Add(s.settle(entry))}
		entry.Announcement = entry.ID
		if err := tx.Merge(poll.AnnouncementPath(p.ID), poll.WantUpdates(p.ID, told, due.at)...); err != nil {
			return nil, err
		}
	} else if entry.Decision == rules.Adopt {
		if err := tx.Merge(poll.AnnouncementPath(p.ID), poll.KnownUpdates(p.ID, told)...); err != nil {
			return nil, err
		}
	}
	return due, tx.Create(poll.EntryPath(p.ID, entry.ID), poll.EncodeEntry(entry))
}

// leaving is an entry that leaves a poll as it is given.
func leaving(entry poll.Entry, p poll.Poll) poll.Entry {
	entry.Status, entry.State, entry.Generation = p.Status, p.Sync.State, p.Sync.Generation
	entry.WinningSlotID, entry.Rescheduled, entry.Baseline = p.WinningSlotID, p.Sync.Rescheduled != nil, p.Sync.Baseline
	entry.Cancelled = p.MarkedCancelled()
	if p.Sync.Error != nil {
		entry.Error = p.Sync.Error.Code
	}
	return entry
}

// announcement is one that a committed transaction made due.
type announcement struct {
	pollID, ref string
	at          time.Time
}
