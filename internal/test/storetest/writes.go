package storetest

import (
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

func field(value any, names ...string) store.Update {
	return store.Update{Path: names, Value: value}
}

// updateRows are updates of a document, and what they make of it.
var updateRows = []struct {
	name    string
	before  map[string]any
	updates []store.Update
	after   map[string]any
}{
	{
		"an update leaves fields alone that it does not name",
		map[string]any{"a": 1, "theirs": map[string]any{"x": []any{1, nil}}},
		[]store.Update{field(2, "a")},
		map[string]any{"a": int64(2), "theirs": map[string]any{"x": []any{int64(1), nil}}},
	},
	{
		"a nested update leaves the neighbours alone",
		map[string]any{"slots": map[string]any{"s-1": map[string]any{"a": 1, "b": 2}, "s.2": 3}},
		[]store.Update{field(9, "slots", "s-1", "a"), field(8, "slots", "s.2")},
		map[string]any{"slots": map[string]any{"s-1": map[string]any{"a": int64(9), "b": int64(2)}, "s.2": int64(8)}},
	},
	{
		"a dot in a name is a letter like any other",
		map[string]any{"a": map[string]any{"b": 1}},
		[]store.Update{field(2, "a.b")},
		map[string]any{"a": map[string]any{"b": int64(1)}, "a.b": int64(2)},
	},
	{
		"maps on the way are made",
		map[string]any{},
		[]store.Update{field(1, "a", "b", "c"), field(2, "a", "d")},
		map[string]any{"a": map[string]any{"b": map[string]any{"c": int64(1)}, "d": int64(2)}},
	},
	{
		"what stands in the way and is no map is replaced by one",
		map[string]any{"a": 5, "b": []any{1}, "c": nil},
		[]store.Update{field(1, "a", "x"), field(1, "b", "x"), field(1, "c", "x")},
		map[string]any{
			"a": map[string]any{"x": int64(1)}, "b": map[string]any{"x": int64(1)}, "c": map[string]any{"x": int64(1)},
		},
	},
	{
		"a map as a value replaces the whole map",
		map[string]any{"m": map[string]any{"old": 1, "kept": 2}},
		[]store.Update{field(map[string]any{"new": 3}, "m")},
		map[string]any{"m": map[string]any{"new": int64(3)}},
	},
	{
		"a list is replaced whole",
		map[string]any{"l": []any{1, 2, 3}},
		[]store.Update{field([]any{}, "l")},
		map[string]any{"l": []any{}},
	},
	{
		"the delete mark removes a field, at any depth",
		map[string]any{"a": 1, "m": map[string]any{"x": 1, "y": 2}},
		[]store.Update{field(store.Delete, "a"), field(store.Delete, "m", "x")},
		map[string]any{"m": map[string]any{"y": int64(2)}},
	},
	{
		"removing what is not there changes nothing",
		map[string]any{"a": 1, "n": 5},
		[]store.Update{field(store.Delete, "b"), field(store.Delete, "c", "d")},
		map[string]any{"a": int64(1), "n": int64(5)},
	},
	{
		"a map whose last field is removed stays, empty",
		map[string]any{"m": map[string]any{"x": 1}},
		[]store.Update{field(store.Delete, "m", "x")},
		map[string]any{"m": map[string]any{}},
	},
	{
		"null is a value and no deletion",
		map[string]any{"a": 1},
		[]store.Update{field(nil, "a")},
		map[string]any{"a": nil},
	},
}

func updatePromises() (out []promise) {
	for _, row := range updateRows {
		out = append(out, promise{row.name, func(t *testing.T, s store.Store) {
			set(t, s, doc, row.before)
			set(t, s, "books/two", row.before)
			run(t, s, func(tx store.Tx) error { return tx.Update(doc, row.updates...) })
			wantFields(t, s, doc, row.after)
			run(t, s, func(tx store.Tx) error { return tx.Merge("books/two", row.updates...) })
			wantFields(t, s, "books/two", row.after)
		}})
	}
	return out
}

var writes = append(updatePromises(), []promise{
	{"create writes a new document, and refuses one that is there", func(t *testing.T, s store.Store) {
		run(t, s, func(tx store.Tx) error { return tx.Create(doc, map[string]any{"n": 1}) })
		refused(t, s, fault.Conflict, func(tx store.Tx) error { return tx.Create(doc, map[string]any{"n": 2}) })
		wantFields(t, s, doc, map[string]any{"n": int64(1)})
	}},
	{"set replaces a whole document", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"a": 1, "m": map[string]any{"x": 1}})
		set(t, s, doc, map[string]any{"m": map[string]any{"y": 2}})
		wantFields(t, s, doc, map[string]any{"m": map[string]any{"y": int64(2)}})
	}},
	{"documents are ordered by the commits that made them, where the driver keeps that", checkMade},
	{"update refuses a document that is not there", func(t *testing.T, s store.Store) {
		refused(t, s, fault.NotFound, func(tx store.Tx) error { return tx.Update(doc, field(1, "a")) })
		wantFields(t, s, doc, nil)
	}},
	{"merge makes a document that is not there", func(t *testing.T, s store.Store) {
		run(t, s, func(tx store.Tx) error {
			return tx.Merge(doc, field(1, "a", "b"), field(store.Delete, "c"))
		})
		wantFields(t, s, doc, map[string]any{"a": map[string]any{"b": int64(1)}})
	}},
	{"delete removes a document and not what lies below it", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{})
		set(t, s, doc.Doc("notes", "n"), map[string]any{"kept": true})
		run(t, s, func(tx store.Tx) error { return tx.Delete(doc) })
		wantFields(t, s, doc, nil)
		wantFields(t, s, doc.Doc("notes", "n"), map[string]any{"kept": true})
		run(t, s, func(tx store.Tx) error { return tx.Create(doc, map[string]any{"again": true}) })
	}},
	{"deleting what is not there is no error", func(t *testing.T, s store.Store) {
		run(t, s, func(tx store.Tx) error { return tx.Delete(doc) })
	}},
	{"writes of one transaction to one document follow each other", func(t *testing.T, s store.Store) {
		run(t, s, func(tx store.Tx) error {
			if err := tx.Create(doc, map[string]any{"a": 1, "b": 1}); err != nil {
				return err
			}
			if err := tx.Update(doc, field(2, "a")); err != nil {
				return err
			}
			return tx.Merge(doc, field(3, "c"), field(store.Delete, "b"))
		})
		wantFields(t, s, doc, map[string]any{"a": int64(2), "c": int64(3)})
		run(t, s, func(tx store.Tx) error {
			if err := tx.Delete(doc); err != nil {
				return err
			}
			return tx.Set(doc, map[string]any{"new": true})
		})
		wantFields(t, s, doc, map[string]any{"new": true})
	}},
	{"what a write of a transaction demands is asked of what the writes before it left", checkDemands},
	{"one refused write refuses all of them", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"n": 1})
		refused(t, s, fault.NotFound, func(tx store.Tx) error {
			if err := tx.Update(doc, field(2, "n")); err != nil {
				return err
			}
			if err := tx.Delete("books/two"); err != nil {
				return err
			}
			return tx.Update("books/absent", field(1, "n"))
		})
		wantFields(t, s, doc, map[string]any{"n": int64(1)})
	}},
}...)

