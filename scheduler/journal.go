package scheduler

import (
	"time"

	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
)

// outcome is a poll as a transaction leaves it: what journal and announcement
// say of it.
type outcome struct {
	poll    poll.Poll
	winning *poll.Slot
}

// record writes the journal entry of a transition and, where announce is set,
// makes its announcement due. entry holds what is known of the cause; the rest
// is taken from the outcome. It gives the announcement's task, to be enqueued
// after the commit, or nil.
func (s *Service) record(tx store.Tx, entry poll.Entry, after outcome, actor string, announce bool) (*announcement, error) {
	p := after.poll
	entry.ID, entry.At = s.IDs.ULID("jrn"), s.Now()
	entry.Status, entry.State, entry.Generation = p.Status, p.Sync.State, p.Sync.Generation
	entry.WinningSlotID, entry.Rescheduled, entry.Baseline = p.WinningSlotID, p.Sync.Rescheduled != nil, p.Sync.Baseline
	if p.Sync.Error != nil {
		entry.Error = p.Sync.Error.Code
	}
	told := poll.Told{
		Ref: entry.ID, Story: p.Story(after.winning), Actor: actor, Trace: entry.Trace,
		At: entry.At, Updated: entry.Updated,
	}
	var due *announcement
	if announce {
		due = &announcement{pollID: p.ID, ref: entry.ID, at: entry.At.Add(s.Settle)}
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

// announcement is one that a committed transaction made due.
type announcement struct {
	pollID, ref string
	at          time.Time
}
