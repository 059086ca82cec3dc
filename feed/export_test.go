package feed

import "strconv"

// Nearest is nearest.
var Nearest = nearest

// TagOf is tagOf, and Format the version of Render's output in it.
var TagOf = tagOf

// Format is format.
const Format = format

// MaxReading is maxReading.
const MaxReading = maxReading

// MaxKeptBytes is maxKeptBytes.
const MaxKeptBytes = maxKeptBytes

// MostBytes is how large a feed of sessions may be.
func MostBytes(sessions []Session) int {
	most := mostFixed
	for _, s := range sessions {
		most += s.mostBytes()
	}
	return most
}

// Kept is how many feeds a service remembers, and how much of their texts, as counted and as it is.
func (s *Service) Kept() (feeds, counted, bytes int) {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	for e := s.kept.order.Front(); e != nil; e = e.Next() {
		bytes += len(e.Value.(*reading).text)
	}
	return len(s.kept.feeds), s.kept.bytes, bytes
}

// Turns is how many feeds are being read, or waited for.
func (s *Service) Turns() int {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	return len(s.turns.feeds)
}

// MaxKept is maxKept.
const MaxKept = maxKept

// KeptOf is how many of so many feeds are remembered, and whether the first and the last are.
func KeptOf(count int) (feeds int, first, last bool) {
	var k kept
	for i := range count {
		k.keep(strconv.Itoa(i), reading{rendered: true})
	}
	return k.order.Len(), k.find("0") != nil, k.find(strconv.Itoa(count-1)) != nil
}
