package storetest

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

const doc = store.Path("books/one")

// storedValues are values as they are given and as they come back.
var storedValues = []struct {
	name      string
	give, get any
}{
	{"null", nil, nil},
	{"true", true, true},
	{"false", false, false},
	{"zero", int64(0), int64(0)},
	{"an int", 7, int64(7)},
	{"an int32", int32(-7), int64(-7)},
	{"the largest integer", int64(math.MaxInt64), int64(math.MaxInt64)},
	{"the smallest integer", int64(math.MinInt64), int64(math.MinInt64)},
	{"an integer that no double holds", int64(1<<53 + 1), int64(1<<53 + 1)},
	{"a whole double", 5.0, 5.0},
	{"a double", 0.1, 0.1},
	{"a large double", 1e300, 1e300},
	{"the smallest double", math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64},
	{"infinity", math.Inf(1), math.Inf(1)},
	{"minus infinity", math.Inf(-1), math.Inf(-1)},
	{"empty text", "", ""},
	{"text", "Sword & <Sorcery> \u2028 \"né\" 🎲\n\\", "Sword & <Sorcery> \u2028 \"né\" 🎲\n\\"},
	{"text like a time", "2026-03-01T17:00:00Z", "2026-03-01T17:00:00Z"},
	{"text like a number", "1.0", "1.0"},
	{"a zero byte in text", "a\x00b", "a\x00b"},
	{"an instant", instant(123456000), instant(123456000)},
	{"an instant cut to microseconds", instant(999999999), instant(999999000)},
	{
		"an instant of another zone", instant(1000).In(time.FixedZone("", 5*3600+1800)), instant(1000),
	},
	{"the first instant", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
	{
		"the last instant", time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
	},
	{"an instant before 1970", time.Date(1969, 12, 31, 23, 59, 59, 1500, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 1000, time.UTC)},
	{"an empty list", []any{}, []any{}},
	{"a list", []any{1, 1.0, "1", nil, instant(0)}, []any{int64(1), 1.0, "1", nil, instant(0)}},
	{"a list of text", []string{"b", "a"}, []any{"b", "a"}},
	{"a list of maps", []map[string]any{{"n": 1}, {}}, []any{map[string]any{"n": int64(1)}, map[string]any{}}},
	{"an empty map", map[string]any{}, map[string]any{}},
	{"a map of text", map[string]string{"k": "v"}, map[string]any{"k": "v"}},
	{
		"nested maps", map[string]any{"slots": map[string]any{"s-1": map[string]any{"at": instant(5000)}}},
		map[string]any{"slots": map[string]any{"s-1": map[string]any{"at": instant(5000)}}},
	},
	{
		"names that are marks elsewhere", map[string]any{"$time": "x", "$double": "NaN", "$": 1, "$$": "y"},
		map[string]any{"$time": "x", "$double": "NaN", "$": int64(1), "$$": "y"},
	},
	{
		"names with any letters", map[string]any{"a.b": 1, "c/d": 2, "e-f": 3, "`": 4, "é ü": 5, "0": 6, "'": 7},
		map[string]any{
			"a.b": int64(1), "c/d": int64(2), "e-f": int64(3), "`": int64(4),
			"é ü": int64(5), "0": int64(6), "'": int64(7),
		},
	},
}

func instant(nanoseconds int) time.Time {
	return time.Date(2026, 3, 1, 17, 30, 0, nanoseconds, time.UTC)
}

var values = []promise{
	{"every value comes back as it was given", func(t *testing.T, s store.Store) {
		run(t, s, func(tx store.Tx) error {
			for i, v := range storedValues {
				if err := tx.Create(numbered(i), map[string]any{"value": v.give}); err != nil {
					return err
				}
			}
			return nil
		})
		for i, v := range storedValues {
			if got := read(t, s, numbered(i))["value"]; !same(got, v.get) {
				t.Errorf("%s came back as %#v, want %#v", v.name, got, v.get)
			}
		}
	}},
	{"a named field takes every value", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"kept": "as it is"})
		for _, v := range storedValues {
			run(t, s, func(tx store.Tx) error {
				return tx.Update(doc, store.Update{Path: store.Field("deep", "value"), Value: v.give})
			})
			wantFields(t, s, doc, map[string]any{"kept": "as it is", "deep": map[string]any{"value": v.get}})
		}
	}},
	{"a transaction reads what others read", func(t *testing.T, s store.Store) {
		data := map[string]any{"text": "a", "at": instant(1000), "n": 1.0}
		set(t, s, doc, data)
		must(t, s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
			documents, err := tx.GetAll(ctx, []store.Path{"books/absent", doc})
			if err != nil {
				return err
			}
			if documents[0].Exists() || !same(documents[1].Data, data) {
				t.Errorf("a transaction read %v", documents)
			}
			return nil
		}))
	}},
	{"a document without fields is there", func(t *testing.T, s store.Store) {
		set(t, s, doc, nil)
		got, err := s.Get(t.Context(), doc)
		must(t, err)
		if !got.Exists() || len(got.Data) != 0 {
			t.Fatalf("got %#v", got)
		}
	}},
	{"an absent document is no error", func(t *testing.T, s store.Store) {
		if got := read(t, s, doc); got != nil {
			t.Fatalf("got %v", got)
		}
	}},
	{"GetAll keeps the order asked for, absent and repeated ones included", func(t *testing.T, s store.Store) {
		set(t, s, "books/a", map[string]any{"n": 1})
		set(t, s, "books/b", map[string]any{"n": 2})
		got, err := s.GetAll(t.Context(), []store.Path{"books/b", "books/none", "books/a", "books/b"})
		must(t, err)
		if !slices.Equal(ids(got), []string{"b", "none", "a", "b"}) || got[1].Exists() || !got[3].Exists() {
			t.Fatalf("got %v", got)
		}
		none, err := s.GetAll(t.Context(), nil)
		must(t, err)
		if len(none) != 0 {
			t.Fatalf("asked for nothing, got %v", none)
		}
	}},
	{"GetAll takes many documents", func(t *testing.T, s store.Store) {
		const count = 1100 // more than one request of Firestore's asks for
		paths := make([]store.Path, count)
		for i := range paths {
			paths[i] = store.Doc("books", strconv.Itoa(i))
		}
		set(t, s, paths[0], map[string]any{"n": 0})
		set(t, s, paths[count-1], map[string]any{"n": count - 1})
		check := func(from store.Reader) error {
			got, err := from.GetAll(t.Context(), paths)
			if err != nil {
				return err
			}
			for i, document := range got {
				if there := i == 0 || i == count-1; document.Path != paths[i] || document.Exists() != there {
					t.Fatalf("in place %d is %v", i, document)
				}
			}
			return nil
		}
		must(t, check(s))
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return check(tx) }))
	}},
	{"what was given and what is read are copies", checkCopies},
	{"documents and transactions are the largest that Firestore takes, and no larger", checkSizes},
	{"paths keep collections, documents and what lies below apart", func(t *testing.T, s store.Store) {
		paths := []store.Path{"a/b", "a/b/c/d", "a/b-c", "a-b/c", "a/B", "a/b/c/é", "a/b/c/d.e", "a/1"}
		for i, path := range paths {
			set(t, s, path, map[string]any{"n": i})
		}
		for i, path := range paths {
			wantFields(t, s, path, map[string]any{"n": int64(i)})
		}
	}},
}

