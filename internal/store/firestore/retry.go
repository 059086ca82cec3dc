package firestore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The pauses between attempts double, with full jitter.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 3 * time.Second
)

// patiently retries a call while its error is temporary: until ctx's deadline, or for
// s.patience where it has none; but only for s.silence while Firestore does not answer,
// since the caller may block others until then. The error it returns is explained.
func (s *Store) patiently(ctx context.Context, call func(context.Context) error) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(s.patience)
	}
	var silent time.Time // since when Firestore has not answered; zero: it answers
	for bound := firstPause; ; bound = min(2*bound, lastPause) {
		err := call(ctx)
		var own *final
		switch {
		case err == nil:
			return nil
		case errors.As(err, &own):
			return own.error
		case !again(err):
			return s.explain(ctx, err)
		}
		now, end := time.Now(), deadline
		switch {
		case contended(err):
			silent = time.Time{}
		case silent.IsZero(): // not the call's begin: it may have waited on a dead connection
			silent = now
		}
		if over := silent.Add(s.silence); !silent.IsZero() && over.Before(end) {
			end = over
		}
		pause := rand.N(bound) //nolint:gosec // jitter is no secret
		if now.Add(pause).After(end) || s.pause(ctx, pause) != nil {
			return s.explain(ctx, err)
		}
	}
}

// pause waits; it ends early with ctx or the store.
func (s *Store) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.closed:
	}
	return s.open(ctx)
}
