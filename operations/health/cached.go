package health

import (
	"context"
	"sync"
	"time"
)

// Cached is a value that was read and is given again for a while. The zero Cached
// has none. It is safe for concurrent use: many that ask at once read once.
type Cached[T any] struct {
	mu    sync.Mutex
	value T
	until time.Time
}

// Get gives the value of the last read within keep, and otherwise reads it. A read
// that fails is repeated at the next call.
func (c *Cached[T]) Get(ctx context.Context, now time.Time, keep time.Duration, read func(context.Context) (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.until.Sub(now); left > 0 && left <= keep { // further ahead: the clock was set back
		return c.value, nil
	}
	value, err := read(ctx)
	if err == nil {
		c.value, c.until = value, now.Add(keep)
	}
	return value, err
}
