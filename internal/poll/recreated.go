package poll

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// The web app makes and deletes documents of schedulers without asking us, so a
// person can make a poll under the id of one that was deleted before we came by.
// Clients can neither make a poll with calendarSync nor change it, and every
// transaction of ours that leaves something beside a poll (journal entry, snapshot,
// index entry, intent, what is to be announced) writes it: so a poll that has it is
// the one that those are of. One that lacks it may have lost it, by an import or in
// the console: it is another one only where something says so.

// Pristine tells that the poll's document has no calendarSync. What of the server's
// stands under its id may be of a deleted poll (Replaces).
func (p Poll) Pristine() bool {
	s := p.Sync
	return s.Recorded.At.IsZero() && s.Generation == 0 && s.State == rules.StateNone && s.Applied.IsZero()
}

// Same tells whether two readings of a path are of one poll.
func (p Poll) Same(other Poll) bool {
	return p.CreatorID == other.CreatorID && p.CreatedAt.Equal(other.CreatedAt)
}

// Replaces tells whether a journal entry under the poll's id is of a deleted poll
// that had it before.
func (p Poll) Replaces(entry Entry) bool {
	return p.replaces(entry.CreatorID, entry.Made, entry.At)
}

// ReplacesLinked is Replaces for an index entry.
func (p Poll) ReplacesLinked(entry IndexEntry) bool {
	return p.replaces(entry.CreatorID, entry.Made, entry.CreatedAt)
}

// ReplacesIntent is Replaces for an intent. To purge is decided of a deleted poll
// alone.
func (p Poll) ReplacesIntent(intent Intent) bool {
	return p.Pristine() && intent.Kind == IntentPurge || p.replaces("", intent.Made, intent.CreatedAt)
}

// ReplacesTold is Replaces for an announcement of which something was to be told.
func (p Poll) ReplacesTold(told Announcement) bool {
	return told.Wanted.Ref != "" && p.replaces("", told.Made, told.Wanted.At)
}

// replaces tells whether a poll is another one than that of which a document is
// that names its creator ("": it names none), where made and at say when that
// document was made: a pristine poll that somebody else created, or that was made
// later. at is for stores that keep no order.
func (p Poll) replaces(creatorID string, made int64, at time.Time) bool {
	switch {
	case !p.Pristine():
		return false
	case creatorID != "" && p.CreatorID != "" && creatorID != p.CreatorID:
		return true
	case p.Made != 0 && made != 0:
		return p.Made > made
	default:
		return !at.IsZero() && p.CreatedAt.After(at)
	}
}

// Owns tells whether a journal entry under the poll's id is its own, for its creator
// to read: none of a deleted one is, and none that names another creator.
func (p Poll) Owns(entry Entry) bool {
	return !p.Replaces(entry) && (entry.CreatorID == "" || entry.CreatorID == p.CreatorID)
}

// Latest reads the newest entry under a poll's id; nil where there is none. It
// costs one read.
func Latest(ctx context.Context, reader store.Reader, pollID string) (*Entry, error) {
	entries, _, err := LoadJournal(ctx, reader, pollID, 1, nil)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return &entries[0], nil
}

// Recreated tells whether a pristine poll is another one than whoever had its id
// before: the journal says so, or where there is none what is yet to be done. It
// costs two reads, and none of a poll that is not pristine.
func Recreated(ctx context.Context, reader store.Reader, p Poll) (bool, error) {
	if !p.Pristine() {
		return false, nil
	}
	intents, err := IntentsOf(ctx, reader, p.ID)
	if err != nil {
		return false, err
	}
	latest, err := Latest(ctx, reader, p.ID)
	return p.RecreatedBy(latest, intents), err
}

// RecreatedBy is Recreated for what was read already. A purge that stands has begun
// to take the journal away.
func (p Poll) RecreatedBy(latest *Entry, intents []Intent) bool {
	purging := func(i Intent) bool { return i.Kind == IntentPurge }
	if latest != nil && !slices.ContainsFunc(intents, purging) {
		return p.Replaces(*latest)
	}
	return slices.ContainsFunc(intents, p.ReplacesIntent)
}

// Begun is a pristine poll under whose id nothing is left any more of another one,
// whose last generation was before. Its own begin behind that, so it shares no event
// id with it.
func (p Poll) Begun(before int64, r Recorded) Poll {
	r.Status = rules.Open // as it was made
	p.Sync.Generation, p.Sync.Recorded = before+1, r
	return p
}
