package accounts

import (
	"context"

	"questscheduler/store"
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
)

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{ofOwner, ofIdentity, due, unlinkedBefore, userSecrets, accountSecrets, statesBefore}

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
