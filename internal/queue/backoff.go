package queue

import "time"

// The retry policy of every driver. A service with its own retries (Cloud Tasks) is
// configured alike.
const (
	// RunTimeout ends a handler's context.
	RunTimeout = 60 * time.Second
	// BackoffMin is the longest wait before the second attempt.
	BackoffMin = time.Second
	// BackoffMax is the longest wait before any attempt.
	BackoffMax = 10 * time.Minute
	// GiveUpAttempts and GiveUpAge: a task becomes a dead letter once it has failed
	// that often and that long, so that neither an outage of hours nor a few attempts
	// over days use it up.
	GiveUpAttempts = 50
	GiveUpAge      = 24 * time.Hour
	// Grace is how long after a failed task's next attempt is due the drain waits
	// before it enqueues a replacement.
	Grace = time.Minute
)

// Backoff is the wait after the attempt'th failure (from 1) whose verdict named none:
// exponential from BackoffMin to BackoffMax, the upper half of it jitter. draw(n)
// returns an integer from 0 to n-1; nil gives the longest wait.
func Backoff(attempt int, draw func(n int) int) time.Duration {
	doublings := min(max(attempt-1, 0), 30) // more would overflow
	longest := min(BackoffMin<<doublings, BackoffMax)
	if draw == nil {
		return longest
	}
	half := longest / 2
	return half + time.Duration(draw(int(half/time.Millisecond)+1))*time.Millisecond
}

// Final turns a Retry of the attempt'th run of a task of that age into Later where Stop
// cancelled the run, which is no failure of the task, and into Permanent where the task
// is given up.
func (v Verdict) Final(attempt int, age time.Duration, cancelled bool) Verdict {
	switch {
	case v.Outcome == Done || v.Outcome == Later || v.Outcome == Permanent:
	case cancelled:
		return Verdict{Outcome: Later}
	case GivenUp(attempt, age):
		v.Outcome = Permanent
	}
	return v
}

// GivenUp reports whether a failed task becomes a dead letter. age counts from its
// enqueueing, or from when a person retried it.
func GivenUp(attempt int, age time.Duration) bool {
	return attempt >= GiveUpAttempts && age >= GiveUpAge
}
