package mappings

import (
	"context"
	"iter"

	"questscheduler/internal/store"
)

// Consumer is the consumer of changes of the calendars that are followed for second addresses.
const Consumer = "attendees"

var calendarsOfOurs = &store.Query{
	Name: "calendars followed for attendees", Collection: "calendars",
	Filters: []store.Filter{{Path: store.Field("interests", Consumer), Op: store.Greater}},
	Order:   []store.Order{{Path: store.Field("interests", Consumer)}},
}

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{calendarsOfOurs}

// SomeFollowed lists what decode makes of at most limit documents of CalendarsFollowed.
func SomeFollowed[T any](ctx context.Context, reader store.Reader, limit int, decode func(store.Document) T) ([]T, error) {
	found, _, err := store.Page(ctx, reader, calendarsOfOurs.With(int64(0)).First(limit), decode)
	return found, err
}

// CalendarsFollowed yields what decode makes of the documents of the calendars in which
// Consumer has an interest.
func CalendarsFollowed[T any](ctx context.Context, reader store.Reader, decode func(store.Document) T) iter.Seq2[T, error] {
	return store.All(ctx, reader, calendarsOfOurs.With(int64(0)), decode)
}
