package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

var embeddedOf = query("embedded polls of a poll", "basicPolls")

// below are the collections below a poll's path. No client writes the closed ones.
var below = []struct {
	documents *store.Query
	closed    bool
}{{journalByTime, true}, {snapshotsOf, true}, {slotsOf, false}, {votesOf, false}, {embeddedOf, false}}

// LoadRemains reads what a deleted poll left below its path, a
// page of about limit documents, votes before the embedded poll that they are below;
// nothing: nothing is left. at is the document at that path,
// as the same transaction read it. Where it is there, it is another poll, which has
// to be pristine: it has no journal and no snapshot, and its slots, votes and
// embedded polls are those that are not older (ages).
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

// ages tells the documents below a recreated poll that are its own from those of the
// poll before it. It is asked about the slots before the votes.
type ages struct {
	poll Poll
	own  map[string]bool // its slots
}

func newAges(p Poll) ages { return ages{p, map[string]bool{}} }

// isOld tells whether a document is of the poll before. A slot that the calendar made
// is, whatever the store says of ages. A vote is not that its voter changed since,
// since the same person's stands at the same path: it names a slot of the new poll,
// or says since then that no time works.
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

// mayBeOverOlder tells whether a poll is pristine and some of what is below it older.
func (p Poll) mayBeOverOlder(below []store.Document) bool {
	return p.Pristine() && slices.ContainsFunc(below, func(document store.Document) bool { return document.Made < p.Made })
}

// LoadChoices reads the slots of a poll, earliest first, and its votes. What a
// deleted poll of its id left of them is not among them: a pristine poll below which
// something is older than itself costs two reads more (Recreated).
func LoadChoices(ctx context.Context, reader store.Reader, p Poll) (slots []Slot, votes []Vote, err error) {
	slotDocs, err := reader.Query(ctx, slotsOf.With().Below(Path(p.ID)))
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