// checkDemands writes to one document twice in a transaction.
func checkDemands(t *testing.T, s store.Store) {
	create := func(tx store.Tx) error { return tx.Create(doc, map[string]any{"n": 1}) }
	replace := func(tx store.Tx) error { return tx.Set(doc, map[string]any{"n": 2}) }
	update := func(tx store.Tx) error { return tx.Update(doc, field(3, "m")) }
	merge := func(tx store.Tx) error { return tx.Merge(doc, field(4, "m")) }
	remove := func(tx store.Tx) error { return tx.Delete(doc) }
	for _, row := range []struct {
		name          string
		there         bool
		first, second func(store.Tx) error
		refused       fault.Kind // 0: not
		after         map[string]any
	}{
		{"created twice", false, create, create, fault.Conflict, nil},
		{"set and created", false, replace, create, fault.Conflict, nil},
		{"merged and created", false, merge, create, fault.Conflict, nil},
		{"created and updated", false, create, update, 0, map[string]any{"n": int64(1), "m": int64(3)}},
		{"merged and updated", false, merge, update, 0, map[string]any{"m": int64(3)}},
		{"deleted and updated", true, remove, update, fault.NotFound, map[string]any{"old": true}},
		{"deleted and created", true, remove, create, 0, map[string]any{"n": int64(1)}},
		{"deleted and merged", true, remove, merge, 0, map[string]any{"m": int64(4)}},
		{"set and deleted", false, replace, remove, 0, nil},
		{"updated and deleted", true, update, remove, 0, nil},
		{"updated and set", true, update, replace, 0, map[string]any{"n": int64(2)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.there {
				set(t, s, doc, map[string]any{"old": true})
			} else {
				run(t, s, remove)
			}
			both := func(tx store.Tx) error {
				if err := row.first(tx); err != nil {
					return err
				}
				return row.second(tx)
			}
			if row.refused == 0 {
				run(t, s, both)
			} else {
				refused(t, s, row.refused, both)
			}
			wantFields(t, s, doc, row.after)
		})
	}
}

