package accounts

import (
	"context"
	"iter"
	"slices"
	"time"

	"questscheduler/internal/store"
)

var (
	ofOwner = store.Select("linked accounts of a person, first linked first", "accounts", "createdAt",
		store.Where("ownerId", store.Equal))
	ofPeople = store.Select("linked accounts of people, first linked first", "accounts", "createdAt",
		store.Where("ownerId", store.In))
	ofIdentity = store.Select("linked accounts of an identity, first linked first", "accounts", "createdAt",
		store.Where("provider", store.Equal), store.Where("sub", store.Equal))
	ofEmail = store.Select("linked accounts of an e-mail address by status, first linked first", "accounts", "createdAt",
		store.Where("email", store.Equal), store.Where("status", store.Equal))
	due = store.Select("linked accounts with a change to carry to their calendars", "accounts", "due",
		store.Where("due", store.LessOrEqual))
	unlinkedBefore = store.Select("unlinked accounts by when they were unlinked", "accounts", "unlinkedAt",
		store.Where("status", store.Equal), store.Where("unlinkedAt", store.Less))
	untouched = store.Select("linked accounts by when their grant was last checked", "accounts", "checkedAt",
		store.Where("status", store.Equal), store.Where("checkedAt", store.Less))
	userSecrets    = store.Select("tokens of the web app's own functions", "userSecrets", "")
	accountSecrets = store.Select("sealed tokens", "accountSecrets", "")
	statesBefore   = store.Select("OAuth states by their age", stateCollection, "createdAt",
		store.Where("createdAt", store.Less))
	refused = store.Select("accounts of a kind and status by when their grant was last checked", "accounts", "checkedAt",
		store.Where("kind", store.Equal), store.Where("status", store.Equal))
	byStatus   = store.Select("linked accounts by status", "accounts", "", store.Where("status", store.Equal))
	everybodys = store.Select("linked accounts, first linked first", "accounts", "createdAt")
)

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{
	ofOwner, ofPeople, ofIdentity, ofEmail, due, unlinkedBefore, untouched, userSecrets, accountSecrets, statesBefore,
	refused, byStatus, everybodys,
}

// OfOwner lists a person's accounts, revoked and unlinked ones included, oldest link
// first. Accounts without an owner are in nobody's list: none for "".
func OfOwner(ctx context.Context, reader store.Reader, ownerID string) ([]Account, error) {
	if ownerID == "" {
		return nil, nil
	}
	return list(ctx, reader, ofOwner.With(ownerID))
}

// SomeDelegated lists at most limit accounts of KindServiceAccount that are not unlinked.
func SomeDelegated(ctx context.Context, reader store.Reader, limit int) (some []Account, err error) {
	for account, err := range store.All(ctx, reader, ofOwner.With(""), Decode) {
		if err != nil {
			return nil, err
		}
		if account.Kind == KindServiceAccount && account.Status != Unlinked {
			some = append(some, account)
			if len(some) == limit {
				break
			}
		}
	}
	return some, nil
}

// RefusedDelegated lists at most limit accounts of KindServiceAccount that Google refused, those
// first that were tried longest ago: Delegate makes one the last of them.
func RefusedDelegated(ctx context.Context, reader store.Reader, limit int) ([]Account, error) {
	return list(ctx, reader, refused.With(KindServiceAccount, string(Revoked)).First(limit))
}

// Due yields the documents of the accounts that are Due at a time, those due longest first.
func Due(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error] {
	return store.All(ctx, reader, due.With(now), asItIs)
}

func asItIs(doc store.Document) store.Document { return doc }

// OfPeople is OfOwner for several people, by one query for each 30.
func OfPeople(ctx context.Context, reader store.Reader, ownerIDs []string) (all []Account, err error) {
	people := slices.DeleteFunc(slices.Clone(ownerIDs), func(id string) bool { return id == "" })
	for some := range slices.Chunk(people, 30) { // as many as an In filter takes
		found, err := list(ctx, reader, ofPeople.With(some))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// maybeOf lists the accounts of a status that may be of an identity, judging by the e-mail address,
// since theirs or its own Sub is unknown. One of KindServiceAccount has no grant to share.
func maybeOf(ctx context.Context, tx store.Tx, who Identity, statuses ...Status) (all []Account, err error) {
	if who.Email == "" {
		return nil, nil
	}
	for _, status := range statuses {
		some, err := list(ctx, tx, ofEmail.With(normalAddress(who.Email), string(status)))
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(some, func(a Account) bool {
			return a.Provider != who.Provider || a.Kind == KindServiceAccount || a.Sub != "" && who.Sub != ""
		})...)
	}
	return all, nil
}

// WithStatus lists at most limit accounts that have a status.
func WithStatus(ctx context.Context, reader store.Reader, status Status, limit int) ([]Account, error) {
	return list(ctx, reader, byStatus.With(string(status)).First(limit))
}

// SomeRevoked lists at most limit revoked accounts by id, behind an id ("": from the first). next
// continues; "" at the end.
func SomeRevoked(ctx context.Context, reader store.Reader, limit int, afterID string) (some []Account, next string, err error) {
	var after *store.Cursor
	if afterID != "" {
		after = &store.Cursor{Path: Path(afterID)}
	}
	some, further, err := store.Page(ctx, reader, byStatus.With(string(Revoked)).First(limit).From(after), Decode)
	if further != nil {
		next = further.Path.ID()
	}
	return some, next, err
}

// All lists all accounts, oldest link first, at most limit after a cursor. next
// continues; nil at the end.
func All(ctx context.Context, reader store.Reader, limit int, after *store.Cursor) (accounts []Account, next *store.Cursor, err error) {
	return store.Page(ctx, reader, everybodys.With().First(limit).From(after), Decode)
}

func list(ctx context.Context, reader store.Reader, query store.Bound) ([]Account, error) {
	docs, err := reader.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	accounts := make([]Account, 0, len(docs))
	for _, doc := range docs {
		accounts = append(accounts, Decode(doc))
	}
	return accounts, nil
}
