package calendarsync

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// WalkByExpiration gives all watch channels to take, those that end first before
// the others, at most limit behind after (nil: from the first), as store.Walk does.
func WalkByExpiration(ctx context.Context, reader store.Reader, limit int, after *store.Cursor, take func(Watch) (taken bool, err error)) (next *store.Cursor, err error) {
	asked := watchesByExpiration.With().First(limit).From(after)
	return store.Walk(ctx, reader, asked, decodeWatch, take)
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

// EndingBefore lists the active channels that end before a time, soonest first,
// at most limit behind after.
func EndingBefore(ctx context.Context, reader store.Reader, before time.Time, limit int, after *store.Cursor) ([]Watch, *store.Cursor, error) {
	return store.Page(ctx, reader, watchesEnding.With(string(Active), before).First(limit).From(after), decodeWatch)
}

// Ungranted lists the channels that Google did not grant and in whose place another
// is yet to be tried, the next one first, at most limit behind after. One that
// failed and is kept only since Google may have opened it all the same is not
// among them: nothing is tried in its place, as another lives, or nothing needs
// one.
func Ungranted(ctx context.Context, reader store.Reader, limit int, after *store.Cursor) ([]Watch, *store.Cursor, error) {
	return store.Page(ctx, reader, watchesUntried.With(string(Failed), time.Unix(0, 0).UTC()).First(limit).From(after), decodeWatch)
}

// keysAtOnce is how many values one query may ask for.
const keysAtOnce = 30

// WatchesOf gives the channels of some calendars, by the calendars' keys,
// whatever became of them.
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
