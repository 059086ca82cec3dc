package api

import (
	"sync"
)

// streaming counts the streams that people have open. Its zero value is ready.
type streaming struct {
	mu   sync.Mutex
	open map[string]int
}

// enter counts one more, until leave is called.
func (s *streaming) enter(person string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[person] >= maxStreams {
		return nil, errTooFast(recheckEvery)
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	s.open[person]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[person]--; s.open[person] == 0 {
			delete(s.open, person)
		}
	}, nil
}
