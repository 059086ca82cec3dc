package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

// Limits of the lists below.
const (
	// mostMemberships is how many groups that a person created, and how many that they are a
	// member of, Memberships reads.
	mostMemberships = 50
	// mostAcquainted is how many creators SessionsNaming asks for, fifteen by one query.
	mostAcquainted, creatorsOfQuery = 150, 15
	groupsOfQuery                   = 30
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
	laterPollsNaming = store.Select("polls of a creator that name a person, oldest first", "schedulers", "createdAt",
		store.Where("creatorId", store.Equal), store.Where("participantIds", store.ArrayContains))
	pollsNaming = newestFirst("createdAt",
		store.Select("polls of a creator that name a person, newest first", "schedulers", "",
			store.Where("creatorId", store.Equal), store.Where("participantIds", store.ArrayContains)))
)

// Memberships lists groups that a person created or is a member of, at most 50 of each, each
// once. Groups that only invite the person are not among them.
func Memberships(ctx context.Context, reader store.Reader, userID string) (groups []Group, err error) {
	for _, query := range []*store.Query{groupsOfCreator, groupsOfMember} {
		docs, err := reader.Query(ctx, query.With(userID).First(mostMemberships))
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			if groupAmong(groups, doc.Path.ID()) == nil {
				groups = append(groups, DecodeGroup(doc))
			}
		}
	}
	return groups, nil
}

// ShareGroup reports whether somebody belongs by choice to one of a person's groups (Memberships),
// as far as they were read (Prove).
func ShareGroup(groups []Group, userID string) bool {
	return slices.ContainsFunc(groups, func(group Group) bool { return group.ByChoice(userID) })
}

// ProvenPolls lists polls of every status that a person may have consented to, found by the
// proofs themselves, so that polls that only name the person do not displace them: the newest
// that they created and joined, that they voted in last, and of their groups (Memberships)
// those that name them. It lists at most limit of each, each once, and brief.
func ProvenPolls(ctx context.Context, reader store.Reader, userID string, groups []Group, limit int) ([]Poll, error) {
	asked := []store.Bound{pollsOfCreator.With(userID), pollsJoined.With(userID)}
	for part := range slices.Chunk(groups, groupsOfQuery) {
		ids := make([]any, len(part))
		for i, group := range part {
			ids[i] = group.ID
		}
		asked = append(asked, pollsOfGroupsNaming.With(userID, ids))
	}
	var found []Poll
	for _, query := range asked {
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

// pollsOfVotes reads the polls that a person voted in last.
func pollsOfVotes(ctx context.Context, reader store.Reader, userID string, limit int) (polls []Poll, err error) {
	votes, err := store.Collect(store.All(ctx, reader, votesOfPerson.With(userID).First(limit), func(doc store.Document) store.Path { return doc.Path }))
	if err != nil {
		return nil, err
	}
	var paths []store.Path
	for _, vote := range votes {
		path := vote.Parent()
		if vote == VotePath(path.ID(), userID) { // not of an embedded poll
			paths = append(paths, path)
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

// Unanswered counts how many of a creator's polls in a row, in the order of their creation, name a
// person who has not consented to them, up to most: of those next to where, the creator's poll
// to which the person is being added, on both sides; of the newest if that has no ID yet.
func Unanswered(ctx context.Context, reader store.Reader, where Poll, userID string, most int) (int, error) {
	before := pollsNaming.With(where.CreatorID, userID)
	if where.ID == "" {
		return unansweredOf(ctx, reader, userID, before.First(most))
	}
	at := &store.Cursor{Values: []any{where.CreatedAt}, Path: Path(where.ID)}
	count, err := unansweredOf(ctx, reader, userID, before.From(at).First(most))
	if err != nil || count >= most {
		return count, err
	}
	after, err := unansweredOf(ctx, reader, userID, laterPollsNaming.With(where.CreatorID, userID).From(at).First(most-count))
	return count + after, err
}

// unansweredOf counts the polls of a query until one to which a person consented.
func unansweredOf(ctx context.Context, reader store.Reader, userID string, asked store.Bound) (int, error) {
	polls, _, err := store.Page(ctx, reader, asked, Decode)
	for count, p := range polls {
		group, err := LoadGroup(ctx, reader, p.GroupID)
		if err != nil {
			return 0, err
		}
		consented, err := Consented(ctx, reader, p, group, []string{userID})
		if err != nil || consented[userID] {
			return count, err
		}
	}
	return len(polls), err
}
