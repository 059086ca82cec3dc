package control

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Clock is a simulator's time: a base clock and an offset that only grows.
// One Clock may be shared by several simulators and by the program under test,
// so that advancing it at one of them moves them all. Safe for concurrent use.
type Clock struct {
	base func() time.Time

	mu      sync.Mutex
	offset  time.Duration
	watcher []func(offset time.Duration) error
}

// ErrBackwards refuses an advance below zero: what was stamped before must
// never lie in the future.
var ErrBackwards = errors.New("the clock only goes forward: give a positive duration such as 72h")

// NewClock makes a clock over base with no offset. A nil base is time.Now.
func NewClock(base func() time.Time) *Clock {
	if base == nil {
		base = time.Now
	}
	return &Clock{base: base}
}

// Now is the base's time plus the offset.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	offset := c.offset
	c.mu.Unlock()
	return c.base().Add(offset)
}

// Offset says how far the clock has been advanced in all.
func (c *Clock) Offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset
}

// Advance moves the clock on by d and then tells everyone who asked by
// OnAdvance, in the order they asked. A negative d is ErrBackwards and changes
// nothing. Where a listener fails the clock has moved all the same, and the
// listeners' errors are returned joined.
func (c *Clock) Advance(d time.Duration) error {
	if d < 0 {
		return ErrBackwards
	}
	c.mu.Lock()
	c.offset += d
	offset := c.offset
	watcher := c.watcher
	c.mu.Unlock()
	var failed []error
	for _, tell := range watcher {
		failed = append(failed, tell(offset))
	}
	return errors.Join(failed...)
}

// Resume goes on at the offset that an earlier process reached, and has keep
// called with each later one.
func (c *Clock) Resume(offset time.Duration, keep func(offset time.Duration) error) error {
	if err := c.Advance(offset); err != nil {
		return err
	}
	c.OnAdvance(keep)
	return nil
}

// OnAdvance has tell called after every advance with the whole offset, such as
// to keep it over a restart. tell runs without the clock's lock.
func (c *Clock) OnAdvance(tell func(offset time.Duration) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watcher = append(slices.Clip(c.watcher), tell)
}