func numbered(i int) store.Path {
	return store.Doc("books", string(rune('a'+i/26))+string(rune('a'+i%26)))
}

func checkCopies(t *testing.T, s store.Store) {
	fresh := func() map[string]any {
		return map[string]any{"list": []any{map[string]any{"n": int64(1)}}, "map": map[string]any{"n": int64(1)}}
	}
	spoil := func(data map[string]any) {
		data["list"].([]any)[0].(map[string]any)["n"] = int64(2)
		data["map"].(map[string]any)["n"] = int64(2)
		data["new"] = true
	}
	run(t, s, func(tx store.Tx) error {
		given := fresh()
		if err := tx.Set(doc, given); err != nil {
			return err
		}
		spoil(given)
		field := fresh()
		path := store.Field("list")
		if err := tx.Merge("books/two", store.Update{Path: path, Value: field["list"]},
			store.Update{Path: store.Field("map"), Value: field["map"]}); err != nil {
			return err
		}
		spoil(field)
		path[0] = "spoilt"
		return nil
	})
	readers := []func() map[string]any{
		func() map[string]any { return read(t, s, doc) },
		func() map[string]any { return read(t, s, "books/two") },
		func() map[string]any { return ask(t, s, everyBook.With())[0].Data },
		func() (data map[string]any) {
			must(t, s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
				// Read twice, and spoil the first, within one transaction.
				first, err := tx.Get(ctx, doc)
				if err != nil {
					return err
				}
				spoil(first.Data)
				second, err := tx.Get(ctx, doc)
				data = second.Data
				return err
			}))
			return data
		},
	}
	for round := range 2 {
		for i, get := range readers {
			got := get()
			if !same(got, fresh()) {
				t.Fatalf("reader %d, round %d: somebody's copy was changed: %v", i, round, got)
			}
			spoil(got)
		}
	}
}

