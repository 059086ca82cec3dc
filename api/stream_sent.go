package api

import (
	"maps"
	"slices"
	"sync"

	"questscheduler/internal/store/changes"
)

// maxSent is how many polls a stream remembers: those that a recheck lists
// (poll.MostConcerning), and the others that changed last.
const maxSent = 150

// sentPoll is what a stream sent of a poll, or found when it began.
type sentPoll struct {
	document string // documentHash
	answer   string // answerHash; "": slots and votes were not read yet
	below    bool   // slots or votes were written since
}

// sentPolls are the polls that a stream knows. The stream alone writes them; the
// dispatcher calls wants.
type sentPolls struct {
	mu       sync.Mutex
	learning bool // the first recheck has not ended
	polls    map[string]sentPoll
	listed   map[string]bool // by the last recheck
	oldest   []string        // ids of polls, first sent first
}

func newSentPolls() *sentPolls {
	return &sentPolls{learning: true, polls: map[string]sentPoll{}}
}

// wants reports whether the stream must receive a change of a poll that may not
// concern its person. It records that slots or votes of a known poll were written,
// which a comparison of documents would miss if the change is lost.
func (s *sentPolls) wants(change changes.Change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, known := s.polls[change.Poll]
	if known {
		sent.below = sent.below || change.Parts
		s.polls[change.Poll] = sent
	}
	return known || s.learning
}

func (s *sentPolls) get(id string) (sent sentPoll, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, known = s.polls[id]
	return sent, known
}

// begin returns what was sent of a poll, and resets below.
func (s *sentPolls) begin(id string) (before sentPoll, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known = s.polls[id]
	s.put(id, sentPoll{document: before.document, answer: before.answer})
	return before, known
}

// set records what was sent of a poll, and keeps below.
func (s *sentPolls) set(id string, sent sentPoll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent.below = s.polls[id].below
	s.put(id, sent)
}

// put drops the oldest poll that the last recheck did not list, if there is no room.
func (s *sentPolls) put(id string, sent sentPoll) {
	if _, known := s.polls[id]; !known {
		s.oldest = append(s.oldest, id)
	}
	s.polls[id] = sent
	if len(s.oldest) <= maxSent {
		return
	}
	unlisted := slices.IndexFunc(s.oldest, func(id string) bool { return !s.listed[id] })
	delete(s.polls, s.oldest[unlisted])
	s.oldest = slices.Delete(s.oldest, unlisted, unlisted+1)
}

func (s *sentPolls) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.polls, id)
	s.oldest = slices.DeleteFunc(s.oldest, func(other string) bool { return other == id })
}

// list records which polls a recheck listed, and returns the other known ones in
// order.
func (s *sentPolls) list(listed map[string]bool) (others []string) {
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

// learned ends the time in which the stream wants every change.
func (s *sentPolls) learned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learning = false
}
