package mappings

import (
	"context"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
)

// Release gives the cleanup of what follows calendars for second addresses that are switched
// off: at most limit interests in calendars and delegated accounts each. Their watch channels
// are stopped with the next renewal, or with the account. What was loaded stays, and the first
// Refresh after they are switched on again follows everything again.
func Release(linked *accounts.Repository) func(
	ctx context.Context, documents store.Store, now time.Time, limit int,
) (released int, more bool, err error) {
	return func(ctx context.Context, documents store.Store, now time.Time, limit int) (released int, more bool, err error) {
		found, err := SomeFollowed(ctx, documents, limit, calendars.Decode)
		if err != nil {
			return 0, false, err
		}
		delegated, err := accounts.SomeDelegated(ctx, documents, limit)
		if err != nil || len(found)+len(delegated) == 0 {
			return 0, false, err
		}
		if err := markReleased(ctx, documents); err != nil {
			return 0, false, err
		}
		for _, calendar := range found {
			if err := releaseOne(ctx, documents, calendar.Key, now); err != nil {
				return released, false, err
			}
			released++
		}
		for _, account := range delegated {
			if err := linked.Undelegate(ctx, account.Email); err != nil {
				return released, false, err
			}
			released++
		}
		return released, len(found) == limit || len(delegated) == limit, nil
	}
}

// markReleased keeps in the state that every address has to be followed again, before the
// first one is not.
func markReleased(ctx context.Context, documents store.Store) error {
	return documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, err := LoadRecord(ctx, tx)
		if err != nil || now.Version == "" || now.Released {
			return err
		}
		return tx.Update(RecordPath(), store.Set("released", true))
	})
}

func releaseOne(ctx context.Context, documents store.Store, key string, now time.Time) error {
	return documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		calendar, ok, err := calendars.LoadKey(ctx, tx, key)
		if err != nil || !ok || !followed(calendar) {
			return err
		}
		return tx.Update(calendars.Path(key), calendar.Want(Consumer, 0, calendars.Request{At: now}, calendar.OwnerID)...)
	})
}
