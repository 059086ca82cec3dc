package main

import "maps"

// shrink leaves out of a history that fails every deed, and every one of several
// things at once, without which it still fails, and gives the history that is
// left.
func shrink(h history) history {
	for again := true; again; {
		again = false
		for _, each := range h.steps {
			if h.without[each] {
				continue
			}
			without := maps.Clone(h.without)
			if without == nil {
				without = map[step]bool{}
			}
			without[each] = true
			if less := live(h.seed, without); len(less.problems) > 0 {
				h, again = less, true
			}
		}
	}
	return h
}
