// Package control is what both simulators let a test do to them: plant faults,
// count calls, move the clock. What
// happens to a call is decided in one place, Control.Take, and carried out in
// one, Control.Wrap. Beside them stand the two things that both are built on:
// Transport serves a simulator in process, Journal keeps it over a restart.
package control

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Control holds one simulator's planted faults and counts. Faults and counts
// live in memory alone: a restart begins without. Safe for concurrent use.
type Control struct {
	clock    *Clock
	methods  []string
	describe func(*http.Request) Call

	mu    sync.Mutex
	rules []Rule
	calls map[string]int
}

// New makes the controls of a simulator on a clock. methods are the names its
// calls go by: a fault that can match none of them is refused. Without any
// methods every name is taken.
func New(clock *Clock, methods ...string) *Control {
	return &Control{clock: clock, methods: slices.Sorted(slices.Values(methods)), calls: map[string]int{}}
}

// Describe allows rules that are limited to calendars, events and sync tokens;
// without it they are refused. describe reads which of these a request names. Call
// Describe before any other method.
func (c *Control) Describe(describe func(*http.Request) Call) { c.describe = describe }

// Clock is the clock that POST /_sim/clock moves.
func (c *Control) Clock() *Clock { return c.clock }

// Plant adds a fault after those that are there. An error names the field that
// is wrong, and nothing is added.
func (c *Control) Plant(r Rule) error {
	if err := r.validate(c.methods); err != nil {
		return err
	}
	if r.limited() && c.describe == nil {
		return errors.New("calendar, event, token: no call of this simulator has them")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = append(c.rules, r)
	return nil
}

// Clear removes every planted fault.
func (c *Control) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = nil
}

// Rules are the faults still to come, oldest first, with the times left.
func (c *Control) Rules() []Rule {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.rules)
}

// Take counts one call and returns its fault. It must be called exactly once for each
// call, before the call has any effect: it uses the fault up.
func (c *Control) Take(call Call) Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call.Method]++
	var f Fault
	c.rules, f = take(c.rules, call)
	return f
}

// Calls are the counts per method since the start or the last ResetCalls, the
// calls that were refused included.
func (c *Control) Calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// ResetCalls sets every count to zero.
func (c *Control) ResetCalls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.calls)
}

// Wait holds a call up by the fault's delay, at most until ctx ends.
func (f Fault) Wait(ctx context.Context) error {
	if f.Delay <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Wrap makes the handler of one method suffer its faults: it counts the call,
// waits, and then refuses it in the simulator's own words, or answers the
// rule's, or lets it take effect and drops the answer, or simply serves it. A
// caller that has gone
// away while it was held up gets no effect.
func (c *Control) Wrap(method string, refuse func(http.ResponseWriter, *http.Request, Fault), h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call := Call{}
		if c.describe != nil {
			call = c.describe(r)
		}
		call.Method = method
		f := c.Take(call)
		if f.Wait(r.Context()) != nil {
			panic(http.ErrAbortHandler)
		}
		switch {
		case f.LostAnswer:
			h(&recorder{header: http.Header{}}, r)
			panic(http.ErrAbortHandler)
		case f.Body != "":
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(cmp.Or(f.Status, http.StatusOK))
			// The status is out; a caller that has gone away loses only the body.
			_, _ = io.WriteString(w, f.Body)
		case f.Status != 0:
			refuse(w, r, f)
		default:
			h(w, r)
		}
	}
}
