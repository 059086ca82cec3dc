package memorystore

import (
	"bytes"
	"slices"

	"questscheduler/internal/store"
)

// sorted is the entries of one index below one parent, in the order of their
// keys.
type sorted []item

type item struct {
	key  []byte
	path store.Path
}

func (s sorted) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(s, key, func(it item, key []byte) int { return bytes.Compare(it.key, key) })
}

func (s sorted) with(key []byte, path store.Path) sorted {
	at, found := s.find(key)
	if found {
		return s
	}
	return slices.Insert(s, at, item{key, path})
}

func (s sorted) without(key []byte) sorted {
	at, found := s.find(key)
	if !found {
		return s
	}
	return slices.Delete(s, at, at+1)
}

// between gives the entries from one key up to, and without, another (nil: to
// the end), at most limit of them (0: all).
func (s sorted) between(from, to []byte, limit int) []item {
	start, _ := s.find(from)
	end := len(s)
	if to != nil {
		end, _ = s.find(to)
	}
	if limit > 0 {
		end = min(end, start+limit)
	}
	return s[start:max(start, end)]
}
