package feed

import (
	"maps"
	"slices"
	"strconv"

	"questscheduler/internal/poll"
)

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

// KeepTexts keeps texts of so many bytes under the hashes "0", "1" and so on, the last one twice,
// and gives the sizes of those that are left, and their sum as counted.
func KeepTexts(sizes ...int) (left []int, counted int) {
	var k kept
	for i, size := range append(sizes, sizes[len(sizes)-1]) {
		k.keep(strconv.Itoa(min(i, len(sizes)-1)), reading{text: make([]byte, size), rendered: true})
	}
	for i := range sizes {
		left = append(left, len(k.last(strconv.Itoa(i)).text))
	}
	return left, k.bytes
}

// Known are the polls that a feed may hold, and what is known of their creators.
type Known struct {
	Polls                        []poll.Poll
	Consented, Creators, Fellows map[string]bool
}

// Choose gives the ids of the polls that are chosen, "?" behind those that only name ana, and
// whether some are left out.
func (k Known) Choose() (ids []string, cut bool) {
	chosen, cut := candidates{userID: "ana", polls: k.Polls, consented: k.Consented, creators: k.Creators, fellows: k.Fellows}.choose()
	for _, p := range chosen.polls {
		id := p.ID
		if chosen.named[id] {
			id += "?"
		}
		ids = append(ids, id)
	}
	return ids, cut
}

// Added are the ids of ana's candidates after lists of polls were added.
func Added(lists ...[]poll.Poll) (ids []string) {
	c := candidates{userID: "ana", makers: map[string]bool{}}
	for _, polls := range lists {
		c.add(polls)
	}
	for _, p := range c.polls {
		ids = append(ids, p.ID)
	}
	return ids
}

// Acquaintances are acquaintances.
func (k Known) Acquaintances() []string {
	return candidates{userID: "ana", polls: k.Polls, creators: k.Creators, circle: slices.Sorted(maps.Keys(k.Fellows))}.acquaintances()
}
