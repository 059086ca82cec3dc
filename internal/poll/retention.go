package poll

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// retentionPage is how many entries are removed by one transaction.
const retentionPage = 100

// entriesBefore are the entries of all journals from before a time, oldest first.
var entriesBefore = oldestFirst("at", everywhere(query("journal entries from before a time", "journal", where(store.Less, "at"))))

// RemoveOldEntries removes a page of the journal entries from before a time
// (QS_JOURNAL_KEEP), oldest first, and gives how many. at is where an earlier page
// ended ("": from the beginning); next is where to go on, "" at the end. Of each
// poll the newest entry that decided something stays, however old it is: a replay
// begins with the oldest entry there is, which it takes as it stands
// (explain.Replay), so what is left always leads to the poll as it is stored.
//
// A page is one transaction. Where it is cut off, nothing is half done, and the
// next call goes on; two at once remove the same.
func RemoveOldEntries(ctx context.Context, documents store.Store, before time.Time, at string) (removed int, next string, err error) {
	asked := entriesBefore.With(before).First(retentionPage).From(store.CursorAt(at, entriesBefore.Collection))
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
		next, err = store.PlaceOf(entriesBefore.CursorAt(docs[len(docs)-1]))
	}
	return len(old), next, err
}

// withoutNewest gives where those entries stand that are not the newest of their
// poll. An entry that is written meanwhile only makes the newest one newer, so
// one too many stays then, and never one too few.
func withoutNewest(ctx context.Context, reader store.Reader, entries []store.Document) (old []store.Path, err error) {
	newest := map[string]store.Path{} // of the polls met
	for _, doc := range entries {
		pollID := doc.Path.Parent().ID()
		last, known := newest[pollID]
		if !known {
			if last, err = newestEntry(ctx, reader, pollID); err != nil {
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

// newestEntry is where the newest entry of a poll's journal stands that decided
// something.
func newestEntry(ctx context.Context, reader store.Reader, pollID string) (store.Path, error) {
	var after *store.Cursor
	for size := 1; ; size = retentionPage { // as a rule the first is it
		entries, next, err := LoadJournal(ctx, reader, pollID, size, after)
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
