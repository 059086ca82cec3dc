package outbox

import (
	"time"

	"questscheduler/fault"
)

// Retry says how long failed work waits. A zero field has the default named here.
type Retry struct {
	// First is the wait after the first failure (10 s). It doubles with each further one: up to
	// Most (10 min) while a service does not answer, which passes, and up to a day after
	// anything else, so that what cannot succeed costs one run a day.
	First, Most time.Duration
	// Refused is First where Google or Discord refused for good (30 s).
	Refused time.Duration
	// Quota is the least wait for an account's quota (1 min), and Relink that for its owner to
	// link it again (10 min). Neither grows.
	Quota, Relink time.Duration
	// Error is how many failures in a row (5) are an error that needs a person: it is logged as
	// one, once.
	Error int64
}

// longest is the longest wait of work that fails.
const longest = 24 * time.Hour

func (r Retry) withDefaults() Retry {
	orElse := func(given *time.Duration, otherwise time.Duration) {
		if *given == 0 {
			*given = otherwise
		}
	}
	orElse(&r.First, 10*time.Second)
	orElse(&r.Most, 10*time.Minute)
	orElse(&r.Refused, 30*time.Second)
	orElse(&r.Quota, time.Minute)
	orElse(&r.Relink, 10*time.Minute)
	if r.Error == 0 {
		r.Error = 5
	}
	return r
}

// Wait is how long to wait after that many failures in a row, this one included. What the error
// itself asks for (fault.RetryAfter) is kept.
func (r Retry) Wait(err error, failures int64) time.Duration {
	r = r.withDefaults()
	asked := fault.RetryAfter(err)
	switch fault.KindOf(err) {
	case fault.RateLimited, fault.Exhausted:
		return max(asked, r.Quota)
	case fault.Revoked:
		return max(asked, r.Relink)
	case fault.Unavailable:
		return max(asked, doubled(r.First, failures, r.Most))
	case fault.Provider, fault.Forbidden, fault.NotFound, fault.Invalid, fault.TooLarge:
		return max(asked, doubled(r.Refused, failures, longest))
	default:
		return max(asked, doubled(r.First, failures, longest))
	}
}

// doubled is a wait that doubles with each failure after the first, up to most.
func doubled(wait time.Duration, failures int64, most time.Duration) time.Duration {
	for range min(failures-1, 40) {
		wait *= 2
		if wait >= most {
			return most
		}
	}
	return min(wait, most)
}
