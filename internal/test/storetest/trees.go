package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

var trees = []promise{
	{"a tree goes with everything below it and nothing beside it", func(t *testing.T, s store.Store) {
		gone := []store.Path{
			"books/a", "books/a/notes/1", "books/a/notes/1/parts/x", "books/a/pages/p/notes/2", "books/a/notes/é",
		}
		kept := []store.Path{
			"books/a-b", "books/a-b/notes/1", "books/a0", "books/a0/notes/1", "books/aa", "books/A/notes/1",
			"books/b/notes/a", "notes/a", "shelves/a/notes/1",
		}
		for _, path := range append(append([]store.Path{}, gone...), kept...) {
			set(t, s, path, map[string]any{"rank": 1, "kind": "k"})
		}
		must(t, s.DeleteTree(t.Context(), "books/a"))
		for _, path := range gone {
			wantFields(t, s, path, nil)
		}
		for _, path := range kept {
			wantFields(t, s, path, map[string]any{"rank": int64(1), "kind": "k"})
		}
		wantIDs(t, s, byRank.With().Below("books/a"))
		if got := len(ask(t, s, everywhere.With())); got != 6 {
			t.Fatalf("%d notes are left, want 6", got)
		}
	}},
	{"a tree below a document that is not there goes too", func(t *testing.T, s store.Store) {
		set(t, s, "books/a/notes/1", nil)
		must(t, s.DeleteTree(t.Context(), "books/a"))
		wantFields(t, s, "books/a/notes/1", nil)
	}},
	{"deleting a tree again, or one that is not there, is no error", func(t *testing.T, s store.Store) {
		set(t, s, "books/a/notes/1", nil)
		for range 2 {
			must(t, s.DeleteTree(t.Context(), "books/a"))
		}
	}},
	{"a deletion that was cut short goes on when it is called again", checkCutShort},
	{"a tree may be large", func(t *testing.T, s store.Store) {
		const count, each = 450, 150
		for start := 0; start < count; start += each {
			run(t, s, func(tx store.Tx) error {
				for i := start; i < start+each; i++ {
					if err := tx.Set(book.Doc("notes", fmt.Sprintf("n%03d", i)), map[string]any{"rank": i}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		set(t, s, book, nil)
		if got := len(ask(t, s, byRank.With().Below(book))); got != count {
			t.Fatalf("%d notes are there", got)
		}
		must(t, s.DeleteTree(t.Context(), book))
		wantIDs(t, s, byRank.With().Below(book))
		wantFields(t, s, book, nil)
	}},
}

// checkCutShort deletes a tree with contexts that end a little later each time.
func checkCutShort(t *testing.T, s store.Store) {
	const count = 350
	run(t, s, func(tx store.Tx) error {
		for i := range count {
			if err := tx.Set(book.Doc("notes", fmt.Sprint(i)), map[string]any{"rank": i}); err != nil {
				return err
			}
		}
		return tx.Set(book, nil)
	})
	for steps := range 1000 {
		err := s.DeleteTree(endingAfter(t, steps), book)
		if err == nil {
			break
		}
		mustBe(t, fault.Unavailable, err)
		if read(t, s, book) == nil && len(ask(t, s, byRank.With().Below(book).First(1))) > 0 {
			t.Fatal("the document went before what lies below it")
		}
	}
	wantIDs(t, s, byRank.With().Below(book))
	wantFields(t, s, book, nil)
}

// ending is a context that ends when it was asked some times whether it has.
type ending struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func endingAfter(t *testing.T, questions int) *ending {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	e := &ending{Context: ctx, end: end}
	e.left.Store(int64(questions))
	return e
}

// Err implements context.Context.
func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		e.end()
	}
	return e.Context.Err()
}
