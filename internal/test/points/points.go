// Package points ends a program, or has a call go unanswered, at each point where calls
// leave it: the store, the queue, Google.
package points

import (
	"context"
	"runtime"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

// Points counts the calls that leave the program, each before it has an effect and after,
// and ends the program at one of them. It is for one goroutine.
type Points struct {
	passed int
	// at is the point (from 1) where do runs; 0: none.
	at int
	do func() error
}

func (p *Points) pass() error {
	p.passed++
	if p.passed == p.at {
		return p.do()
	}
	return nil
}

// Die ends the program here and now, as far as Survives reaches: no recover holds it up.
func Die() { runtime.Goexit() }

// DieAt has the program end at its nth point from now on; 0: at none. Survives contains it.
func (p *Points) DieAt(n int) {
	p.DoAt(n, func() error {
		Die()
		return nil
	})
}

// FailAt has the call at the nth point from now on go unanswered (Unavailable): before its
// effect, or after it; 0: at none.
func (p *Points) FailAt(n int) {
	p.DoAt(n, func() error { return fault.New(fault.Unavailable, "it did not answer") })
}

// DoAt has do run at the nth point from now on; its error is that of the call there.
func (p *Points) DoAt(n int, do func() error) { p.passed, p.at, p.do = 0, n, do }

// Reached reports whether the point was passed.
func (p *Points) Reached() bool { return p.passed >= p.at }

// TB is the part of testing.TB that Struck needs.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Struck says at how many points of a flow something happened, in the line that `make points`
// looks for. Fewer than least fail the test: a loop that ended too early proves nothing.
func Struck(t TB, n, least int) {
	t.Helper()
	t.Logf("points: %4d  %s", n, t.Name())
	if n < least {
		t.Errorf("only %d points were struck, want %d at least", n, least)
	}
}

// Survives reports whether the program lived through do, which runs in a goroutine of its own.
// A panic is passed on; a test that ends in do ends there alone.
func Survives(do func()) (lived bool) {
	var panicked any
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { panicked = recover() }()
		do()
		lived = true
	}()
	<-ended
	if panicked != nil {
		panic(panicked)
	}
	return lived
}

// Pass is a call that leaves the program, with a point before it and one after it.
func Pass[T any](p *Points, do func() (T, error)) (T, error) {
	var none T
	if err := p.pass(); err != nil {
		return none, err
	}
	answer, err := do()
	if err := p.pass(); err != nil {
		return none, err
	}
	return answer, err
}

// Store has points at its transactions.
type Store struct {
	store.Store
	Points *Points
}

// Run implements store.Store.
func (s *Store) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	_, err := Pass(s.Points, func() (any, error) { return nil, s.Store.Run(ctx, fn) })
	return err
}

// Waker has points where entries are woken.
type Waker struct {
	outbox.Waker
	Points *Points
}

// Wake implements outbox.Waker.
func (w *Waker) Wake(ctx context.Context, kind, id, name string, at time.Time) error {
	_, err := Pass(w.Points, func() (any, error) { return nil, w.Waker.Wake(ctx, kind, id, name, at) })
	return err
}
