package calendarsync

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// WalkByExpiration passes all watch channels to take, those ending first before the
// others, at most limit after a cursor (nil starts at the first), as store.Walk does.
func WalkByExpiration(
	ctx context.Context, reader store.Reader, part store.Paging, take func(Watch) (taken bool, err error),
) (next *store.Cursor, err error) {
	asked := watchesByExpiration.With().Paged(part)
	return store.Walk(ctx, reader, asked, decodeWatch, take)
}

// ByStatus lists at most limit (0: all) watch channels of some statuses, those ending
// first before the others.
func ByStatus(ctx context.Context, reader store.Reader, limit int, statuses ...Status) ([]Watch, error) {
	names := make([]string, len(statuses))
	for i, status := range statuses {
		names[i] = string(status)
	}
	docs, err := reader.Query(ctx, watchesByStatus.With(names).First(limit))
	return decodeWatches(docs), err
}

// EndingBefore lists active channels that end before a time, soonest first, at most limit
// after a cursor.
func EndingBefore(ctx context.Context, reader store.Reader, before time.Time, part store.Paging) ([]Watch, *store.Cursor, error) {
	return store.Page(ctx, reader, watchesEnding.With(string(Active), before).Paged(part), decodeWatch)
}

// Ungranted lists channels that Google did not grant and that must be replaced, next
// first, at most limit after a cursor. It leaves out failed channels that are kept only
// because Google may have opened them: nothing replaces those.
func Ungranted(ctx context.Context, reader store.Reader, part store.Paging) ([]Watch, *store.Cursor, error) {
	return store.Page(ctx, reader, watchesUntried.With(string(Failed), time.Unix(0, 0).UTC()).Paged(part), decodeWatch)
}

// keysAtOnce is how many values one query may have.
const keysAtOnce = 30

// WatchesOf lists the channels of some calendars, by calendar key, in any status.
func WatchesOf(ctx context.Context, reader store.Reader, keys []string) (map[string][]Watch, error) {
	found := map[string][]Watch{}
	for some := range slices.Chunk(keys, keysAtOnce) {
		docs, err := reader.Query(ctx, watchesOfCalendars.With(some))
		if err != nil {
			return nil, err
		}
		for _, watch := range decodeWatches(docs) {
			found[watch.CalendarKey] = append(found[watch.CalendarKey], watch)
		}
	}
	return found, nil
}

func decodeWatches(docs []store.Document) []Watch {
	watches := make([]Watch, len(docs))
	for i, doc := range docs {
		watches[i] = decodeWatch(doc)
	}
	return watches
}
