package poll

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// retentionPage is how many entries are removed by one transaction.
const retentionPage = 100

// entriesBefore are the entries of all journals from before a time, oldest first.
var entriesBefore = everywhere(store.Select("journal entries from before a time", "journal", "at", store.Where("at", store.Less)))

// RemoveOldEntries removes a page of the journal entries from before a time (QS_JOURNAL_KEEP),
// oldest first, and gives how many. at is where an earlier page ended ("": the beginning);
// next is where to go on, "" at the end. Each poll keeps its newest entry that decided
// something, so a replay of what is left leads to the stored poll.
//
// A page is one transaction, and may be repeated or run twice at once.
func RemoveOldEntries(ctx context.Context, documents store.Store, before time.Time, at string) (removed int, next string, err error) {
	asked := entriesBefore.With(before).First(retentionPage).From(store.DecodeCursor(at, entriesBefore.Collection))
	docs, err := documents.Query(ctx, asked)
	if err != nil {
		return 0, "", err
	}
	old, err := withoutNewest(ctx, documents, docs)
	if err != nil {
		return 0, "", err
	}
	if err := removeAll(ctx, documents, old); err != nil {
		return 0, "", err
	}
	if len(docs) == asked.Limit {
		next, err = store.EncodeCursor(entriesBefore.CursorAt(docs[len(docs)-1]))
	}
	return len(old), next, err
}

// withoutNewest gives the entries that are not the newest of their poll. One that is written
// during it leaves an old entry too many, and never one too few.
func withoutNewest(ctx context.Context, reader store.Reader, entries []store.Document) (old []store.Path, err error) {
	newest := map[string]store.Path{} // of the polls met
	for _, doc := range entries {
		pollID := doc.Path.Parent().ID()
		last, known := newest[pollID]
		if !known {
			last, err = newestEntry(ctx, reader, pollID)
			if err != nil {
				return nil, err
			}
			newest[pollID] = last
		}
		if doc.Path != last {
			old = append(old, doc.Path)
		}
	}
	return old, nil
}

// newestEntry is the newest entry of a poll's journal that decided something.
func newestEntry(ctx context.Context, reader store.Reader, pollID string) (store.Path, error) {
	var after *store.Cursor
	for size := 1; ; size = retentionPage { // as a rule the first is it
		entries, next, err := LoadJournal(ctx, reader, pollID, store.Paging{Limit: size, After: after})
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if !entry.Observed {
				return EntryPath(pollID, entry.ID), nil
			}
		}
		if next == nil {
			return "", nil
		}
		after = next
	}
}

func removeAll(ctx context.Context, documents store.Store, paths []store.Path) error {
	if len(paths) == 0 {
		return nil
	}
	return documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
		for _, path := range paths {
			if err := tx.Delete(path); err != nil {
				return err
			}
		}
		return nil
	})
}
