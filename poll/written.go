package poll

import (
	"context"
	"slices"
	"time"

	"questscheduler/store"
)

// writtenSince are the queries that find what somebody wrote of polls since a
// time, oldest first: polls that were made, polls that were edited, and votes. The
// web app gives each of them its time.
var writtenSince = []*store.Query{
	sinceQuery("polls by the time they were made", "schedulers", "createdAt", false),
	sinceQuery("polls by the time of their last edit", "schedulers", "updatedAt", false),
	sinceQuery("votes by the time they were given", "votes", "updatedAt", true),
}

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
