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
// the end), or the other way round, at most limit of them (0: all).
func (s sorted) between(from, to []byte, limit int, backward bool) []item {
	start, _ := s.find(from)
	end := len(s)
	if to != nil {
		end, _ = s.find(to)
	}
	found := slices.Clone(s[start:max(start, end)])
	if backward {
		slices.Reverse(found)
	}
	if limit > 0 && limit < len(found) {
		return found[:limit]
	}
	return found
}
