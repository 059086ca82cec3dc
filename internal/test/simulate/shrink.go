package main

import "maps"

// shrink removes from a failing history every step, and every concurrent operation,
// without which it still fails, and returns the remaining history.
func shrink(h history) history {
	for again := true; again; {
		again = false
		for _, each := range h.steps {
			if h.without[each] {
				continue
			}
			without := maps.Clone(h.without)
			if without == nil {
				without = map[stepKey]bool{}
			}
			without[each] = true
			if less := live(h.seed, without); len(less.problems) > 0 {
				h, again = less, true
			}
		}
	}
	return h
}