// checkMade holds what Document.Made says, by a list and by a query.
func checkMade(t *testing.T, s store.Store) {
	first, second, later := book.Doc("notes", "1"), book.Doc("notes", "2"), book.Doc("notes", "3")
	made := func(path store.Path) int64 {
		t.Helper()
		document, err := s.Get(t.Context(), path)
		must(t, err)
		for _, found := range ask(t, s, byRank.With().Below(book)) {
			if found.Path == path && (found.Made != document.Made || found.Written != document.Written) {
				t.Fatalf("%s was made at %d and written at %d by a list, and at %d and %d by a query", path, document.Made,
					document.Written, found.Made, found.Written)
			}
		}
		return document.Made
	}
	untouched := func(path store.Path) bool {
		t.Helper()
		document, err := s.Get(t.Context(), path)
		must(t, err)
		return document.Written == document.Made
	}
	run(t, s, func(tx store.Tx) error {
		if err := tx.Create(second, map[string]any{"rank": 2}); err != nil {
			return err
		}
		return tx.Create(first, map[string]any{"rank": 1})
	})
	set(t, s, later, map[string]any{"rank": 3})
	before := made(first)
	if before == 0 { // not kept
		if got := made(later); got != 0 {
			t.Fatalf("one document has %d, another none", got)
		}
		return
	}
	if got := made(second); got != before {
		t.Fatalf("one commit made documents at %d and %d", before, got)
	}
	if !untouched(first) || !untouched(second) || !untouched(later) {
		t.Fatal("documents that nobody wrote again were written later than made")
	}
	if got := made(later); got <= before {
		t.Fatalf("a later one was made at %d, the first at %d", got, before)
	}
	run(t, s, func(tx store.Tx) error { return tx.Update(first, field(4, "rank")) })
	set(t, s, second, map[string]any{"rank": 5})
	if made(first) != before || made(second) != before {
		t.Fatalf("after an update it was made at %d, after a set at %d, and before at %d", made(first), made(second), before)
	}
	if untouched(first) || untouched(second) || !untouched(later) {
		t.Fatal("documents that were written again do not tell")
	}
	latest := made(later)
	run(t, s, func(tx store.Tx) error { return tx.Delete(first) })
	if got := made(first); got != 0 {
		t.Fatalf("one that is not there was made at %d", got)
	}
	set(t, s, first, map[string]any{"rank": 1})
	if got := made(first); got <= latest {
		t.Fatalf("made again, it was made at %d, and another before at %d", got, latest)
	}
}
