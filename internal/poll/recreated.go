package poll

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// A person can make a poll under the id of a deleted one, in the web app, before we notice.
// Clients cannot write calendarSync, and every transaction of ours that leaves a document
// beside a poll writes it: a poll that has it owns those documents. A poll without it may have
// lost it by an import or in the console; it is another poll only where something says so.

// Pristine reports whether the poll's document has no calendarSync. The server's documents under
// its id may be of a deleted poll (Replaces).
func (p Poll) Pristine() bool {
	s := p.Sync
	return s.Recorded.At.IsZero() && s.Generation == 0 && s.State == rules.StateNone && s.Applied.IsZero()
}

// Same reports whether two readings of a path are of one poll.
func (p Poll) Same(other Poll) bool {
	return p.CreatorID == other.CreatorID && p.CreatedAt.Equal(other.CreatedAt)
}

// Replaces reports whether a journal entry under the poll's id is of a deleted poll.
func (p Poll) Replaces(entry Entry) bool {
	return p.replaces(entry.CreatorID, entry.Made, entry.At)
}

// ReplacesLinked is Replaces for an index entry.
func (p Poll) ReplacesLinked(entry IndexEntry) bool {
	return p.replaces(entry.CreatorID, entry.Made, entry.CreatedAt)
}

// ReplacesIntent is Replaces for an intent. Only a deleted poll has one to purge.
func (p Poll) ReplacesIntent(intent Intent) bool {
	return p.Pristine() && intent.Kind == IntentPurge || p.replaces("", intent.Made, intent.CreatedAt)
}

// ReplacesAnnounced is Replaces for an announcement that was wanted.
func (p Poll) ReplacesAnnounced(a Announcement) bool {
	return a.Wanted.Ref != "" && p.replaces("", a.Made, a.Wanted.At)
}

// replaces reports whether a document belongs to a deleted poll of the same id: the poll is
// pristine, and another person created it than the document says (creatorID "": unknown), or
// it was made later. at is for stores that keep no order.
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

// Owns reports whether a journal entry is the poll's own, for its creator to read: not of a
// deleted poll, and of no other creator.
func (p Poll) Owns(entry Entry) bool {
	return !p.Replaces(entry) && (entry.CreatorID == "" || entry.CreatorID == p.CreatorID)
}

// Latest reads the newest entry under a poll's id; nil for none. It costs one read.
func Latest(ctx context.Context, reader store.Reader, pollID string) (*Entry, error) {
	entries, _, err := LoadJournal(ctx, reader, pollID, store.Paging{Limit: 1})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return &entries[0], nil
}

// Recreated reports whether a pristine poll replaces a deleted one of its id, by the journal, or
// where there is none by the intents. It costs two reads for a pristine poll.
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

// RecreatedBy is Recreated for what was read already. A purge has begun to remove the journal.
func (p Poll) RecreatedBy(latest *Entry, intents []Intent) bool {
	purging := func(i Intent) bool { return i.Kind == IntentPurge }
	if latest != nil && !slices.ContainsFunc(intents, purging) {
		return p.Replaces(*latest)
	}
	return slices.ContainsFunc(intents, p.ReplacesIntent)
}

// Begun is a pristine poll after the remains of a deleted one of its id are gone, whose last
// generation was before. Its own begin behind that, so they share no event id.
func (p Poll) Begun(before int64, r Recorded) Poll {
	r.Status = rules.Open // as it was made
	p.Sync.Generation, p.Sync.Recorded = before+1, r
	return p
}
