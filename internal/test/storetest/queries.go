package storetest

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"questscheduler/internal/store"
)

const book = store.Path("books/b")

// note writes a note of the book.
func note(t *testing.T, s store.Store, id string, data map[string]any) {
	t.Helper()
	set(t, s, book.Doc("notes", id), data)
}

// notes writes notes of the book in one transaction.
func notes(t *testing.T, s store.Store, data map[string]map[string]any) {
	t.Helper()
	run(t, s, func(tx store.Tx) error {
		for id, fields := range data {
			if err := tx.Set(book.Doc("notes", id), fields); err != nil {
				return err
			}
		}
		return nil
	})
}

// inOrder are values of all types in the order in which they sort; those in
// one row are equal.
var inOrder = [][]any{
	{nil},
	{false}, {true},
	{math.Inf(-1)}, {-1e300}, {int64(math.MinInt64), float64(math.MinInt64)}, {int64(-2), -2.0}, {-1.5},
	{int64(-1)}, {-math.SmallestNonzeroFloat64}, {int64(0), 0.0, math.Copysign(0, -1)}, {0.5}, {int64(1), 1.0},
	{int64(1 << 53), float64(1 << 53)}, {int64(1<<53 + 1)}, {float64(1<<53 + 2), int64(1<<53 + 2)},
	{int64(math.MaxInt64 - 1)}, {int64(math.MaxInt64)}, {float64(1 << 63)}, {math.Inf(1)},
	{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)}, {time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)},
	{instant(0)}, {instant(1000)},
	{""}, {"\x00"}, {"\x00a"}, {"A"}, {"a"}, {"a\x00"}, {"a\x00b"}, {"a b"}, {"ab"}, {"b"}, {"é"}, {"\uffff"}, {"🎲"},
	{[]any{}}, {[]any{nil}}, {[]any{int64(1)}, []any{1.0}}, {[]any{int64(1), nil}}, {[]any{int64(2)}}, {[]any{"a"}},
	{map[string]any{}}, {map[string]any{"a": int64(1)}}, {map[string]any{"a": int64(1), "b": nil}},
	{map[string]any{"a": int64(2)}}, {map[string]any{"b": nil}},
}

