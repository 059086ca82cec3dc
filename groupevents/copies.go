package groupevents

import (
	"context"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// copiesPage is how many mirrors one transaction releases or deletes.
const copiesPage = 100

var mirrorsInAccount = store.Select("mirrors of a group in an account", "mirrors", "",
	store.Where("groupId", store.Equal), store.Where("targetAccountId", store.Equal))

// eachCopy writes a page of a group's mirrors in an account, and reports whether more are left.
// Mirrors whose events are being deleted already are left alone.
func eachCopy(ctx context.Context, tx store.Tx, groupID, accountID string, write func(store.Tx, mirror.Mirror) error) (more bool, err error) {
	all, _, err := store.Page(ctx, tx, mirrorsInAccount.With(groupID, accountID), mirror.Decode)
	if err != nil {
		return false, err
	}
	written := 0
	for _, m := range all {
		if m.State == mirror.Deleting {
			continue
		}
		if written == copiesPage {
			return true, nil
		}
		if err := write(tx, m); err != nil {
			return false, err
		}
		written++
	}
	return false, nil
}

// release forgets a mirror, and records that its event stays.
func release(tx store.Tx, m mirror.Mirror) error {
	if m.EventID != "" {
		kept := mirror.Kept{MirrorID: m.ID, AccountID: m.TargetAccountID, Ends: m.Ends}
		if err := tx.Set(mirror.KeptPath(m.ID), mirror.EncodeKept(kept)); err != nil {
			return err
		}
	}
	return tx.Delete(mirror.Path(m.ID))
}

// deleteCopies has the events of a group deleted from an account that was disconnected, those
// that ended included. It does nothing where the account was connected again.
func (s *Service) deleteCopies(ctx context.Context, groupID, accountID string) error {
	now := s.Now()
	doomed := func(tx store.Tx, m mirror.Mirror) error {
		return tx.Update(mirror.Path(m.ID), store.Set("state", string(mirror.Deleting)), store.Set("due", now),
			store.Set("attempts", 0), store.Set("updatedAt", now))
	}
	for more := true; more; {
		err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			again, err := tx.Get(ctx, mirror.ConnectionPath(groupID, accountID))
			if more = false; err != nil || again.Exists() {
				return err
			}
			more, err = eachCopy(ctx, tx, groupID, accountID, doomed)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
