package accounts

import (
	"context"

	"questscheduler/internal/store"
)

var (
	ofOwner = &store.Query{
		Name: "linked accounts of a person, first linked first", Collection: "accounts",
		Filters: []store.Filter{{Path: store.Field("ownerId"), Op: store.Equal}},
		Order:   []store.Order{{Path: store.Field("createdAt")}},
	}
	ofIdentity = &store.Query{
		Name: "linked accounts of an identity, first linked first", Collection: "accounts",
		Filters: []store.Filter{{Path: store.Field("provider"), Op: store.Equal}, {Path: store.Field("sub"), Op: store.Equal}},
		Order:   []store.Order{{Path: store.Field("createdAt")}},
	}
	due = &store.Query{
		Name: "linked accounts whose calendars do not know yet what became of them", Collection: "accounts",
		Filters: []store.Filter{{Path: store.Field("due"), Op: store.Equal}},
	}
	unlinkedBefore = &store.Query{
		Name: "unlinked accounts by when they were unlinked", Collection: "accounts",
		Filters: []store.Filter{{Path: store.Field("status"), Op: store.Equal}, {Path: store.Field("unlinkedAt"), Op: store.Less}},
		Order:   []store.Order{{Path: store.Field("unlinkedAt")}},
	}
	untouched = &store.Query{
		Name: "linked accounts by when they were found live", Collection: "accounts",
		Filters: []store.Filter{{Path: store.Field("status"), Op: store.Equal}, {Path: store.Field("checkedAt"), Op: store.Less}},
		Order:   []store.Order{{Path: store.Field("checkedAt")}},
	}
	userSecrets = &store.Query{
		Name: "tokens of the web app's own functions", Collection: "userSecrets",
	}
	accountSecrets = &store.Query{
		Name: "sealed tokens", Collection: "accountSecrets",
	}
	statesBefore = &store.Query{
		Name: "OAuth states by their age", Collection: stateCollection,
		Filters: []store.Filter{{Path: store.Field("createdAt"), Op: store.Less}},
		Order:   []store.Order{{Path: store.Field("createdAt")}},
	}
	byStatus = &store.Query{
		Name: "linked accounts by status", Collection: "accounts",
		Filters: []store.Filter{{Path: store.Field("status"), Op: store.Equal}},
	}
	everybodys = &store.Query{
		Name: "linked accounts, first linked first", Collection: "accounts",
		Order: []store.Order{{Path: store.Field("createdAt")}},
	}
)

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{ofOwner, ofIdentity, due, unlinkedBefore, untouched, userSecrets, accountSecrets, statesBefore, byStatus, everybodys}

// OfOwner lists a person's accounts, revoked and unlinked ones included, oldest link
// first.
func OfOwner(ctx context.Context, reader store.Reader, ownerID string) ([]Account, error) {
	return list(ctx, reader, ofOwner.With(ownerID))
}

// WithStatus lists at most limit accounts that have a status.
func WithStatus(ctx context.Context, reader store.Reader, status Status, limit int) ([]Account, error) {
	return list(ctx, reader, byStatus.With(string(status)).First(limit))
}

// All lists all accounts, oldest link first, at most limit after a cursor. next
// continues; nil at the end.
func All(ctx context.Context, reader store.Reader, limit int, after *store.Cursor) (accounts []Account, next *store.Cursor, err error) {
	query := everybodys.With().First(limit).From(after)
	docs, err := reader.Query(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		accounts = append(accounts, decode(doc))
	}
	if limit > 0 && len(docs) == limit {
		next = everybodys.CursorAt(docs[limit-1])
	}
	return accounts, next, nil
}

func list(ctx context.Context, reader store.Reader, query store.Bound) ([]Account, error) {
	docs, err := reader.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	accounts := make([]Account, 0, len(docs))
	for _, doc := range docs {
		accounts = append(accounts, decode(doc))
	}
	return accounts, nil
}
