package accounts

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// Keep is how long an unlinked account stays on record. Linked again within it, it is the
// same account and its polls are followed again.
const Keep = 30 * 24 * time.Hour

// Unlink ends a person's account: it becomes Due, and from then on only Grants.Leaving
// and Grants.Revoke use it. An unlinked account stays as it is. NotFound for another
// person's.
func (r *Repository) Unlink(ctx context.Context, ownerID, id string) (Account, error) {
	if ownerID == "" {
		return Account{}, errNotFound()
	}
	return r.unlink(ctx, ownerID, id)
}

// unlink is Unlink, also for an account without an owner.
func (r *Repository) unlink(ctx context.Context, ownerID, id string) (Account, error) {
	var account Account
	now := r.now()
	err := r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var err error
		account, err = Load(ctx, tx, id)
		if err != nil {
			return err
		}
		if account.OwnerID != ownerID {
			return errNotFound()
		}
		if account.Status == Unlinked {
			return nil
		}
		if err := markToken(ctx, tx, account, now); err != nil {
			return err
		}
		account.Status, account.Due, account.UnlinkedAt, account.UpdatedAt = Unlinked, now, now, now
		return tx.Update(Path(id), append(changed(now), store.Set("status", string(Unlinked)),
			store.Set("unlinkedAt", now), store.Set("updatedAt", now))...)
	})
	if err != nil {
		return Account{}, err
	}
	return account, nil
}

// changed are the updates by which a change of an account is carried on from a time; zero: it
// was. Earlier failures are those of an earlier change.
func changed(due time.Time) []store.Update {
	return []store.Update{
		store.Set("due", store.NullIfZero(due)), store.Set("attempts", 0), store.Set("failedSince", nil), store.Set("error", nil),
	}
}

// Settled records that an account's change was carried to its calendars. done is false if
// the account changed again: it stays Due.
func (r *Repository) Settled(ctx context.Context, account Account) (done bool, err error) {
	err = r.update(ctx, account.ID, func(now Account) []store.Update {
		done = now.SameAs(account)
		if !done || now.Due.IsZero() {
			return nil
		}
		return changed(time.Time{})
	})
	return done && err == nil, err
}

// RemoveUnlinked removes at most limit accounts that were unlinked longer than Keep ago,
// with their secrets, and returns how many.
func RemoveUnlinked(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, err error) {
	long := unlinkedBefore.With(string(Unlinked), now.Add(-Keep)).First(limit)
	return store.DeletePage(ctx, documents, long, func(path store.Path) store.Path { return secretPath(path.ID()) })
}
