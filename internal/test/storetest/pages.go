package storetest

import (
	"fmt"
	"slices"
	"testing"

	"questscheduler/internal/store"
)

// walk reads a query page by page, calling between after each page.
func walk(t *testing.T, s store.Store, query store.Bound, size int, between func(page []store.Document)) []string {
	t.Helper()
	out := []string{}
	for range 1000 {
		page := ask(t, s, query.First(size))
		out = append(out, ids(page)...)
		if len(page) < size {
			return out
		}
		between(page)
		query = query.From(query.Query.CursorAt(page[len(page)-1]))
	}
	t.Fatalf("%q has pages without end", query.Query.Name)
	return nil
}

func quietly([]store.Document) {}

var pages = []promise{
	{"pages of any size give the whole result once, in order", func(t *testing.T, s store.Store) {
		for i := range 11 {
			note(t, s, fmt.Sprintf("n%02d", i), map[string]any{
				"rank": i / 3, "kind": string(rune('a' + i%3)), "tags": []any{"x", i % 2},
				"meta": map[string]any{"a-b.c": "v", "at": instant(1000 * (i / 4))},
			})
		}
		for _, query := range []store.Bound{
			everyNote.With(), byRank.With(), topRank.With(), ofKind.With("a"), ofKindByRank.With("b"),
			ofKinds.With([]any{"a", "b"}), ofKindsFromTop.With([]any{"c", "a", "b"}), tagged.With("x"),
			taggedOfKinds.With("x", []any{"a", "c"}), between.With(1, 3), withinFromTop.With(0, 2),
			ofKindsAbove.With([]any{"a", "b"}, 0), byKindAndRank.With(), inside.With("v"),
		} {
			query := query.Below(book)
			whole := ids(ask(t, s, query))
			if len(whole) < 3 {
				t.Fatalf("%q gives too little to turn pages: %q", query.Query.Name, whole)
			}
			for size := 1; size <= len(whole)+1; size++ {
				if got := walk(t, s, query, size, quietly); !slices.Equal(got, whole) {
					t.Errorf("%q in pages of %d gave %q, want %q", query.Query.Name, size, got, whole)
				}
			}
		}
	}},
	{"equal keys are divided between pages by path", func(t *testing.T, s store.Store) {
		var up []string
		for i := range 7 {
			id := fmt.Sprintf("n%d", i)
			up = append(up, id)
			note(t, s, id, map[string]any{"rank": "same"})
		}
		down := slices.Clone(up)
		slices.Reverse(down)
		for size := 1; size < 4; size++ {
			if got := walk(t, s, byRank.With().Below(book), size, quietly); !slices.Equal(got, up) {
				t.Errorf("pages of %d gave %q", size, got)
			}
			if got := walk(t, s, topRank.With().Below(book), size, quietly); !slices.Equal(got, down) {
				t.Errorf("pages of %d from the top gave %q", size, got)
			}
		}
	}},
	{"a cursor is a place and needs no document there", func(t *testing.T, s store.Store) {
		for i, id := range []string{"a", "b", "c"} {
			note(t, s, id, map[string]any{"rank": i})
		}
		at := func(value any, id string) *store.Cursor {
			return &store.Cursor{Values: []any{value}, Path: book.Doc("notes", id)}
		}
		wantIDs(t, s, byRank.With().Below(book).From(at(0.5, "zz")), "b", "c")
		wantIDs(t, s, byRank.With().Below(book).From(at(1.0, "a")), "b", "c")
		wantIDs(t, s, byRank.With().Below(book).From(at(1.0, "b")), "c")
		wantIDs(t, s, byRank.With().Below(book).From(at(nil, "b")), "a", "b", "c")
		wantIDs(t, s, byRank.With().Below(book).From(at("text", "b")))
		wantIDs(t, s, topRank.With().Below(book).From(at(1, "b")), "a")
		wantIDs(t, s, topRank.With().Below(book).From(at("text", "b")), "c", "b", "a")
		wantIDs(t, s, between.With(1, 9).Below(book).From(at(-5, "a")), "b", "c")
		wantIDs(t, s, between.With(0, 2).Below(book).From(at(2, "z")))
	}},
	{"pages stay sound while data changes between them", func(t *testing.T, s store.Store) {
		for i := range 10 {
			note(t, s, fmt.Sprintf("n%d", i), map[string]any{"rank": i})
		}
		turned := 0
		got := walk(t, s, byRank.With().Below(book), 3, func(page []store.Document) {
			turned++
			last := page[len(page)-1]
			run(t, s, func(tx store.Tx) error {
				if turned == 1 { // n2, the cursor's own document, goes; n8 comes too early; n4 goes; one comes after
					if err := tx.Delete(last.Path); err != nil {
						return err
					}
					if err := tx.Update(book.Doc("notes", "n8"), field(-1, "rank")); err != nil {
						return err
					}
					if err := tx.Delete(book.Doc("notes", "n4")); err != nil {
						return err
					}
					return tx.Create(book.Doc("notes", "new"), map[string]any{"rank": 4.5})
				}
				return tx.Merge(book.Doc("notes", "n0"), field(turned, "other"))
			})
		})
		if want := []string{"n0", "n1", "n2", "n3", "new", "n5", "n6", "n7", "n9"}; !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}},
	{"a collection group is read in pages across parents", func(t *testing.T, s store.Store) {
		var want []store.Path
		for _, parent := range []store.Path{"books/a", "books/a/pages/p", "books/a-", "books/b"} {
			for _, id := range []string{"1", "2"} {
				want = append(want, parent.Doc("notes", id))
				set(t, s, parent.Doc("notes", id), map[string]any{"rank": 1, "kind": "k"})
			}
		}
		for _, whole := range []store.Bound{everywhere.With(), ofKindEverywhere.With("k")} {
			for size := 1; size < 4; size++ {
				if got := walkPaths(t, s, whole, size, len(want)); !slices.Equal(got, want) {
					t.Fatalf("%q in pages of %d gave %q", whole.Query.Name, size, got)
				}
			}
		}
	}},
}

// walkPaths reads a query page by page until it has enough, or there is no more.
func walkPaths(t *testing.T, s store.Store, query store.Bound, size, enough int) (got []store.Path) {
	t.Helper()
	for len(got) < enough {
		page := ask(t, s, query.First(size))
		if len(page) == 0 {
			break
		}
		for _, document := range page {
			got = append(got, document.Path)
		}
		query = query.From(query.Query.CursorAt(page[len(page)-1]))
	}
	return got
}
