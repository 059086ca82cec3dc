package poll

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// writtenSince find what somebody wrote since a time, oldest first: polls that were made,
// polls that were edited, and votes, by the times that the web app writes.
var writtenSince = []*store.Query{
	store.Select("polls by the time they were made", "schedulers", "createdAt", store.Where("createdAt", store.GreaterOrEqual)),
	store.Select("polls by the time of their last edit", "schedulers", "updatedAt", store.Where("updatedAt", store.GreaterOrEqual)),
	everywhere(store.Select("votes by the time they were given", "votes", "updatedAt", store.Where("updatedAt", store.GreaterOrEqual))),
}

// WrittenKinds is the number of kinds of writes that Written distinguishes.
var WrittenKinds = len(writtenSince)

// Written lists the polls that somebody wrote since a time, or voted in, each once a page: one
// kind of writes, from 0 to WrittenKinds-1, by pages of writes. next is where to go
// on; nil at the end. Deletions are not found.
func Written(
	ctx context.Context, reader store.Reader, kind int, since time.Time, part store.Paging,
) (pollIDs []string, next *store.Cursor, err error) {
	asked := writtenSince[kind].With(since).Paged(part)
	docs, err := reader.Query(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		path := doc.Path
		if asked.Query.Group {
			path = path.Parent() // embedded polls have votes of their own, below other documents
		}
		if path == Path(path.ID()) && !slices.Contains(pollIDs, path.ID()) {
			pollIDs = append(pollIDs, path.ID())
		}
	}
	return pollIDs, behind(asked, docs), nil
}
