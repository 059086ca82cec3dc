package discord

import (
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strconv"
	"time"
)

const (
	defaultRouteLimit = 1000
	limitWindow       = time.Second
	// DefaultGlobalLimit is how many calls a second Discord takes from a bot.
	DefaultGlobalLimit = 50
)

// rateLimits counts calls per route and channel, and all together, in windows
// of the simulator's clock. Counts are forgotten at a restart. The Server's
// lock guards it.
type rateLimits struct {
	limit   int
	buckets map[bucketKey]*bucket
	most    int // of all calls together; 0: no limit
	all     *bucket
}

type bucketKey struct{ method, channelID string }

type bucket struct {
	left  int
	reset time.Time
}

func newRateLimits(limit, most int) rateLimits {
	if limit <= 0 {
		limit = defaultRouteLimit
	}
	return rateLimits{limit: limit, buckets: map[bucketKey]*bucket{}, most: most, all: &bucket{}}
}

// renew begins another window if the last has ended.
func (b *bucket) renew(limit int, now time.Time) {
	if !now.Before(b.reset) {
		b.left, b.reset = limit, now.Add(limitWindow)
	}
}

// spend counts a call, or reports that the limit is reached.
func (b *bucket) spend() bool {
	if b.left == 0 {
		return false
	}
	b.left--
	return true
}

// take counts a call, writes the headers, and refuses the call above a limit.
// One above the global limit counts for no route and has no route's headers.
func (l rateLimits) take(h http.Header, method, channelID string, now time.Time) *problem {
	if l.most > 0 {
		l.all.renew(l.most, now)
		if !l.all.spend() {
			return globallyTooMany(h, l.all.reset.Sub(now))
		}
	}
	key := bucketKey{method, channelID}
	b, ok := l.buckets[key]
	if !ok {
		b = &bucket{}
		l.buckets[key] = b
	}
	b.renew(l.limit, now)
	taken := b.spend()
	wait := b.reset.Sub(now)
	bucketHeaders(h, method, l.limit, b.left, b.reset, wait)
	if !taken {
		return tooMany(h, wait, false)
	}
	return nil
}

func globallyTooMany(h http.Header, wait time.Duration) *problem {
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(wait.Seconds(), 'f', 3, 64))
	return tooMany(h, wait, true)
}

func bucketHeaders(h http.Header, method string, limit, left int, reset time.Time, wait time.Duration) {
	id := fnv.New64a()
	// A hash never fails to write.
	_, _ = id.Write([]byte(method))
	h.Set("X-RateLimit-Bucket", fmt.Sprintf("%016x", id.Sum64()))
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(reset.UnixMilli())/1000))
	h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", wait.Seconds()))
}

// tooMany is a 429 with the headers that only it has. Retry-After is in whole
// seconds, rounded up; retry_after in the body is exact.
func tooMany(h http.Header, wait time.Duration, global bool) *problem {
	h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	scope := "user"
	if global {
		scope = "global"
		h.Set("X-RateLimit-Global", "true")
	}
	h.Set("X-RateLimit-Scope", scope)
	seconds := wait.Seconds()
	return &problem{
		status: http.StatusTooManyRequests, Message: "You are being rate limited.",
		RetryAfter: &seconds, Global: &global,
	}
}
