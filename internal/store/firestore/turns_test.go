package firestore

import (
	"context"
	"testing"
	"testing/synctest"

	"questscheduler/internal/store"
)

func paths(of ...store.Path) []store.Path { return of }

func TestTurns_ClaimedPaths_AreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all turns
		release := all.claim(t.Context(), paths("a/1", "a/2"))
		order := make(chan string, 3)
		go func() {
			defer all.claim(t.Context(), paths("a/2", "a/3"))()
			order <- "claimed"
		}()
		go func() {
			all.await(t.Context(), []store.Path{"a/1"})
			order <- "begun"
		}()
		synctest.Wait()
		all.claim(t.Context(), paths("a/4"))() // another's is nobody's concern
		all.await(t.Context(), []store.Path{"a/3"})
		order <- "released"
		release()
		synctest.Wait()
		if first := <-order; first != "released" || len(order) != 2 {
			t.Fatalf("%s came first, then %d", first, len(order))
		}
		if len(all.claimed) != 0 {
			t.Fatalf("%v is claimed for ever", all.claimed)
		}
	})
}

func TestTurns_ClaimIsNotReleased_WaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all turns
		release := all.claim(t.Context(), paths("a/1"))
		all.claim(t.Context(), paths("a/1"))() // without it, after a while
		ended, end := context.WithCancel(t.Context())
		end()
		all.claim(ended, paths("a/1"))()
		if all.claimed["a/1"] == nil {
			t.Fatal("who did not wait to the end took the claim away")
		}
		release()
		if len(all.claimed) != 0 {
			t.Fatal("the claim was not given back")
		}
	})
}

// A query touches its whole collection, and a document in it so each query.
func TestTurns_CollectionAndItsDocuments_Conflict(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		claimed, wanted store.Path
		busy            bool
	}{
		"the same collection":          {"a", "a", true},
		"a document of it":             {"a", "a/1", true},
		"the collection of a document": {"a/1", "a", true},
		"another document":             {"a/1", "a/2", false},
		"another collection":           {"a", "b", false},
		"a collection below":           {"a", "a/1/b", false},
		"a document below":             {"a", "a/1/b/2", false},
		"a document below, from there": {"a/1/b/2", "a/1/b", true},
		"its namesake below another":   {"a/1/b", "a/2/b", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all turns
			release := all.claim(t.Context(), paths(row.claimed))
			if got := all.busy(row.wanted); got != row.busy {
				t.Errorf("%s is busy: %v, while %s is claimed", row.wanted, got, row.claimed)
			}
			release()
			if all.busy(row.wanted) {
				t.Error("it is busy for ever")
			}
		})
	}
}
