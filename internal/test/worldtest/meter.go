package worldtest

import (
	"net/http"
	"time"

	"questscheduler/demo/sim/control"
)

// Spent is where the real time of a world went.
type Spent struct {
	// Program is that of the program with its store and queue, and of what the
	// test does itself; Simulator that of Google; Checks that of the invariants,
	// with what they ask of the simulator.
	Program, Simulator, Checks time.Duration
}

// Add is the time of both.
func (s Spent) Add(other Spent) Spent {
	return Spent{s.Program + other.Program, s.Simulator + other.Simulator, s.Checks + other.Checks}
}

// Spent is where the time went so far.
func (w *World) Spent() Spent {
	w.meter.turn(w.meter.now)
	return Spent{w.meter.spent[program], w.meter.spent[simulator], w.meter.spent[checks]}
}

// part of the time.
type part int

const (
	program part = iota
	simulator
	checks
	parts
)

// meter adds up real time. Nothing in a world depends on it.
type meter struct {
	now   part
	since time.Time
	spent [parts]time.Duration
}

func (m *meter) begin() { m.since = time.Now() }

// turn has the time from here on be another part's, and gives the part that it
// was before. What the checks ask for stays theirs.
func (m *meter) turn(to part) (before part) {
	at := time.Now()
	m.spent[m.now] += at.Sub(m.since)
	before, m.now, m.since = m.now, to, at
	return before
}

// transport is the way to Google.
func (w *World) transport() http.RoundTripper {
	served := control.Transport(w.Google.Handler())
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if w.meter.now != checks {
			defer w.meter.turn(w.meter.turn(simulator))
		}
		return served.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
