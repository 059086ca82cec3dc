package main

import "maps"

// shrink leaves out of a history that fails every deed without which it still
// fails, and gives the history that is left.
func shrink(h history) history {
	for again := true; again; {
		again = false
		for i := range h.deeds {
			if h.without[i] {
				continue
			}
			without := maps.Clone(h.without)
			if without == nil {
				without = map[int]bool{}
			}
			without[i] = true
			if less := live(h.seed, without); len(less.problems) > 0 {
				h, again = less, true
			}
		}
	}
	return h
}
