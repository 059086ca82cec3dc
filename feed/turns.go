package feed

import (
	"context"
	"fmt"
	"sync"
)

// turns has each feed read by one request at a time, and few feeds at once. The zero one is ready
// for use. Safe for concurrent use.
type turns struct {
	mu     sync.Mutex
	feeds  map[string]*turn // those that requests hold or wait for, by the hash of the secret
	places chan struct{}    // as many as feeds may be read at once
}

// turn is that of one feed.
type turn struct {
	free  chan struct{} // holds one while nobody has the turn
	users int           // who hold it or wait for it

	mu    sync.Mutex
	ended bool
}

// take waits for the turn of a feed. If it succeeds, pass must follow. The error is the context's.
func (t *turns) take(ctx context.Context, hash string) (*turn, error) {
	mine := t.join(hash)
	select {
	case <-mine.free:
		return mine, nil
	case <-ctx.Done():
		t.leave(hash, mine)
		return nil, fmt.Errorf("wait for another reading of a calendar feed: %w", context.Cause(ctx))
	}
}

// pass gives the turn to the next request.
func (t *turns) pass(hash string, mine *turn) {
	mine.free <- struct{}{}
	t.leave(hash, mine)
}

// end marks a feed as ended for who holds its turn now: what they read is not kept. A request
// that comes later begins another turn.
func (t *turns) end(hash string) {
	t.mu.Lock()
	mine := t.feeds[hash]
	delete(t.feeds, hash)
	t.mu.Unlock()
	if mine != nil {
		mine.mu.Lock()
		defer mine.mu.Unlock()
		mine.ended = true
	}
}

// unlessEnded calls keep unless the feed ended since the turn was begun; it cannot end during keep.
func (t *turn) unlessEnded(keep func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		keep()
	}
}

// reading waits for one of the places at which feeds are read; done gives it back.
func (t *turns) reading(ctx context.Context) (done func(), err error) {
	t.mu.Lock()
	if t.places == nil {
		t.places = make(chan struct{}, maxReading)
	}
	places := t.places
	t.mu.Unlock()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the reading of other calendar feeds: %w", context.Cause(ctx))
	}
}

func (t *turns) join(hash string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.feeds[hash]
	if mine == nil {
		if t.feeds == nil {
			t.feeds = map[string]*turn{}
		}
		mine = &turn{free: make(chan struct{}, 1)}
		mine.free <- struct{}{}
		t.feeds[hash] = mine
	}
	mine.users++
	return mine
}

func (t *turns) leave(hash string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine.users--
	if mine.users == 0 && t.feeds[hash] == mine {
		delete(t.feeds, hash)
	}
}