var queries = []promise{
	{"values sort as in Firestore, up and down", checkOrder},
	{"equality is equality of value, between integers and doubles too", func(t *testing.T, s store.Store) {
		paths := writeInOrder(t, s, "kind")
		for row, equal := range inOrder {
			for _, value := range equal {
				wantIDs(t, s, ofKind.With(value).Below(book), paths[row]...)
			}
		}
	}},
	{"a range selects values of its argument's type alone", checkRanges},
	{"documents that lack an ordered or filtered field are not in the result", func(t *testing.T, s store.Store) {
		notes(t, s, map[string]map[string]any{
			"both": {"kind": "k", "rank": 1, "tags": []any{"x"}}, "no rank": {"kind": "k", "tags": []any{"x"}},
			"no kind": {"rank": 2, "tags": []any{"x"}}, "null": {"kind": nil, "rank": nil}, "none": {},
			"no list": {"kind": "k", "rank": 3, "tags": "x"},
		})
		wantIDs(t, s, everyNote.With().Below(book), "both", "no kind", "no list", "no rank", "none", "null")
		wantIDs(t, s, byRank.With().Below(book), "null", "both", "no kind", "no list")
		wantIDs(t, s, ofKind.With("k").Below(book), "both", "no list", "no rank")
		wantIDs(t, s, ofKind.With(nil).Below(book), "null")
		wantIDs(t, s, ofKindByRank.With("k").Below(book), "both", "no list")
		wantIDs(t, s, tagged.With("x").Below(book), "both", "no kind")
		wantIDs(t, s, byKindAndRank.With().Below(book), "null", "no list", "both")
	}},
	{"ties are broken by path, in the direction of the last key", func(t *testing.T, s store.Store) {
		for _, id := range []string{"b", "a", "c", "B", "a-", "a.", "aa", "é"} {
			note(t, s, id, map[string]any{"rank": 1, "kind": "k"})
		}
		up := []string{"B", "a", "a-", "a.", "aa", "b", "c", "é"}
		down := []string{"é", "c", "b", "aa", "a.", "a-", "a", "B"}
		wantIDs(t, s, everyNote.With().Below(book), up...)
		wantIDs(t, s, byRank.With().Below(book), up...)
		wantIDs(t, s, ofKinds.With([]any{"x", "k"}).Below(book), up...)
		wantIDs(t, s, topRank.With().Below(book), down...)
		wantIDs(t, s, byKindAndRank.With().Below(book), down...)
	}},
	{"in selects any of its values and merges them into the order", func(t *testing.T, s store.Store) {
		for i := range 12 {
			note(t, s, fmt.Sprintf("n%02d", i), map[string]any{"kind": string(rune('a' + i%4)), "rank": i})
		}
		wantIDs(t, s, ofKinds.With([]string{"c", "a"}).Below(book), "n00", "n02", "n04", "n06", "n08", "n10")
		wantIDs(t, s, ofKinds.With([]any{"c", "c"}).Below(book), "n02", "n06", "n10")
		wantIDs(t, s, ofKinds.With([]any{"z"}).Below(book))
		wantIDs(t, s, ofKindsFromTop.With([]any{"d", "b", "z"}).Below(book), "n11", "n09", "n07", "n05", "n03", "n01")
		wantIDs(t, s, ofKindsFromTop.With([]any{"d", "b"}).Below(book).First(3), "n11", "n09", "n07")
		wantIDs(t, s, ofKindsAbove.With([]any{"d", "b"}, 4).Below(book), "n05", "n07", "n09", "n11")
	}},
	{"in takes integers for doubles and gives each document once", func(t *testing.T, s store.Store) {
		note(t, s, "int", map[string]any{"kind": 1, "rank": 1})
		note(t, s, "double", map[string]any{"kind": 1.0, "rank": 2})
		wantIDs(t, s, ofKinds.With([]any{1, 1.0, true}).Below(book), "double", "int")
	}},
	{"array-contains finds an element, once however often it is there", func(t *testing.T, s store.Store) {
		note(t, s, "one", map[string]any{"rank": 1, "tags": []any{"x", "y", "x"}, "kind": "k"})
		note(t, s, "two", map[string]any{"rank": 2, "tags": []any{1, 1.0, map[string]any{"a": 1}}, "kind": "l"})
		note(t, s, "three", map[string]any{"rank": 3, "tags": []any{}, "kind": "k"})
		note(t, s, "four", map[string]any{"rank": 4, "tags": []any{"x"}, "kind": "l"})
		wantIDs(t, s, tagged.With("x").Below(book), "one", "four")
		wantIDs(t, s, tagged.With(1).Below(book), "two")
		wantIDs(t, s, tagged.With(map[string]any{"a": 1.0}).Below(book), "two")
		wantIDs(t, s, tagged.With("z").Below(book))
		wantIDs(t, s, taggedOfKinds.With("x", []any{"k", "l"}).Below(book), "four", "one")
		wantIDs(t, s, taggedOfKinds.With("x", []any{"k"}).Below(book), "one")
	}},
	{"nested fields are found by their list of names", func(t *testing.T, s store.Store) {
		note(t, s, "late", map[string]any{"meta": map[string]any{"a-b.c": "v", "at": instant(2000)}})
		note(t, s, "early", map[string]any{"meta": map[string]any{"a-b.c": "v", "at": instant(1000)}})
		note(t, s, "other", map[string]any{"meta": map[string]any{"a-b.c": "w", "at": instant(0)}})
		note(t, s, "dotted", map[string]any{"meta.a-b.c": "v", "meta": map[string]any{"at": instant(0)}})
		note(t, s, "no map", map[string]any{"meta": "v"})
		wantIDs(t, s, inside.With("v").Below(book), "early", "late")
	}},
	{"a collection is that of its parent, a collection group every one of its name", checkGroups},
	{"a limit cuts the result, and zero is none", func(t *testing.T, s store.Store) {
		for i := range 5 {
			note(t, s, string(rune('a'+i)), map[string]any{"rank": 5 - i})
		}
		wantIDs(t, s, byRank.With().Below(book).First(2), "e", "d")
		wantIDs(t, s, topRank.With().Below(book).First(2), "a", "b")
		wantIDs(t, s, byRank.With().Below(book).First(9), "e", "d", "c", "b", "a")
		wantIDs(t, s, byRank.With().Below(book).First(0), "e", "d", "c", "b", "a")
	}},
	{"a result follows each write", func(t *testing.T, s store.Store) {
		note(t, s, "n", map[string]any{"rank": 1, "kind": "k", "tags": []any{"x", "y"}})
		run(t, s, func(tx store.Tx) error {
			return tx.Update(book.Doc("notes", "n"), field([]any{"y", "z"}, "tags"), field("l", "kind"))
		})
		wantIDs(t, s, tagged.With("x").Below(book))
		wantIDs(t, s, tagged.With("y").Below(book), "n")
		wantIDs(t, s, tagged.With("z").Below(book), "n")
		wantIDs(t, s, ofKind.With("k").Below(book))
		wantIDs(t, s, ofKind.With("l").Below(book), "n")
		run(t, s, func(tx store.Tx) error { return tx.Update(book.Doc("notes", "n"), field(store.Delete, "rank")) })
		wantIDs(t, s, tagged.With("y").Below(book))
		run(t, s, func(tx store.Tx) error { return tx.Delete(book.Doc("notes", "n")) })
		wantIDs(t, s, everyNote.With().Below(book))
	}},
	{"a query gives whole documents", func(t *testing.T, s store.Store) {
		data := map[string]any{"rank": int64(1), "more": map[string]any{"at": instant(1000), "l": []any{1.0, nil}}}
		note(t, s, "n", data)
		got := ask(t, s, byRank.With().Below(book))
		if len(got) != 1 || got[0].Path != book.Doc("notes", "n") || !same(got[0].Data, data) {
			t.Fatalf("got %v", got)
		}
	}},
	{"a transaction asks as others do", func(t *testing.T, s store.Store) {
		note(t, s, "a", map[string]any{"rank": 2, "kind": "k"})
		note(t, s, "b", map[string]any{"rank": 1, "kind": "l"})
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			wantIDs(t, tx, byRank.With().Below(book), "b", "a")
			wantIDs(t, tx, ofKindsFromTop.With([]any{"k", "l"}).Below(book).First(1), "a")
			wantIDs(t, tx, everywhere.With(), "b", "a")
			return nil
		}))
	}},
	{"a binding that does not fit is refused", func(t *testing.T, s store.Store) {
		note(t, s, "n", map[string]any{"rank": 1})
		bad := map[string]store.Bound{
			"no query":            {},
			"undeclared":          undeclared.With(),
			"a copy":              (&store.Query{Name: byRank.Name, Collection: "notes", Order: byRank.Order}).With().Below(book),
			"too few arguments":   ofKind.With().Below(book),
			"too many arguments":  byRank.With(1).Below(book),
			"a bad argument":      ofKind.With([]byte("x")).Below(book),
			"no list":             ofKinds.With("k").Below(book),
			"an empty list":       ofKinds.With([]any{}).Below(book),
			"a long list":         ofKinds.With(make([]any, 31)).Below(book),
			"null in a list":      ofKinds.With([]any{nil}).Below(book),
			"null in a range":     between.With(nil, 1).Below(book),
			"null as an element":  tagged.With(nil).Below(book),
			"not a number":        between.With(math.NaN(), 1).Below(book),
			"a bad parent":        byRank.With().Below("books"),
			"a group's parent":    everywhere.With().Below(book),
			"a negative limit":    byRank.With().Below(book).First(-1),
			"a cursor too short":  byRank.With().Below(book).From(&store.Cursor{Path: book.Doc("notes", "n")}),
			"a cursor of nowhere": byRank.With().Below(book).From(&store.Cursor{Values: []any{1}}),
			"a foreign cursor":    byRank.With().Below(book).From(&store.Cursor{Values: []any{1}, Path: "books/c/notes/n"}),
			"a bad cursor":        byRank.With().Below(book).From(&store.Cursor{Values: []any{[]byte{}}, Path: book.Doc("notes", "n")}),
		}
		for name, bound := range bad {
			_, err := s.Query(t.Context(), bound)
			wantInvalid(t, "Query", name, err)
			err = s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error { _, err := tx.Query(ctx, bound); return err })
			wantInvalid(t, "Query in a transaction", name, err)
		}
	}},
	{"null can be asked for", func(t *testing.T, s store.Store) {
		note(t, s, "null", map[string]any{"kind": nil})
		note(t, s, "absent", map[string]any{})
		note(t, s, "false", map[string]any{"kind": false})
		wantIDs(t, s, ofKind.With(nil).Below(book), "null")
	}},
}

