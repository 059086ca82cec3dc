package firestore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The pauses between attempts: they double, and each is drawn between nothing
// and its bound, so that those who met once do not meet again.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 3 * time.Second
)

// patiently makes a call again while it fails for what may pass, until ctx's
// deadline, or where it has none for s.patience; where Firestore does not answer
// for s.silence alone, since whoever waits for it then holds up others. The error
// it gives is explained.
func (s *Store) patiently(ctx context.Context, call func(context.Context) error) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(s.patience)
	}
	var silent time.Time // since when Firestore does not answer; zero: it does
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
		case silent.IsZero(): // not from its beginning: a first call may have waited on a connection that was dead
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

// pause waits, or ends with ctx or the store.
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
