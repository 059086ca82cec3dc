package mirrors

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// Journal passes the journal of a person's event to take, newest first, at most limit entries
// behind a cursor, until it returns false; next is where to continue. Of an occurrence that
// differs from its series it is its own, else the series'. Entries of other people's mirrors are
// left out. The journal of a deleted event stays readable to its owner until it is cleaned up.
// NotFound if the event is another's.
func (e *Events) Journal(
	ctx context.Context, ownerID, id string, part store.Paging, take func(mirror.JournalEntry) (bool, error),
) (next *store.Cursor, err error) {
	eventID, err := e.journalOf(ctx, ownerID, id)
	if err != nil {
		return nil, err
	}
	return mirror.WalkJournal(ctx, e.Service.Store, eventID, part, func(entry mirror.JournalEntry) (bool, error) {
		if entry.OwnerID != ownerID && entry.MirrorID != "" {
			return true, nil
		}
		return take(entry)
	})
}

// journalOf finds the canonical event whose journal an id or address means.
func (e *Events) journalOf(ctx context.Context, ownerID, id string) (eventID string, err error) {
	seriesID, at, isOccurrence := cutAddress(id)
	if !isOccurrence {
		_, err := e.load(ctx, ownerID, id)
		if fault.Is(err, fault.NotFound) {
			err = e.wasTheirs(ctx, ownerID, id, err)
		}
		return id, err
	}
	series, err := e.load(ctx, ownerID, seriesID)
	if err != nil {
		return "", err
	}
	original, err := originalOf(series, at)
	if err != nil {
		return "", err
	}
	one, changed, err := e.exception(ctx, series, original)
	switch {
	case err != nil || changed:
		return one.ID, err
	default:
		_, _, err = byRule(series, original)
		return series.ID, err
	}
}

// wasTheirs is missing, unless the event is deleted and was the person's.
func (e *Events) wasTheirs(ctx context.Context, ownerID, id string, missing error) error {
	if mirror.EventPath(id).Valid() != nil {
		return missing
	}
	exists, err := e.Service.Store.Get(ctx, mirror.EventPath(id))
	if err != nil {
		return err
	}
	if exists.Exists() {
		return missing
	}
	for entry, err := range mirror.Journal(ctx, e.Service.Store, id) {
		if err != nil {
			return err
		}
		if entry.MirrorID == "" && entry.OwnerID == ownerID {
			return nil
		}
	}
	return missing
}
