package main

import (
	"context"
	"sync"
	"time"

	"questscheduler/internal/store"
)

// How whether the server can work is asked.
const (
	// readyPatience is how long store and queue may take together.
	readyPatience = 5 * time.Second
	// readyKept is for how long an answer is given again: everybody may ask, and
	// with Firestore and Cloud Tasks each time costs a read and a call.
	readyKept = 2 * time.Second
)

// readiness is the latest answer to whether the server can work.
type readiness struct {
	mu      sync.Mutex
	failure error
	until   time.Time
}

// isReady tells why the server cannot work: the store or the queue does not
// answer. Many who ask at once ask them once.
func (s *server) isReady(ctx context.Context) error {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if left := s.ready.until.Sub(s.now()); left > 0 && left <= readyKept { // further ahead: the clock was set back
		return s.ready.failure
	}
	patient, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	err := s.answers(patient)
	if ctx.Err() == nil { // else it says nothing of the two
		s.ready.failure, s.ready.until = err, s.now().Add(readyKept)
	}
	return err
}

func (s *server) answers(ctx context.Context) error {
	if _, err := s.store.Get(ctx, store.Doc("health", "readiness")); err != nil {
		return err
	}
	if s.tasks != nil {
		return s.tasks.Answers(ctx)
	}
	_, err := s.queue.Depths(ctx)
	return err
}