// writeInOrder writes a note for each value of inOrder, under ids that sort
// against the values, and gives the ids of each row, sorted.
func writeInOrder(t *testing.T, s store.Store, name string) [][]string {
	t.Helper()
	out := make([][]string, len(inOrder))
	data := map[string]map[string]any{}
	for row, equal := range inOrder {
		for i, value := range equal {
			id := fmt.Sprintf("n%02d-%d", len(inOrder)-row, i)
			data[id] = map[string]any{name: value}
			out[row] = append(out[row], id)
		}
	}
	notes(t, s, data)
	return out
}

func checkOrder(t *testing.T, s store.Store) {
	rows := writeInOrder(t, s, "rank")
	var up, down []string
	for row := range rows {
		up = append(up, rows[row]...)
		last := rows[len(rows)-1-row]
		for i := range last {
			down = append(down, last[len(last)-1-i])
		}
	}
	wantIDs(t, s, byRank.With().Below(book), up...)
	wantIDs(t, s, topRank.With().Below(book), down...)
}

func checkRanges(t *testing.T, s store.Store) {
	rows := writeInOrder(t, s, "rank")
	for i := 1; i < len(inOrder); i++ { // null is refused
		for j := 1; j < len(inOrder); j++ {
			low, high := inOrder[i][0], inOrder[j][0]
			// All pairs would be many: neighbours, some others of one type, and
			// some of two.
			near, alike := i-j <= 2 && j-i <= 2, typeRank(low) == typeRank(high)
			if !near && !(alike && (i+j)%6 == 0) && high != true {
				continue
			}
			var up, down []string
			for row := range rows {
				value := inOrder[row][0]
				if holds(store.GreaterOrEqual, value, low) && holds(store.Less, value, high) {
					up = append(up, rows[row]...)
				}
				if holds(store.Greater, value, low) && holds(store.LessOrEqual, value, high) {
					for _, id := range rows[row] {
						down = append([]string{id}, down...)
					}
				}
			}
			wantIDs(t, s, between.With(low, high).Below(book), up...)
			wantIDs(t, s, withinFromTop.With(low, high).Below(book), down...)
		}
	}
}

