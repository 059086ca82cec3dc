package calendarsync

import (
	"context"

	"questscheduler/store"
)

// ByExpiration lists all watch channels, those that end first before the others,
// at most limit behind after (nil: from the first). next is where to go on; nil
// at the end.
func ByExpiration(ctx context.Context, reader store.Reader, limit int, after *store.Cursor) (watches []Watch, next *store.Cursor, err error) {
	docs, err := reader.Query(ctx, watchesByExpiration.With().First(limit).From(after))
	if err != nil {
		return nil, nil, err
	}
	watches = decodeWatches(docs)
	if limit > 0 && len(docs) == limit {
		next = watchesByExpiration.CursorAt(docs[limit-1])
	}
	return watches, next, nil
}

// ByStatus lists the watch channels of some statuses, those that end first before
// the others, at most limit.
func ByStatus(ctx context.Context, reader store.Reader, limit int, statuses ...Status) ([]Watch, error) {
	names := make([]string, len(statuses))
	for i, status := range statuses {
		names[i] = string(status)
	}
	docs, err := reader.Query(ctx, watchesByStatus.With(names).First(limit))
	return decodeWatches(docs), err
}

func decodeWatches(docs []store.Document) []Watch {
	watches := make([]Watch, len(docs))
	for i, doc := range docs {
		watches[i] = decodeWatch(doc)
	}
	return watches
}
