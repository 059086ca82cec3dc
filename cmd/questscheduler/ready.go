package main

import (
	"context"
	"errors"
	"time"

	"questscheduler/internal/store"
)

const (
	// readyPatience is how long store and Cloud Tasks may take together.
	readyPatience = 5 * time.Second
	// readyKept is for how long an answer is given again: everybody may ask, and
	// with Firestore and Cloud Tasks each time costs a read and a call.
	readyKept = 2 * time.Second
)

// isReady says why the server cannot work: the store or Cloud Tasks does not answer.
// Requests that ask at once ask them once.
func (s *server) isReady(ctx context.Context) error {
	failure, err := s.ready.Get(ctx, s.now(), readyKept, func(ctx context.Context) (failure, left error) {
		patient, cancel := context.WithTimeout(ctx, readyPatience)
		defer cancel()
		return s.answers(patient), ctx.Err() // a caller that left says nothing of the two
	})
	return errors.Join(failure, err)
}

func (s *server) answers(ctx context.Context) error {
	if _, err := s.store.Get(ctx, store.Doc("health", "readiness")); err != nil {
		return err
	}
	if s.tasks != nil {
		return s.tasks.Answers(ctx)
	}
	return nil
}
