package calendars

import (
	"context"
	"iter"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

var (
	lookDue = &store.Query{
		Name: "calendars that a look is owed to", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("lookDue"), Op: store.Equal}},
	}
	leased = &store.Query{
		Name: "calendars with a lease", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("leaseUntil"), Op: store.Greater}},
		Order:   []store.Order{{Path: store.Field("leaseUntil")}},
	}
	followed = &store.Query{
		Name: "calendars that polls follow", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("interests", poll.ConsumerPoll), Op: store.Greater}},
		Order:   []store.Order{{Path: store.Field("interests", poll.ConsumerPoll)}},
	}
	// inOrder has no order of its own: that of the paths does not change while
	// somebody goes through it.
	inOrder = &store.Query{Name: "calendars", Collection: "calendars"}
	ofOwner = &store.Query{
		Name: "calendars of a person", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("ownerId"), Op: store.Equal}},
	}
)

var ofAccount = &store.Query{
	Name: "calendars of a linked account", Collection: "calendars",
	Filters: []store.Filter{{Path: store.Field("accountId"), Op: store.Equal}},
}

var (
	failing = &store.Query{
		Name: "calendars whose looks fail for some reasons, longest first", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("lastError"), Op: store.In}, {Path: store.Field("failedSince"), Op: store.LessOrEqual}},
		Order:   []store.Order{{Path: store.Field("failedSince")}},
	}
	failingLately = &store.Query{
		Name: "calendars whose looks fail for some reasons, latest first", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("lastError"), Op: store.In}, {Path: store.Field("failedSince"), Op: store.LessOrEqual}},
		Order:   []store.Order{{Path: store.Field("failedSince"), Descending: true}},
	}
	parked = &store.Query{
		Name: "calendars that are left alone", Collection: "calendars",
		Filters: []store.Filter{{Path: store.Field("parkedUntil"), Op: store.Greater}},
		Order:   []store.Order{{Path: store.Field("parkedUntil")}},
	}
)

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{lookDue, leased, followed, inOrder, ofOwner, ofAccount, failing, failingLately, parked}

// Failing lists calendars whose looks fail by now for one of some reasons (1 to
// 30 of them), longest first, at most limit behind after. Some may be followed by
// nothing any more (Wanted).
func Failing(ctx context.Context, reader store.Reader, now time.Time, reasons []string, limit int, after *store.Cursor) ([]Calendar, *store.Cursor, error) {
	return store.Page(ctx, reader, failing.With(reasons, now).First(limit).From(after), Decode)
}

// FailingLately is Failing in the other order: those first that began to fail
// last.
func FailingLately(ctx context.Context, reader store.Reader, now time.Time, reasons []string, limit int, after *store.Cursor) ([]Calendar, *store.Cursor, error) {
	return store.Page(ctx, reader, failingLately.With(reasons, now).First(limit).From(after), Decode)
}

// Parked lists calendars that are left alone beyond now, since Google asked for
// it, at most limit behind after. Some may be followed by nothing any more
// (Wanted).
func Parked(ctx context.Context, reader store.Reader, now time.Time, limit int, after *store.Cursor) ([]Calendar, *store.Cursor, error) {
	return store.Page(ctx, reader, parked.With(now).First(limit).From(after), Decode)
}

// LoadKeys reads the calendars of some keys, in their order; those that are not
// there have a key alone.
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

// Due yields calendars that a look is owed to.
func Due(ctx context.Context, reader store.Reader) iter.Seq2[Calendar, error] {
	return store.All(ctx, reader, lookDue.With(true), Decode)
}

// Leased lists calendars with a lease that runs beyond now.
func Leased(ctx context.Context, reader store.Reader, now time.Time) ([]Calendar, error) {
	calendars, _, err := store.Page(ctx, reader, leased.With(now), Decode)
	return calendars, err
}

// Followed lists calendars that polls follow, at most limit behind after.
func Followed(ctx context.Context, reader store.Reader, limit int, after *store.Cursor) ([]Calendar, *store.Cursor, error) {
	return store.Page(ctx, reader, followed.With(0).First(limit).From(after), Decode)
}

// All lists every calendar there is, followed or not, in the order of their
// keys: at most limit behind that of a key ("": from the beginning). next is the
// key to go on behind; "" at the end.
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

// OfOwner lists the calendars of a person's accounts.
func OfOwner(ctx context.Context, reader store.Reader, ownerID string) ([]Calendar, error) {
	calendars, _, err := store.Page(ctx, reader, ofOwner.With(ownerID), Decode)
	return calendars, err
}

// OfAccount yields the calendars of a linked account.
func OfAccount(ctx context.Context, reader store.Reader, accountID string) iter.Seq2[Calendar, error] {
	return store.All(ctx, reader, ofAccount.With(accountID), Decode)
}
