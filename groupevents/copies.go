package groupevents

import (
	"context"
	"slices"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// copiesPage is how many mirrors one transaction releases.
const copiesPage = 100

var (
	keptIntoAccount = store.Select("kept copies in an account", "keptCopies", "", store.Where("targetAccountId", store.Equal))
	keptOfGroup     = store.Select("kept copies of a group", "keptCopies", "", store.Where("groupId", store.Equal))
	allKept         = store.Select("kept copies by id", "keptCopies", "")
)

// copiesOf lists a page of a group's mirrors in an account, and reports whether more are left.
// Mirrors whose events are being deleted already are left out.
func copiesOf(ctx context.Context, reader store.Reader, c mirror.Connection) (page []mirror.Mirror, more bool, err error) {
	for after := ""; ; {
		found, next, err := mirror.OfConnection(ctx, reader, c, copiesPage, after)
		if err != nil {
			return nil, false, err
		}
		page = append(page, slices.DeleteFunc(found, func(m mirror.Mirror) bool { return m.State == mirror.Deleting })...)
		if next == "" || len(page) >= copiesPage {
			return page[:min(len(page), copiesPage)], next != "" || len(page) > copiesPage, nil
		}
		after = next
	}
}

// release forgets a mirror, and records that its event stays.
func (s *Service) release(tx store.Tx, m mirror.Mirror, cause scheduler.Cause) error {
	if m.EventID != "" {
		if err := tx.Set(mirror.KeptPath(m.ID), mirror.Encode(m)); err != nil {
			return err
		}
	}
	if err := s.journal(tx,
		mirror.StepEntry(mirror.StepForgotten, m, mirror.Mirror{}, "its account was disconnected and keeps it"), cause); err != nil {
		return err
	}
	return tx.Delete(mirror.Path(m.ID))
}

// journal adds an entry to the journal of a canonical event.
func (s *Service) journal(tx store.Tx, entry mirror.JournalEntry, cause scheduler.Cause) error {
	entry.ID, entry.At, entry.Trigger, entry.Trace = s.NewID("jrn"), store.Instant(s.Now()), cause.Trigger, cause.Trace
	return tx.Create(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry))
}

// hasCopies reports whether an account that is not connected has copies of a person's that
// nothing deletes yet.
func (s *Service) hasCopies(ctx context.Context, c mirror.Connection) (bool, error) {
	kept, err := mirror.KeptOfConnection(ctx, s.Store, c, 1)
	if err != nil || len(kept) > 0 {
		return err == nil && kept[0].OwnerID == c.OwnerID, err
	}
	page, _, err := copiesOf(ctx, s.Store, c)
	return slices.ContainsFunc(page, func(m mirror.Mirror) bool { return m.OwnerID == c.OwnerID }), err
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
