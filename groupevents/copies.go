package groupevents

import (
	"context"
	"slices"
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
	keptIntoAccount = store.Select("kept copies in an account", "keptCopies", "", store.Where("targetAccountId", store.Equal))
	keptOfGroup     = store.Select("kept copies of a group", "keptCopies", "", store.Where("groupId", store.Equal))
	allKept         = store.Select("kept copies by id", "keptCopies", "")
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

// markForDeletion has the event of a mirror deleted, and returns the mirror to write.
func (s *Service) markForDeletion(tx store.Tx, m mirror.Mirror, cause scheduler.Cause) (next mirror.Mirror, err error) {
	next = m
	next.State, next.Wanted, next.Due, next.UpdatedAt = mirror.Deleting, "", store.Instant(s.Now()), store.Instant(s.Now())
	next.Attempts, next.LastError, next.FailedSince, next.Replacing = 0, "", time.Time{}, false
	if err := s.journal(tx, mirror.StepEntry(mirror.StepPlanned, m, next, "its account was disconnected"), cause); err != nil {
		return next, err
	}
	return next, tx.Set(mirror.Path(m.ID), mirror.Encode(next))
}

// journal adds an entry to the journal of a canonical event.
func (s *Service) journal(tx store.Tx, entry mirror.Entry, cause scheduler.Cause) error {
	entry.ID, entry.At, entry.Trigger, entry.Trace = s.NewID("jrn"), store.Instant(s.Now()), cause.Trigger, cause.Trace
	return tx.Create(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry))
}

// deleteCopies has the events of a group deleted from an account that was disconnected, those
// that ended included, and those that an earlier disconnection kept. write is given the mirrors
// after each commit; what it does not write is left to the drain. It does nothing where the
// account was connected again.
func (s *Service) deleteCopies(ctx context.Context, groupID, accountID string, cause scheduler.Cause, write func([]mirror.Mirror)) error {
	for more := true; more; {
		var marked []mirror.Mirror
		err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			marked = nil
			again, err := tx.Get(ctx, mirror.ConnectionPath(groupID, accountID))
			if more = false; err != nil || again.Exists() {
				return err
			}
			if marked, err = s.markKept(ctx, tx, groupID, accountID, cause); err != nil || len(marked) > 0 {
				more = true
				return err
			}
			more, err = eachCopy(ctx, tx, groupID, accountID, func(tx store.Tx, m mirror.Mirror) error {
				next, err := s.markForDeletion(tx, m, cause)
				marked = append(marked, next)
				return err
			})
			return err
		})
		if err != nil {
			return err
		}
		write(marked)
	}
	return nil
}

// markKept gives a page of kept copies their mirrors again, to be deleted. It returns those of
// the page: one that was planned again since keeps the mirror that it got, if that has taken
// over the event.
func (s *Service) markKept(ctx context.Context, tx store.Tx, groupID, accountID string, cause scheduler.Cause) (page []mirror.Mirror, err error) {
	kept, _, err := store.Page(ctx, tx, keptInAccount.With(groupID, accountID).First(copiesPage), mirror.Decode)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	paths := make([]store.Path, len(kept))
	for i, m := range kept {
		paths[i] = mirror.Path(m.ID)
	}
	planned, err := tx.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, m := range kept {
		now := mirror.Decode(planned[i])
		if now.EventID == "" || now.Generation < m.Generation {
			if now, err = s.markForDeletion(tx, m, cause); err != nil {
				return nil, err
			}
		}
		if err := tx.Delete(mirror.KeptPath(m.ID)); err != nil {
			return nil, err
		}
		page = append(page, now)
	}
	return page, nil
}

// hasCopies reports whether an account has copies of a person's that nothing deletes yet.
func (s *Service) hasCopies(ctx context.Context, ownerID, groupID, accountID string) (bool, error) {
	for _, query := range []*store.Query{keptInAccount, mirrorsInAccount} {
		for m, err := range store.All(ctx, s.Store, query.With(groupID, accountID), mirror.Decode) {
			if err != nil || m.OwnerID == ownerID && m.State != mirror.Deleting {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// keptBy adds to connections, as connections that are gone, those from whose end kept copies
// stay.
func keptBy(connections []mirror.Connection, kept mirror.Mirror) []mirror.Connection {
	if slices.ContainsFunc(connections, func(c mirror.Connection) bool {
		return c.GroupID == kept.GroupID && c.AccountID == kept.TargetAccountID
	}) {
		return connections
	}
	return append(connections, mirror.Connection{GroupID: kept.GroupID, AccountID: kept.TargetAccountID, OwnerID: kept.OwnerID})
}
