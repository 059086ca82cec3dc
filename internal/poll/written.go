package poll

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// writtenSince are the queries that find what somebody wrote of polls since a
// time, oldest first: polls that were made, polls that were edited, and votes. The
// web app gives each of them its time.
var writtenSince = []*store.Query{
	sinceQuery("polls by the time they were made", "schedulers", "createdAt", false),
	sinceQuery("polls by the time of their last edit", "schedulers", "updatedAt", false),
	votesSince,
}

var votesSince = sinceQuery("votes by the time they were given", "votes", "updatedAt", true)

func sinceQuery(name, collection, field string, group bool) *store.Query {
	return &store.Query{
		Name: name, Collection: collection, Group: group,
		Filters: []store.Filter{{Path: store.Field(field), Op: store.GreaterOrEqual}},
		Order:   []store.Order{{Path: store.Field(field)}},
	}
}

// WrittenKinds is how many kinds of writes Written tells apart.
var WrittenKinds = len(writtenSince)

// Written lists the polls that somebody wrote since a time, or voted in, each
// once a page: those of one kind of writes, from 0 to WrittenKinds-1, at most limit
// behind after. next is where to go on; nil at the end. What was deleted is not
// found.
func Written(ctx context.Context, reader store.Reader, kind int, since time.Time, limit int, after *store.Cursor) (pollIDs []string, next *store.Cursor, err error) {
	query := writtenSince[kind]
	docs, err := reader.Query(ctx, query.With(since).First(limit).From(after))
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		path := doc.Path
		if query.Group {
			path = path.Parent() // embedded polls have votes of their own, below other documents
		}
		if path == Path(path.ID()) && !slices.Contains(pollIDs, path.ID()) {
			pollIDs = append(pollIDs, path.ID())
		}
	}
	if len(docs) == limit {
		next = query.CursorAt(docs[limit-1])
	}
	return pollIDs, next, nil
}

// GivenVote is a vote that VotesBetween found.
type GivenVote struct {
	PollID, UserID string
	At             time.Time // its updatedAt
}

// VotesBetween lists the votes of all polls by their updatedAt, from since to
// until, oldest first, at most limit behind after. next is where to go on; nil at
// the end. A vote that was deleted, or written without a new updatedAt, is not
// found.
func VotesBetween(ctx context.Context, reader store.Reader, since, until time.Time, limit int, after *store.Cursor) (votes []GivenVote, next *store.Cursor, err error) {
	docs, err := reader.Query(ctx, votesSince.With(since).First(limit).From(after))
	if err != nil {
		return nil, nil, err
	}
	if len(docs) == limit {
		next = votesSince.CursorAt(docs[limit-1])
	}
	for _, doc := range docs {
		vote := GivenVote{PollID: doc.Path.Parent().ID(), UserID: doc.Path.ID(), At: store.Fields(doc.Data).Time("updatedAt")}
		if vote.At.After(until) {
			return votes, nil, nil
		}
		if doc.Path == VotePath(vote.PollID, vote.UserID) { // not of an embedded poll
			votes = append(votes, vote)
		}
	}
	return votes, next, nil
}
