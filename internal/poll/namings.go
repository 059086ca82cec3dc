package poll

import (
	"context"
	"maps"
	"slices"

	"questscheduler/internal/store"
)

// mostNear is how many of a creator's polls on each side of one LoadNamings reads.
const mostNear = 100

// laterPollsOfCreator needs the index of pollsOfCreator in the other direction.
var laterPollsOfCreator = store.Select("polls of a creator, oldest first", "schedulers", "createdAt", store.Where("creatorId", store.Equal))

// Namings are a creator's polls near a place in the order of their creation, as far as they name
// some people.
type Namings struct {
	most  int
	sides [2]map[string][]Poll // by person, the nearest first, at most most
}

// LoadNamings reads which of a creator's polls near where name people, up to most of each person on
// each side: of the newest 100 if where has no ID yet, otherwise of 100 that were made before it
// and of 100 that were made after it. The costs do not depend on how many people there are.
func LoadNamings(ctx context.Context, reader store.Reader, where Poll, people []string, most int) (n Namings, err error) {
	n.most = most
	before := pollsOfCreator.With(where.CreatorID)
	if where.ID == "" {
		n.sides[0], err = near(ctx, reader, before, people, most)
		return n, err
	}
	at := &store.Cursor{Values: []any{where.CreatedAt}, Path: Path(where.ID)}
	n.sides[0], err = near(ctx, reader, before.From(at), people, most)
	if err != nil {
		return n, err
	}
	n.sides[1], err = near(ctx, reader, laterPollsOfCreator.With(where.CreatorID).From(at), people, most)
	return n, err
}

// near reads the first polls of a query until each of people was named in most of them, and
// returns these by person.
func near(ctx context.Context, reader store.Reader, asked store.Bound, people []string, most int) (map[string][]Poll, error) {
	naming, open := make(map[string][]Poll, len(people)), len(people)
	_, err := store.Walk(ctx, reader, asked.First(mostNear), brief(people...), func(p Poll) (bool, error) {
		for _, id := range p.ParticipantIDs {
			if len(naming[id]) == most {
				continue
			}
			naming[id] = append(naming[id], p)
			if len(naming[id]) == most {
				open--
			}
		}
		return open > 0, nil
	})
	return naming, err
}

// Answers are the polls that people consented to.
type Answers map[answer]bool

type answer struct{ pollID, userID string }

// Answers reads which of the polls that name people they consented to. listed is that of TrustLists.
func (n Namings) Answers(ctx context.Context, reader store.Reader, listed bool, people []string) (Answers, error) {
	var asked []ballot
	var polls []Poll
	for _, side := range n.sides {
		for _, id := range people {
			for _, p := range side[id] {
				asked, polls = append(asked, ballot{p, id}), append(polls, p)
			}
		}
	}
	groups, shown := map[string]*Group{}, slices.Concat(people, Creators(polls))
	for group, err := range eachGroup(ctx, reader, polls) {
		if err != nil {
			return nil, err
		}
		group = group.Brief(shown...)
		groups[group.ID] = &group
	}
	read := slices.Collect(maps.Values(groups))
	TrustLists(listed, read...)
	if err := Prove(ctx, reader, people, read...); err != nil {
		return nil, err
	}
	answers := Answers{}
	unproven := slices.DeleteFunc(asked, func(b ballot) bool {
		proven := b.poll.provesConsent(b.userID, groups[b.poll.GroupID])
		if proven {
			answers[answer{b.poll.ID, b.userID}] = true
		}
		return proven
	})
	voted, err := given(ctx, reader, unproven)
	for _, ballot := range voted {
		answers[answer{ballot.poll.ID, ballot.userID}] = true
	}
	return answers, err
}

// Unanswered counts how many of the polls in a row, next to the place on both sides, name a person
// who has not consented to them by the answers; at most as many as were read.
func (n Namings) Unanswered(userID string, answers Answers) (count int) {
	for _, side := range n.sides {
		for _, p := range side[userID] {
			if answers[answer{p.ID, userID}] {
				break
			}
			count++
		}
	}
	return min(count, n.most)
}
