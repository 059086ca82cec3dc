package firestore

import (
	"context"
	"testing"
	"testing/synctest"

	"questscheduler/store"
)

func paths(of ...store.Path) map[store.Path]bool {
	all := map[store.Path]bool{}
	for _, path := range of {
		all[path] = true
	}
	return all
}

func TestTurns_WhatIsClaimed_IsWaitedFor(t *testing.T) {
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

func TestTurns_AClaimThatStays_IsNotWaitedForForEver(t *testing.T) {
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
