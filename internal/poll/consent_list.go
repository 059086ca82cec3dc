package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

// Limits of the lists below.
const (
	// mostVotes is how many votes ProvenPolls reads to find those that a person made.
	mostVotes = 5000
	// mostAcquainted is how many creators SessionsNaming asks for, fifteen by one query.
	mostAcquainted, creatorsOfQuery = 150, 15
)

var (
	pollsJoined = newestFirst("createdAt",
		store.Select("polls that a person joined over the API, newest first", "schedulers", "", store.Where("joinedIds", store.ArrayContains)))
	pollsOfGroupsNaming = newestFirst("createdAt",
		store.Select("polls of groups that name a person, newest first", "schedulers", "",
			store.Where("participantIds", store.ArrayContains), store.Where("questingGroupId", store.In)))
	votesOfPerson = newestFirst("updatedAt",
		everywhere(store.Select("votes of a person, newest first", "votes", "", store.Where("voterId", store.Equal))))
	sessionsNaming = newestFirst("createdAt",
		store.Select("sessions of creators that name a person, newest first", "schedulers", "",
			store.Where("participantIds", store.ArrayContains), store.Where("status", store.In), store.Where("creatorId", store.In)))
)

// ProvenPolls lists polls of every status that a person may have consented to, found by what only
// the person does, so that polls that only name the person do not displace them: the newest that
// they created and joined, and that they voted in last. It lists at most limit of each, each
// once, and brief. GroupPolls lists those that their groups prove.
func ProvenPolls(ctx context.Context, reader store.Reader, userID string, limit int) ([]Poll, error) {
	var found []Poll
	for _, query := range []store.Bound{pollsOfCreator.With(userID), pollsJoined.With(userID)} {
		some, err := briefs(ctx, reader, userID, query.First(limit))
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	votedIn, err := pollsOfVotes(ctx, reader, userID, limit)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	return slices.DeleteFunc(append(found, votedIn...), func(p Poll) bool {
		twice := known[p.ID]
		known[p.ID] = true
		return twice
	}), nil
}

// pollsOfVotes reads the polls that a person voted in last. Other clients can write the person's
// id into votes of embedded polls, which are passed over.
func pollsOfVotes(ctx context.Context, reader store.Reader, userID string, limit int) (polls []Poll, err error) {
	var paths []store.Path
	path := func(doc store.Document) store.Path { return doc.Path }
	for vote, err := range store.All(ctx, reader, votesOfPerson.With(userID).First(mostVotes), path) {
		if err != nil {
			return nil, err
		}
		if voted := vote.Parent(); vote == VotePath(voted.ID(), userID) {
			paths = append(paths, voted)
		}
		if len(paths) == limit {
			break
		}
	}
	decode := brief(userID)
	err = inParts(ctx, reader, paths, func(doc store.Document) {
		if doc.Exists() {
			polls = append(polls, decode(doc))
		}
	})
	return polls, err
}

// SessionsNaming lists the sessions (as Sessions does) of the first 150 of creators, newest
// first by parts of fifteen creators, until there are limit.
func SessionsNaming(ctx context.Context, reader store.Reader, userID string, creators []string, limit int) (sessions []Poll, err error) {
	for part := range slices.Chunk(creators[:min(len(creators), mostAcquainted)], creatorsOfQuery) {
		if len(sessions) >= limit {
			break
		}
		ids := make([]any, len(part))
		for i, id := range part {
			ids[i] = id
		}
		asked := sessionsNaming.With(userID, sessionStatuses, ids).First(limit - len(sessions))
		polls, err := briefs(ctx, reader, userID, asked)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, polls...)
	}
	return sessions, nil
}
