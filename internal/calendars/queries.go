package calendars

import (
	"context"
	"iter"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// SyncsDue selects the calendars that a sync is due for at a time, longest first.
var SyncsDue = store.Select("calendars with a sync that is due", "calendars", "syncAt", store.Where("syncAt", store.LessOrEqual))

var (
	leased = store.Select("calendars with a lease", "calendars", "leaseUntil",
		store.Where("leaseUntil", store.Greater))
	// inOrder has the order of paths, which does not change while a caller pages through
	// it.
	inOrder   = store.Select("calendars", "calendars", "")
	ofOwner   = store.Select("calendars of a person", "calendars", "", store.Where("ownerId", store.Equal))
	ofAccount = store.Select("calendars of a linked account", "calendars", "", store.Where("accountId", store.Equal))
	failing   = store.Select("calendars failing for some reasons, longest first", "calendars", "failedSince",
		store.Where("lastError", store.In), store.Where("failedSince", store.LessOrEqual))
	failingLately = &store.Query{
		Name: "calendars failing for some reasons, latest first", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("lastError"), Op: store.In}, {Path: store.Field("failedSince"), Op: store.LessOrEqual}},
		Order:   []store.Order{{Path: store.Field("failedSince"), Descending: true}},
	}
	paused = store.Select("paused calendars", "calendars", "pausedUntil",
		store.Where("pausedUntil", store.Greater))
)

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{SyncsDue, SweepsDue, leased, inOrder, ofOwner, ofAccount, failing, failingLately, paused}

// Failing lists calendars that fail for one of 1 to 30 reasons, longest first, at most
// limit after a cursor. Some may no longer be Wanted.
func Failing(
	ctx context.Context, reader store.Reader, now time.Time, reasons []string, part store.Paging,
) ([]Calendar, *store.Cursor, error) {
	return store.Page(ctx, reader, failing.With(reasons, now).Paged(part), Decode)
}

// FailingLately is Failing, latest first.
func FailingLately(
	ctx context.Context, reader store.Reader, now time.Time, reasons []string, part store.Paging,
) ([]Calendar, *store.Cursor, error) {
	return store.Page(ctx, reader, failingLately.With(reasons, now).Paged(part), Decode)
}

// Paused lists calendars paused beyond now, at most limit after a cursor. Some may no
// longer be Wanted.
func Paused(ctx context.Context, reader store.Reader, now time.Time, part store.Paging) ([]Calendar, *store.Cursor, error) {
	return store.Page(ctx, reader, paused.With(now).Paged(part), Decode)
}

// LoadKeys reads calendars by key, in their order; a missing one has only its key.
func LoadKeys(ctx context.Context, reader store.Reader, keys []string) ([]Calendar, error) {
	paths := make([]store.Path, len(keys))
	for i, key := range keys {
		paths[i] = Path(key)
	}
	docs, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	calendars := make([]Calendar, len(docs))
	for i, doc := range docs {
		calendars[i] = Decode(doc)
	}
	return calendars, nil
}

// Leased lists calendars whose lease runs beyond now.
func Leased(ctx context.Context, reader store.Reader, now time.Time) ([]Calendar, error) {
	calendars, _, err := store.Page(ctx, reader, leased.With(now), Decode)
	return calendars, err
}

// Followed lists those of at most limit calendars (0: all) after a cursor that anything
// follows, by key.
func Followed(ctx context.Context, reader store.Reader, part store.Paging) ([]Calendar, *store.Cursor, error) {
	found, next, err := store.Page(ctx, reader, inOrder.With().Paged(part), Decode)
	return slices.DeleteFunc(found, func(c Calendar) bool { return !c.Wanted() }), next, err
}

// All lists all calendars by key, at most limit after a key ("" starts at the beginning).
// next continues; "" at the end.
func All(ctx context.Context, reader store.Reader, limit int, afterKey string) (calendars []Calendar, next string, err error) {
	var after *store.Cursor
	if afterKey != "" {
		after = &store.Cursor{Path: Path(afterKey)}
	}
	calendars, further, err := store.Page(ctx, reader, inOrder.With().First(limit).From(after), Decode)
	if further != nil {
		next = further.Path.ID()
	}
	return calendars, next, err
}

// OfOwner lists the calendars of a person's accounts. Those of accounts without an owner are
// nobody's: none for "".
func OfOwner(ctx context.Context, reader store.Reader, ownerID string) ([]Calendar, error) {
	if ownerID == "" {
		return nil, nil
	}
	calendars, _, err := store.Page(ctx, reader, ofOwner.With(ownerID), Decode)
	return calendars, err
}

// OfAccount yields the calendars of a linked account.
func OfAccount(ctx context.Context, reader store.Reader, accountID string) iter.Seq2[Calendar, error] {
	return store.All(ctx, reader, ofAccount.With(accountID), Decode)
}
