package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

func newest(name, collection string) *store.Query {
	return &store.Query{
		Name: name, Collection: collection, Group: true, Filters: []store.Filter{store.Where("ownerId", store.Equal)},
		Order: []store.Order{{Path: store.Field("at"), Descending: true}},
	}
}

// merging is a store with two collections of notes, whose times are often the same.
func merging(t *testing.T, times ...int) (documents store.Store, merged store.Merged[string], put func(path store.Path, second int)) {
	t.Helper()
	first, second := newest("first", "notes"), newest("second", "alerts")
	documents, err := memorystore.Open([]*store.Query{first, second})
	if err != nil {
		t.Fatal(err)
	}
	put = func(path store.Path, second int) {
		t.Helper()
		if err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Set(path, map[string]any{"ownerId": "gm", "at": time.Unix(int64(second), 0).UTC()})
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i, second := range times {
		if i%2 == 0 {
			put(store.Doc("zoos", fmt.Sprint("z", i%3)).Doc("notes", fmt.Sprintf("n%02d", i)), second)
		} else {
			put(store.Doc("arks", fmt.Sprint("a", i%3)).Doc("alerts", fmt.Sprintf("n%02d", i)), second)
		}
	}
	name := func(doc store.Document) string {
		return fmt.Sprint(doc.Data["at"].(time.Time).Unix(), " ", doc.Path.Collection(), " ", doc.Path.ID())
	}
	return documents, store.Merged[string]{First: first.With("gm"), Second: second.With("gm"), DecodeFirst: name, DecodeSecond: name}, put
}

// pages walks the whole list in pages, and calls between after each.
func pages(t *testing.T, documents store.Store, merged store.Merged[string], limit int, between func()) (all []string) {
	t.Helper()
	var after *store.Cursor
	for range 100 {
		next, err := merged.Walk(t.Context(), documents, store.Paging{Limit: limit, After: after}, func(one string) (bool, error) {
			all = append(all, one)
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if next == nil {
			return all
		}
		after = next
		between()
	}
	t.Fatal("the list does not end")
	return nil
}

func TestMerged_InPagesOfAnySize_IsOneList(t *testing.T) {
	t.Parallel()
	documents, merged, _ := merging(t, 5, 5, 5, 4, 4, 5, 1, 1, 2, 2, 2, 2, 7, 1, 7, 9, 3, 3)
	whole := pages(t, documents, merged, 100, func() {})
	if len(whole) != 18 {
		t.Fatalf("the list has %d: %v", len(whole), whole)
	}
	times := func(a, b string) int { return int(b[0]) - int(a[0]) }
	if !slices.IsSortedFunc(whole, times) {
		t.Errorf("the list is not newest first: %v", whole)
	}
	for limit := 1; limit < 20; limit++ {
		if got := pages(t, documents, merged, limit, func() {}); !slices.Equal(got, whole) {
			t.Errorf("in pages of %d: %v, want %v", limit, got, whole)
		}
	}
}

func TestMerged_NewerDocumentsDuringPaging_ChangeNothingBehind(t *testing.T) {
	t.Parallel()
	for limit := 1; limit < 6; limit++ {
		documents, merged, put := merging(t, 5, 3, 5, 4, 1, 2)
		whole, n := pages(t, documents, merged, 100, func() {}), 0
		got := pages(t, documents, merged, limit, func() {
			n++
			put(store.Doc("arks", "new").Doc("alerts", fmt.Sprint("x", n)), 8)
			put(store.Doc("zoos", "new").Doc("notes", fmt.Sprint("x", n)), 8)
		})
		if !slices.Equal(got, whole) {
			t.Errorf("in pages of %d: %v, want %v", limit, got, whole)
		}
	}
}

func TestMerged_ARefusedDocument_BeginsTheNextPage(t *testing.T) {
	t.Parallel()
	documents, merged, _ := merging(t, 5, 4, 3)
	var got []string
	take := func(most int) func(string) (bool, error) {
		return func(one string) (bool, error) {
			most--
			if most < 0 {
				return false, nil
			}
			got = append(got, one)
			return true, nil
		}
	}
	next, err := merged.Walk(t.Context(), documents, store.Paging{Limit: 10}, take(1))
	if err != nil || next == nil {
		t.Fatal(next, err)
	}
	next, err = merged.Walk(t.Context(), documents, store.Paging{Limit: 10, After: next}, take(9))
	if err != nil || next != nil || len(got) != 3 {
		t.Errorf("%v, %v, %v", got, next, err)
	}
}
