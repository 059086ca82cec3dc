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
	routeWindow       = time.Second
)

// rateLimits counts calls per route and channel in windows of the simulator's
// clock. Counts are forgotten at a restart. The Server's lock guards it.
type rateLimits struct {
	limit   int
	buckets map[bucketKey]*bucket
}

type bucketKey struct{ method, channelID string }

type bucket struct {
	left  int
	reset time.Time
}

func newRateLimits(limit int) rateLimits {
	if limit <= 0 {
		limit = defaultRouteLimit
	}
	return rateLimits{limit: limit, buckets: map[bucketKey]*bucket{}}
}

// take counts a call, writes the headers, and refuses the call above the limit.
func (l rateLimits) take(h http.Header, method, channelID string, now time.Time) *problem {
	key := bucketKey{method, channelID}
	b, ok := l.buckets[key]
	if !ok || !now.Before(b.reset) {
		b = &bucket{left: l.limit, reset: now.Add(routeWindow)}
		l.buckets[key] = b
	}
	over := b.left == 0
	if !over {
		b.left--
	}
	wait := b.reset.Sub(now)
	bucketHeaders(h, method, l.limit, b.left, b.reset, wait)
	if over {
		return tooMany(h, wait, false)
	}
	return nil
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
