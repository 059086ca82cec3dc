package api

import (
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
	"questscheduler/rules"
)

// Rate is how often somebody may ask: Burst times at once, and PerSecond times
// a second in the long run.
type Rate struct {
	PerSecond float64
	Burst     int
}

// The limits that hold where Options set none: far above what a person or a
// script that waits for its answers comes to.
var (
	defaultPersonRate  = Rate{PerSecond: 100, Burst: 1000}
	defaultAddressRate = Rate{PerSecond: 100, Burst: 1000}
	// defaultChannelRate is far above what Google pushes of one calendar. A push beyond
	// it comes a tenth of a second at most after one that was taken, so the sync of
	// that one sees its change; where that sync had begun, the sweep does.
	defaultChannelRate = Rate{PerSecond: 10, Burst: 100}
)

// maxLimited is how many people or addresses a limiter tells apart at a time.
const maxLimited = 50_000

// limiter holds many to one rate, each by themselves. Whoever has not asked for
// a while costs no memory.
type limiter struct {
	every time.Duration // between two requests in the long run
	burst int

	mu    sync.Mutex
	due   map[string]time.Time // see arrive
	swept time.Time
}

func newLimiter(rate, otherwise Rate) *limiter {
	if rate.PerSecond <= 0 || rate.Burst <= 0 {
		rate = otherwise
	}
	return &limiter{every: time.Duration(float64(time.Second) / rate.PerSecond), burst: rate.Burst, due: map[string]time.Time{}}
}

// take lets somebody ask at now, or says how long they have to wait.
func (l *limiter) take(who string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.due[who]; !known && len(l.due) >= maxLimited {
		if l.sweep(now); len(l.due) >= maxLimited {
			who = "" // all who are too many share one place
		}
	}
	l.due[who], wait = arrive(l.due[who], now, l.every, l.burst)
	return wait
}

// fits tells whether somebody is told apart from the others by take.
func (l *limiter) fits(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.due[who]; known || len(l.due) < maxLimited {
		return true
	}
	l.sweep(now)
	return len(l.due) < maxLimited
}

// giveBack takes back one that take let through.
func (l *limiter) giveBack(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due, known := l.due[who]; known {
		l.due[who] = due.Add(-l.every)
	}
}

// sweep forgets those who are as good as new, once a second at most.
func (l *limiter) sweep(now time.Time) {
	if passed := now.Sub(l.swept); passed >= 0 && passed < time.Second {
		return
	}
	l.swept = now
	for who, due := range l.due {
		if !due.After(now) {
			delete(l.due, who)
		}
	}
}

// arrive is rules.Pace.Arrive.
func arrive(due, now time.Time, every time.Duration, burst int) (next time.Time, wait time.Duration) {
	return rules.Pace{Every: every, Burst: burst}.Arrive(due, now)
}

func errTooFast(wait time.Duration) *failure {
	return &failure{
		Problem: problem{Code: codeRateLimited, Message: "That is too much at once. Wait as long as Retry-After says, and go on."},
		status:  http.StatusTooManyRequests, retryAfter: wait,
	}
}

// LimitPerson holds people who are signed in to a rate, each by themselves, for
// routes that are added to the API and answer by themselves: what it gives is asked
// for each request, and refuses with RateLimited and how long to wait.
func LimitPerson(rate Rate, now func() time.Time) func(c echo.Context, uid string) error {
	limit := limitBy(newLimiter(rate, defaultPersonRate), now)
	return func(c echo.Context, uid string) error {
		requestOf(c.Request().Context()).signedIn = true
		return limit(c, uid)
	}
}

// LimitAddress is LimitPerson for those of whom no more is known than what their
// requests come from.
func LimitAddress(rate Rate, now func() time.Time) func(c echo.Context) error {
	limit := limitBy(newLimiter(rate, defaultAddressRate), now)
	return func(c echo.Context) error { return limit(c, addressOf(c)) }
}

func limitBy(l *limiter, now func() time.Time) func(c echo.Context, who string) error {
	return func(c echo.Context, who string) error {
		if wait := l.take(who, now()); wait > 0 {
			requestOf(c.Request().Context()).code = codeRateLimited
			return &fault.Error{Kind: fault.RateLimited, Message: "That is too much at once. Wait a moment and go on.", RetryAfter: wait}
		}
		return nil
	}
}

// limitPerson holds a person who is signed in to their rate.
func (s *server) limitPerson(id string) error {
	if wait := s.people.take(id, s.Now()); wait > 0 {
		return errTooFast(wait)
	}
	return nil
}
