package poll_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// countedReader counts the documents that queries read, and does something between
// two of them.
type countedReader struct {
	store.Store
	documents int
	between   func()
}

func (r *countedReader) Query(ctx context.Context, asked store.Bound) ([]store.Document, error) {
	docs, err := r.Store.Query(ctx, asked)
	r.documents += len(docs)
	if r.between != nil {
		r.between()
	}
	return docs, err
}

// groupsOfAna makes n groups that ana created, belongs to and is invited to in turn;
// every sixth names her in all three ways, and each has a neighbour that is none of
// hers.
func groupsOfAna(t *testing.T, n int) (reader *countedReader, ids []string) {
	t.Helper()
	documents, err := memorystore.Open(poll.Queries)
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range n {
			id := fmt.Sprintf("g%03d", i)
			ids = append(ids, id)
			group := map[string]any{"creatorId": "gm", "memberIds": []any{"gm"}, "pendingMemberIds": []any{"cho"}}
			if err := tx.Create(poll.GroupPath(id+"-other"), group); err != nil {
				return err
			}
			if i%3 == 0 || i%6 == 5 {
				group["creatorId"] = "ana"
			}
			if i%3 == 1 || i%6 == 5 {
				group["memberIds"] = []any{"gm", "ana"}
			}
			if i%3 == 2 {
				group["pendingMemberIds"] = []any{"cho", "ana"}
			}
			if err := tx.Create(poll.GroupPath(id), group); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &countedReader{Store: documents}, ids
}

// walkAll reads ana's groups in pages of a limit.
func walkAll(t *testing.T, reader store.Reader, limit int) (ids []string) {
	t.Helper()
	var after *store.Cursor
	for range 1000 {
		page := 0
		next, err := poll.WalkGroups(t.Context(), reader, "ana", store.Paging{Limit: limit, After: after}, func(g poll.Group) (bool, error) {
			ids = append(ids, g.ID)
			page++
			return true, nil
		})
		if err != nil || page > limit {
			t.Fatalf("%d groups, %v", page, err)
		}
		if next == nil {
			return ids
		}
		after = next
	}
	t.Fatal("the pages do not end")
	return nil
}

func TestWalkGroups_InPages_GivesEachOnceSorted(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 10, 35} {
		reader, want := groupsOfAna(t, n)
		for _, limit := range []int{1, 2, 7, 10, 100} {
			if got := walkAll(t, reader, limit); !slices.Equal(got, want) {
				t.Errorf("%d groups in pages of %d: %v", n, limit, got)
			}
		}
	}
}

func TestWalkGroups_OfAPage_ReadsPartsOfTheLists(t *testing.T) {
	t.Parallel()
	for limit, most := range map[int]int{1: 3, 5: 15, 20: 60} {
		reader, _ := groupsOfAna(t, 300)
		_, err := poll.WalkGroups(t.Context(), reader, "ana", store.Paging{Limit: limit}, func(poll.Group) (bool, error) { return true, nil })
		if err != nil || reader.documents > most {
			t.Errorf("a page of %d reads %d documents, want %d at most (%v)", limit, reader.documents, most, err)
		}
	}
}

func TestWalkGroups_NotTaken_GoesOnThere(t *testing.T) {
	t.Parallel()
	reader, want := groupsOfAna(t, 20)
	given := 0
	next, err := poll.WalkGroups(t.Context(), reader, "ana", store.Paging{Limit: 20}, func(poll.Group) (bool, error) {
		given++
		return given <= 13, nil
	})
	if err != nil || next == nil || next.Path.ID() != want[12] {
		t.Errorf("goes on behind %v, want %s (%v)", next, want[12], err)
	}
}

// TestWalkGroups_AcceptedBetweenQueries_GivesItOnce: a group changes lists while
// they are read.
func TestWalkGroups_AcceptedBetweenQueries_GivesItOnce(t *testing.T) {
	t.Parallel()
	reader, want := groupsOfAna(t, 30)
	reader.between = func() {
		for _, id := range want {
			err := reader.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				return tx.Update(poll.GroupPath(id), poll.Set("memberIds", []any{"gm", "ana"}), poll.Set("pendingMemberIds", []any{}))
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	got := walkAll(t, reader, 100)
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("given twice: %v", got)
	}
}
