package groupevents

import (
	"context"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// copiesPage is how many mirrors one transaction releases or deletes.
const copiesPage = 100

var (
	mirrorsInAccount = store.Select("mirrors of a group in an account", "mirrors", "",
		store.Where("groupId", store.Equal), store.Where("targetAccountId", store.Equal))
	keptInAccount = store.Select("kept copies of a group in an account", "keptCopies", "",
		store.Where("groupId", store.Equal), store.Where("targetAccountId", store.Equal))
)

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
func (s *Service) release(tx store.Tx, m mirror.Mirror, cause scheduler.Cause) error {
	if m.EventID != "" {
		if err := tx.Set(mirror.KeptPath(m.ID), mirror.Encode(m)); err != nil {
			return err
		}
	}
	if err := s.journal(tx, mirror.StepEntry(mirror.StepForgotten, m, mirror.Mirror{}, "its account was disconnected and keeps it"), cause); err != nil {
		return err
	}
	return tx.Delete(mirror.Path(m.ID))
}

// doom has the event of a mirror deleted.
func (s *Service) doom(tx store.Tx, m mirror.Mirror, cause scheduler.Cause) error {
	next := m
	next.State, next.Wanted, next.Due, next.UpdatedAt = mirror.Deleting, "", store.Instant(s.Now()), store.Instant(s.Now())
	next.Attempts, next.LastError, next.FailedSince, next.Replacing = 0, "", time.Time{}, false
	if err := s.journal(tx, mirror.StepEntry(mirror.StepPlanned, m, next, "its account was disconnected"), cause); err != nil {
		return err
	}
	return tx.Set(mirror.Path(m.ID), mirror.Encode(next))
}

// journal adds an entry to the journal of a canonical event.
func (s *Service) journal(tx store.Tx, entry mirror.Entry, cause scheduler.Cause) error {
	entry.ID, entry.At, entry.Trigger, entry.Trace = s.NewID("jrn"), store.Instant(s.Now()), cause.Trigger, cause.Trace
	return tx.Create(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry))
}

// deleteCopies has the events of a group deleted from an account that was disconnected, those
// that ended included, and those that an earlier disconnection kept. It does nothing where
// the account was connected again.
func (s *Service) deleteCopies(ctx context.Context, groupID, accountID string, cause scheduler.Cause) error {
	for more := true; more; {
		err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			again, err := tx.Get(ctx, mirror.ConnectionPath(groupID, accountID))
			if more = false; err != nil || again.Exists() {
				return err
			}
			if more, err = s.doomKept(ctx, tx, groupID, accountID, cause); err != nil || more {
				return err
			}
			more, err = eachCopy(ctx, tx, groupID, accountID, func(tx store.Tx, m mirror.Mirror) error { return s.doom(tx, m, cause) })
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// doomKept gives a page of kept copies their mirrors again, to be deleted. One that
// was planned again since keeps the mirror that it got, if that has taken over the event.
// found reports whether there were some.
func (s *Service) doomKept(ctx context.Context, tx store.Tx, groupID, accountID string, cause scheduler.Cause) (found bool, err error) {
	kept, _, err := store.Page(ctx, tx, keptInAccount.With(groupID, accountID).First(copiesPage), mirror.Decode)
	if err != nil || len(kept) == 0 {
		return false, err
	}
	paths := make([]store.Path, len(kept))
	for i, m := range kept {
		paths[i] = mirror.Path(m.ID)
	}
	planned, err := tx.GetAll(ctx, paths)
	if err != nil {
		return false, err
	}
	for i, m := range kept {
		if now := mirror.Decode(planned[i]); now.EventID == "" || now.Generation < m.Generation {
			if err := s.doom(tx, m, cause); err != nil {
				return false, err
			}
		}
		if err := tx.Delete(mirror.KeptPath(m.ID)); err != nil {
			return false, err
		}
	}
	return true, nil
}
