package queue

import "time"

// How failing tasks are treated, by every driver that decides it itself. A
// driver of a service that decides (Cloud Tasks) configures its queues alike.
const (
	// RunTimeout is how long a handler may take; its context ends then.
	RunTimeout = 60 * time.Second
	// BackoffMin is the longest wait before the second attempt.
	BackoffMin = time.Second
	// BackoffMax is the longest wait before any attempt.
	BackoffMax = 10 * time.Minute
	// GiveUpAttempts and GiveUpAge: a task becomes a dead letter when it has
	// failed that often and that long. Both: an outage of hours that is
	// answered with short waits must not use a task up, nor must a handful of
	// attempts spread over days.
	GiveUpAttempts = 50
	GiveUpAge      = 24 * time.Hour
	// Grace is how long beyond a task's next attempt whoever would hand another over
	// in its place leaves it to the queue.
	Grace = time.Minute
)

// Backoff is the wait after an attempt failed that named no wait of its own:
// BackoffMin doubled with each attempt, at most BackoffMax, of which the upper
// half is drawn, so that tasks that failed together do not come back together.
// attempt counts from 1; draw(n) gives an integer from 0 to n-1, and nil
// stands for the longest wait.
func Backoff(attempt int, draw func(n int) int) time.Duration {
	longest := BackoffMin
	for range attempt - 1 {
		if longest *= 2; longest >= BackoffMax {
			longest = BackoffMax
			break
		}
	}
	if draw == nil {
		return longest
	}
	half := longest / 2
	return half + time.Duration(draw(int(half/time.Millisecond)+1))*time.Millisecond
}

// Final is the verdict that counts for a run that was the attempt'th of a task
// of that age: the Retry of a run that Stop cancelled is Later, since it was not
// the task's failure, however often it failed before; any other Retry of a task
// that is given up is Permanent.
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

// GivenUp tells whether a task that failed becomes a dead letter, after how
// many attempts and how long after it was handed over (or put back to work).
func GivenUp(attempt int, age time.Duration) bool {
	return attempt >= GiveUpAttempts && age >= GiveUpAge
}