func checkGroups(t *testing.T, s store.Store) {
	paths := []store.Path{
		"books/a/notes/2", "books/a-/notes/1", "books/a/notes/1", "books/a/pages/p/notes/1",
		"notes/top", "shelves/s/notes/1", "books/b/notes/1",
	}
	for i, path := range paths {
		set(t, s, path, map[string]any{"rank": 1, "kind": "k", "n": i})
	}
	set(t, s, "books/a/notesandmore/x", map[string]any{"rank": 1, "kind": "k"})
	set(t, s, "books/a", map[string]any{"rank": 1, "kind": "k"})

	wantIDs(t, s, byRank.With().Below("books/a"), "1", "2")
	wantIDs(t, s, byRank.With(), "top")
	wantIDs(t, s, byRank.With().Below("books/a/pages/p"), "1")
	wantIDs(t, s, byRank.With().Below("books/none"))
	sorted := []store.Path{
		"books/a/notes/1", "books/a/notes/2", "books/a/pages/p/notes/1", "books/a-/notes/1",
		"books/b/notes/1", "notes/top", "shelves/s/notes/1",
	}
	for _, query := range []store.Bound{everywhere.With(), ofKindEverywhere.With("k")} {
		for i, document := range ask(t, s, query) {
			if document.Path != sorted[i] {
				t.Fatalf("%q gave %s in place %d, want %s", query.Query.Name, document.Path, i, sorted[i])
			}
		}
	}
}
