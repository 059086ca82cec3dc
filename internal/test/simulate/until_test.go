package main

import (
	"slices"
	"sync"
	"testing"
)

func TestUntilFailure_GivesTheFailingWorldOfTheLowestSeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		failing []uint64
		want    uint64 // 0: none
	}{
		{"no world fails", nil, 0},
		{"the first world fails", []uint64{5, 6, 7, 8}, 5},
		{"one in the middle fails", []uint64{11, 12, 13}, 11},
		{"only worlds beyond the last fail", []uint64{25, 26}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var counting sync.Mutex
			lived := map[uint64]int{}
			h, failed := untilFailure(5, 20, func(seed uint64) history {
				counting.Lock()
				defer counting.Unlock()
				lived[seed]++
				h := history{seed: seed}
				if slices.Contains(c.failing, seed) {
					h.problems = []string{"broken"}
				}
				return h
			})
			if failed != (c.want != 0) || h.seed != c.want {
				t.Errorf("got seed %d (failed: %t), want %d", h.seed, failed, c.want)
			}
			last := c.want
			if last == 0 {
				last = 24
			}
			for seed := uint64(5); seed <= last; seed++ {
				if lived[seed] != 1 {
					t.Errorf("the world of seed %d was lived through %d times", seed, lived[seed])
				}
			}
		})
	}
}
