package fault

import (
	"net/http"
	"strconv"
	"time"
)

// ParseRetryAfter reads the Retry-After header (RFC 9110), in seconds (a day at most) or as a
// date. It is 0 if the header is absent, unreadable or past.
func ParseRetryAfter(header http.Header, now time.Time) time.Duration {
	const day = int(24 * time.Hour / time.Second)
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return max(0, time.Duration(min(seconds, day))*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
