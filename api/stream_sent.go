package api

import (
	"maps"
	"slices"
	"sync"

	"questscheduler/internal/store/changes"
)

// mostShown is how many polls a stream remembers: those that a recheck lists
// (poll.MostConcerning), and the others that changed last.
const mostShown = 150

// shownPoll is how a stream showed a poll last, or found it when it began.
type shownPoll struct {
	document string // documentOf it
	looks    string // see looks; "": its slots and votes were not read yet
	below    bool   // slots or votes were written since
}

// shownPolls are the polls that a stream knows. The stream alone writes them, and
// the dispatcher asks for them.
type shownPolls struct {
	mu       sync.Mutex
	learning bool // the stream has yet to find its polls
	polls    map[string]shownPoll
	listed   map[string]bool // by the last recheck
	oldest   []string        // the ids of polls, in the order of their coming
}

func newShownPolls() *shownPolls {
	return &shownPolls{learning: true, polls: map[string]shownPoll{}}
}

// wants tells whether the stream must hear of a change of a poll that may not
// concern its person. Of a poll that it knows it records that slots or votes were
// written, which no comparison of documents finds once the change is lost.
func (s *shownPolls) wants(change changes.Change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown, known := s.polls[change.Poll]
	if known {
		shown.below = shown.below || change.Below
		s.polls[change.Poll] = shown
	}
	return known || s.learning
}

func (s *shownPolls) get(id string) (shown shownPoll, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown, known = s.polls[id]
	return shown, known
}

// begin gives how a poll was shown last, and remembers the poll: what is written
// from now on is written since.
func (s *shownPolls) begin(id string) (before shownPoll, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known = s.polls[id]
	s.put(id, shownPoll{document: before.document, looks: before.looks})
	return before, known
}

// set remembers how a poll is shown.
func (s *shownPolls) set(id string, shown shownPoll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown.below = s.polls[id].below
	s.put(id, shown)
}

// put keeps a poll. Where there is no room, the oldest is forgotten that the last
// recheck did not list.
func (s *shownPolls) put(id string, shown shownPoll) {
	if _, known := s.polls[id]; !known {
		s.oldest = append(s.oldest, id)
	}
	s.polls[id] = shown
	if len(s.oldest) <= mostShown {
		return
	}
	unlisted := slices.IndexFunc(s.oldest, func(id string) bool { return !s.listed[id] })
	delete(s.polls, s.oldest[unlisted])
	s.oldest = slices.Delete(s.oldest, unlisted, unlisted+1)
}

func (s *shownPolls) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.polls, id)
	s.oldest = slices.DeleteFunc(s.oldest, func(other string) bool { return other == id })
}

// list records which polls a recheck listed, and gives the others that are known,
// sorted.
func (s *shownPolls) list(listed map[string]bool) (others []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = listed
	for _, id := range slices.Sorted(maps.Keys(s.polls)) {
		if !listed[id] {
			others = append(others, id)
		}
	}
	return others
}

// learned ends the time in which the stream hears of every change.
func (s *shownPolls) learned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learning = false
}
