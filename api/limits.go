package api

import (
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/rules"
)

// Rate allows Burst requests at once, and PerSecond in the long run.
type Rate struct {
	PerSecond float64
	Burst     int
}

// The limits if Options set none: far above what a person or a script that waits
// for its answers reaches.
var (
	defaultPersonRate  = Rate{PerSecond: 100, Burst: 1000}
	defaultAddressRate = Rate{PerSecond: 100, Burst: 1000}
	// defaultChannelRate is far above Google's pushes for one calendar. A push beyond
	// it comes at most a tenth of a second after one that was accepted, so that one's
	// sync sees its change; if the sync had begun, the sweep does.
	defaultChannelRate = Rate{PerSecond: 10, Burst: 100}
)

// maxLimited is how many clients a limiter tells apart.
const maxLimited = 50_000

// limiter holds each of many clients to one pace. An idle client costs no memory.
type limiter struct {
	pace rules.Pace

	mu    sync.Mutex
	due   map[string]time.Time // see rules.Pace.Arrive
	swept time.Time
}

func newLimiter(rate, otherwise Rate) *limiter {
	if rate.PerSecond <= 0 || rate.Burst <= 0 {
		rate = otherwise
	}
	return pacedLimiter(rules.Pace{Every: time.Duration(float64(time.Second) / rate.PerSecond), Burst: rate.Burst})
}

func pacedLimiter(pace rules.Pace) *limiter {
	return &limiter{pace: pace, due: map[string]time.Time{}}
}

// take counts a request of a client, or returns how long the client has to wait.
// Overflow clients share one bucket.
func (l *limiter) take(client string, now time.Time) time.Duration {
	wait, full := l.tryTake(client, now)
	if full {
		wait, _ = l.tryTake("", now)
	}
	return wait
}

// tryTake is take, but counts nothing if the limiter is full of other clients.
func (l *limiter) tryTake(client string, now time.Time) (wait time.Duration, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	due, known := l.due[client]
	if !known && client != "" && len(l.due) >= maxLimited {
		if elapsed := now.Sub(l.swept); elapsed < 0 || elapsed >= time.Second { // once a second at most
			l.swept = now
			maps.DeleteFunc(l.due, func(_ string, due time.Time) bool { return !due.After(now) })
		}
		if len(l.due) >= maxLimited {
			return 0, true
		}
	}
	l.due[client], wait = l.pace.Arrive(due, now)
	return wait, false
}

// giveBack undoes a take.
func (l *limiter) giveBack(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due, known := l.due[client]; known {
		l.due[client] = due.Add(-l.pace.Every)
	}
}

func errTooFast(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &failure{
		Problem: problem{Code: codeRateLimited, Message: "That is too much at once. Wait as long as Retry-After says, and go on."},
		status:  http.StatusTooManyRequests, retryAfter: wait,
	}
}

// limitPerson counts a request against the rate of an authenticated person.
func (s *server) limitPerson(id string) error { return errTooFast(s.people.take(id, s.Now())) }

// limitAddress counts requests of routes that are open to everybody.
func (s *server) limitAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.charge(c); err != nil {
			return err
		}
		return next(c)
	}
}

// charge counts a request against the rate of its address, once however often it
// is called.
func (s *server) charge(c echo.Context) error {
	request := requestOf(c.Request().Context())
	if request.charged {
		return nil
	}
	request.charged = true
	return errTooFast(s.addresses.take(addressOf(c), s.Now()))
}

// orRateLimited returns the failure to answer: f, or that of an address over its rate.
// Anonymous and refused requests count against their address: wrong tokens, forged
// pushes, unknown paths. Authenticated requests count against their own limit, so
// nothing is refused by address before its caller is known.
func (s *server) orRateLimited(f *failure, c echo.Context) *failure {
	refused := f.status < http.StatusInternalServerError && f.status != http.StatusTooManyRequests
	if !refused || requestOf(c.Request().Context()).known() {
		return f
	}
	if tooFast, ok := errors.AsType[*failure](s.charge(c)); ok {
		return tooFast
	}
	return f
}

// AdmitPush limits a push to the API; its error is the answer. Unproven pushes count
// against their address. A proven one counts against its channel: Google pushes for
// everybody from few addresses, and a token never expires, so it can be replayed.
func AdmitPush(c echo.Context, channelID string, proven bool) error {
	request := requestOf(c.Request().Context())
	s := request.server
	if !proven {
		return s.charge(c)
	}
	request.proven = true
	return errTooFast(s.channels.take(channelID, s.Now()))
}

// LimitPerson limits authenticated people on routes that are added to the API and
// write their own answers. The function that it returns is called for each request;
// its error is RateLimited with the time to wait.
func LimitPerson(rate Rate, now func() time.Time) func(c echo.Context, uid string) error {
	limiter := newLimiter(rate, defaultPersonRate)
	return func(c echo.Context, uid string) error {
		requestOf(c.Request().Context()).signedIn = true
		return limit(c, limiter.take(uid, now()))
	}
}

// LimitAddress is LimitPerson for the addresses of unknown callers.
func LimitAddress(rate Rate, now func() time.Time) func(c echo.Context) error {
	limiter := newLimiter(rate, defaultAddressRate)
	return func(c echo.Context) error { return limit(c, limiter.take(addressOf(c), now())) }
}

func limit(c echo.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	requestOf(c.Request().Context()).code = codeRateLimited
	return &fault.Error{
		Kind: fault.RateLimited, Own: true, Message: "That is too much at once. Wait a moment and go on.", RetryAfter: wait,
	}
}
