package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

var embeddedOf = store.Select("embedded polls of a poll", "basicPolls", "")

// below are the collections below a poll's path. No client writes the closed ones.
var below = []struct {
	documents *store.Query
	closed    bool
}{{journalByTime, true}, {snapshotsOf, true}, {slotsOf, false}, {votesOf, false}, {embeddedOf, false}}

// PurgeMark is how far a purge is that keeps what another poll owns, which it need not read again.
// The zero value is the beginning.
type PurgeMark struct {
	made       int64 // of the poll's document: what it owns, another one does not
	collection int   // of below
	after      *store.Cursor
}

// LoadRemains reads a page of about limit documents behind a mark, and gives those that a deleted
// poll left below its path, votes before their embedded poll. done reports that nothing is left. at
// is the document at that path, as the same transaction read it. Where it exists, it is another,
// pristine poll: documents that are not older are its own (ages).
func LoadRemains(
	ctx context.Context, reader store.Reader, at store.Document, from PurgeMark, limit int,
) (left []store.Path, to PurgeMark, done bool, err error) {
	old, to := newAges(Decode(at)), from
	if to.made != at.Made {
		to = PurgeMark{made: at.Made}
	}
	for read := 0; to.collection < len(below) && read < limit; {
		collection := below[to.collection]
		mixed, asked := at.Exists() && !collection.closed, collection.documents.With().Below(at.Path).First(limit-read).From(to.after)
		documents, err := reader.Query(ctx, asked)
		if err != nil {
			return nil, from, false, err
		}
		for _, document := range documents {
			isOld, whole, err := true, true, error(nil)
			if mixed {
				isOld, err = old.read(ctx, reader, document)
			}
			if err == nil && isOld {
				left, whole, err = withVotes(ctx, reader, left, document, limit)
			}
			switch {
			case err != nil:
				return nil, from, false, err
			case !whole:
				return left, to, false, nil
			}
			to.after = collection.documents.CursorAt(document)
		}
		read += len(documents)
		if len(documents) < asked.Limit {
			to.collection, to.after = to.collection+1, nil
		}
	}
	if !at.Exists() && len(left) > 0 { // more may have come before the mark: nobody keeps it
		to = PurgeMark{}
	}
	return left, to, to.collection == len(below) && len(left) == 0, nil
}

// withVotes adds a document to those left, behind the votes of an embedded poll. whole is false
// where there is no room for it yet.
func withVotes(
	ctx context.Context, reader store.Reader, left []store.Path, document store.Document, limit int,
) (all []store.Path, whole bool, err error) {
	if document.Path.Collection() == embeddedOf.Collection {
		room := limit - len(left)
		if room <= 0 {
			return left, false, nil
		}
		votes, err := reader.Query(ctx, votesOf.With().Below(document.Path).First(room))
		if err != nil {
			return nil, false, err
		}
		for _, vote := range votes {
			left = append(left, vote.Path)
		}
		if len(votes) == room {
			return left, false, nil
		}
	}
	return append(left, document.Path), true, nil
}

// ages distinguishes a recreated poll's own documents from those of the deleted poll. Callers
// check slots before votes.
type ages struct {
	poll Poll
	own  map[string]bool // its slots
}

func newAges(p Poll) ages { return ages{p, map[string]bool{}} }

// read is isOld for a document of a part of them: it reads the slots that an old vote names.
func (a ages) read(ctx context.Context, reader store.Reader, document store.Document) (bool, error) {
	var unknown []store.Path
	if document.Path.Collection() == votesOf.Collection && document.Made < a.poll.Made {
		for _, slotID := range DecodeVote(document).Chosen() {
			path, isID := slotPath(a.poll.ID, slotID)
			if _, known := a.own[slotID]; isID && !known {
				unknown = append(unknown, path)
			}
		}
	}
	if len(unknown) > 0 {
		slots, err := reader.GetAll(ctx, unknown)
		if err != nil {
			return false, err
		}
		for _, slot := range slots {
			a.own[slot.Path.ID()] = false
			if slot.Exists() {
				a.isOld(slot)
			}
		}
	}
	return a.isOld(document), nil
}

// isOld reports whether a document is of the deleted poll. A slot of the calendar is. A vote is
// not if its voter changed it since: it names a slot of the new poll, or a later update says
// that no time works.
func (a ages) isOld(document store.Document) bool {
	old := document.Made < a.poll.Made
	switch document.Path.Collection() {
	case slotsOf.Collection:
		slot := DecodeSlot(document)
		old = old || slot.Source == SourceCalendar
		a.own[slot.ID] = !old
	case votesOf.Collection:
		vote, made := DecodeVote(document), a.poll.CreatedAt
		if slices.ContainsFunc(vote.Chosen(), func(slot string) bool { return a.own[slot] }) {
			return false
		}
		if vote.NoTimesWork && !made.IsZero() && !vote.UpdatedAt.Before(made) {
			return false
		}
	}
	return old
}

// LoadVotesOf reads the votes of a poll alone, as LoadChoices does.
func LoadVotesOf(ctx context.Context, reader store.Reader, p Poll) ([]Vote, error) {
	docs, err := reader.Query(ctx, votesOf.With().Below(Path(p.ID)))
	if err != nil || !p.mayBeOverOlder(docs) {
		return decodeVotes(docs), err
	}
	_, votes, err := LoadChoices(ctx, reader, p) // the slots say whose votes they are
	return votes, err
}

// mayBeOverOlder reports whether a poll is pristine and some of what is below it older.
func (p Poll) mayBeOverOlder(below []store.Document) bool {
	return p.Pristine() && slices.ContainsFunc(below, func(document store.Document) bool { return document.Made < p.Made })
}

// LoadChoices reads the slots of a poll, earliest first, and its votes, without those of a
// deleted poll of its id. A pristine poll with older documents below it costs two reads more
// (Recreated).
func LoadChoices(ctx context.Context, reader store.Reader, p Poll) (slots []Slot, votes []Vote, err error) {
	slotDocs, err := reader.Query(ctx, slotsIn(p.ID))
	if err != nil {
		return nil, nil, err
	}
	voteDocs, err := reader.Query(ctx, votesOf.With().Below(Path(p.ID)))
	if err != nil {
		return nil, nil, err
	}
	if p.mayBeOverOlder(slotDocs) || p.mayBeOverOlder(voteDocs) {
		recreated, err := Recreated(ctx, reader, p)
		if err != nil {
			return nil, nil, err
		}
		if recreated {
			old := newAges(p)
			slotDocs = slices.DeleteFunc(slotDocs, old.isOld)
			voteDocs = slices.DeleteFunc(voteDocs, old.isOld)
		}
	}
	return decodeSlots(slotDocs), decodeVotes(voteDocs), nil
}
