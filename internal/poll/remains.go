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

// LoadRemains reads a page of about limit documents that a deleted poll left below its path,
// votes before their embedded poll; none at the end. at is the document at that path, as the
// same transaction read it. Where it exists, it is another, pristine poll: documents that are
// not older are its own (ages).
func LoadRemains(ctx context.Context, reader store.Reader, at store.Document, limit int) (left []store.Path, err error) {
	old := newAges(Decode(at))
	for _, collection := range below {
		mixed := at.Exists() && !collection.closed
		asked := collection.documents.With().Below(at.Path)
		if !mixed {
			asked = asked.First(limit)
		}
		documents, err := reader.Query(ctx, asked)
		if err != nil {
			return nil, err
		}
		for _, document := range documents {
			switch {
			case mixed && !old.isOld(document):
			case len(left) >= limit:
			case collection.documents == embeddedOf:
				votes, err := reader.Query(ctx, votesOf.With().Below(document.Path).First(limit))
				if err != nil {
					return nil, err
				}
				for _, vote := range votes {
					left = append(left, vote.Path)
				}
				if len(votes) < limit { // it goes with the last of them
					left = append(left, document.Path)
				}
			default:
				left = append(left, document.Path)
			}
		}
	}
	return left, nil
}

// ages distinguishes a recreated poll's own documents from those of the deleted poll. Callers
// check slots before votes.
type ages struct {
	poll Poll
	own  map[string]bool // its slots
}

func newAges(p Poll) ages { return ages{p, map[string]bool{}} }

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
