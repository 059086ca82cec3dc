package worldtest

import (
	"context"
	"slices"
	"time"
)

// deadline is a context that ends by the world's clock: what was made of it by context.WithTimeout
// counts on no clock of the machine, and one seed stays one history.
type deadline struct {
	context.Context
	at   time.Time
	done chan struct{}
	// after are called at the end, for contexts that were made of this one.
	after []func()
}

// within is the world's context for so long.
func (w *World) within(d time.Duration) context.Context {
	made := &deadline{Context: w.ctx, at: w.Clock.Now().Add(d), done: make(chan struct{})}
	w.deadlines = append(w.deadlines, made)
	return made
}

// endDeadlines ends the contexts whose time is over.
func (w *World) endDeadlines() {
	now := w.Clock.Now()
	w.deadlines = slices.DeleteFunc(w.deadlines, func(d *deadline) bool {
		if now.Before(d.at) {
			return false
		}
		close(d.done)
		for _, end := range d.after {
			end()
		}
		return true
	})
}

// Deadline implements context.Context: long ago, so that no context made of this one has another.
func (d *deadline) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.done }

// Err implements context.Context.
func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// AfterFunc has package context end what is made of this context without a goroutine.
func (d *deadline) AfterFunc(end func()) (stop func() bool) {
	d.after = append(d.after, end)
	return func() bool { return false }
}

// inTime is through for a call that ends with its context: where that is over before, it has no
// effect, and where it is over after, nobody hears of the effect.
func inTime[T any](ctx context.Context, p *ports, call string, do func() (T, error)) (T, error) {
	var nothing T
	result, err := through(p, call, func() (T, error) {
		if ctx.Err() != nil {
			return nothing, errTimedOut
		}
		return do()
	})
	if err == nil && ctx.Err() != nil {
		return nothing, errTimedOut
	}
	return result, err
}