func checkSizes(t *testing.T, s store.Store) {
	// Firestore counts 16 bytes and each part of the path and one, 32 for the
	// document, and for each field its name and one and its text and one.
	rest := store.MaxDocument - (16 + len("books") + 1 + len("one") + 1 + 32)
	texts := func(bytes int) map[string]any {
		const half = store.MaxDocument / 2
		bytes -= 2 * (len("a") + 1 + 1)
		return map[string]any{"a": strings.Repeat("x", half), "b": strings.Repeat("x", bytes-half)}
	}
	set(t, s, doc, texts(rest))
	tooLarge := map[string]func(tx store.Tx) error{
		"a document by a byte": func(tx store.Tx) error { return tx.Set("books/two", texts(rest+1)) },
		"an update that adds to what is there": func(tx store.Tx) error {
			return tx.Update(doc, field(1, "c"))
		},
		"a merge that adds to what is there": func(tx store.Tx) error { return tx.Merge(doc, field(1, "c")) },
		"one value": func(tx store.Tx) error {
			return tx.Create("books/two", map[string]any{"a": strings.Repeat("x", store.MaxValue+1)})
		},
		"an updated value": func(tx store.Tx) error {
			return tx.Merge("books/two", field(strings.Repeat("x", store.MaxValue+1), "a"))
		},
		"levels":            func(tx store.Tx) error { return tx.Set("books/two", map[string]any{"deep": deep(store.MaxDepth + 1)}) },
		"levels of a field": func(tx store.Tx) error { return tx.Merge("books/two", field(deep(store.MaxDepth), "on", "top")) },
	}
	for name, write := range tooLarge {
		t.Run(name, func(t *testing.T) { refused(t, s, fault.TooLarge, write) })
	}
	many := func(count int) func(tx store.Tx) error {
		return func(tx store.Tx) error {
			for i := range count {
				if err := tx.Set(numbered(i), map[string]any{"a": strings.Repeat("x", 1_000_000)}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	const fit = store.MaxTransaction / 1_000_000
	run(t, s, many(fit))
	refused(t, s, fault.TooLarge, many(fit+1))
	must(t, s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Get(ctx, doc); err != nil {
			return err
		}
		return tx.Update(doc, field(store.Delete, "a"), field(1, "c")) // what was read does not stand in the way
	}))
	set(t, s, "books/two", map[string]any{"deep": deep(store.MaxDepth)})
}

func deep(levels int) any {
	if levels == 0 {
		return "ground"
	}
	return map[string]any{"in": deep(levels - 1)}
}
