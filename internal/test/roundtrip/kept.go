package roundtrip

import (
	"context"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// Kept is a document as a store gives it back, after each list of updates was
// merged into it in turn.
func Kept(t testing.TB, path store.Path, updates ...[]store.Update) store.Document {
	t.Helper()
	documents, err := memorystore.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, some := range updates {
		err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Merge(path, some...) })
		if err != nil {
			t.Fatal(err)
		}
	}
	document, err := documents.Get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// Whole are the updates that write a document's fields, for Kept.
func Whole(data map[string]any) (updates []store.Update) {
	for name, value := range data {
		updates = append(updates, store.Update{Path: store.Field(name), Value: value})
	}
	return updates
}
