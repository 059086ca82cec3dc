package gcal

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"questscheduler/internal/fault"
)

// Google's quotas of the Calendar API, by the minute: of one
// person, and of our project with all of them. A Budget keeps below both, so
// that one calendar which changes much holds up no other.
const (
	personPerMinute  = 600
	projectPerMinute = 10_000
	// What may be called at once: a calendar that is read after a long time
	// asks for its events one by one, and then is quiet; the project is never
	// quiet.
	personAtOnce  = 0.5
	projectAtOnce = 0.1
)

// Budget holds our calls under Google's quotas, by account and in all. A bucket
// of n calls that fills by m a minute never lets more than n+m through in any
// minute, and both buckets are cut so that this is below the quota; a twentieth
// is left for what else calls in the person's name. It counts for one process:
// where several share a project, each is given its share. It is safe for
// concurrent use.
type Budget struct {
	options BudgetOptions
	project *rate.Limiter

	mu      sync.Mutex
	persons map[string]*rate.Limiter
}

// BudgetOptions are what a Budget is made of.
type BudgetOptions struct {
	// Share is the part of the project's quota that this process has; 0: all.
	Share float64
	// Now is the time; Wait returns after a duration, or earlier with ctx's
	// error. Both are needed.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
	// Jitter draws a duration from 0 to d; nil: at random.
	Jitter func(d time.Duration) time.Duration
}

// patience is how long a call waits for its turn. Beyond it the task that made
// it is put off, which holds no worker up.
const patience = 5 * time.Second

// mostPersons is how many accounts are told apart before those that are at rest
// are forgotten.
const mostPersons = 10_000

// NewBudget makes a budget that nothing was taken from.
func NewBudget(options BudgetOptions) *Budget {
	if options.Share <= 0 || options.Share > 1 {
		options.Share = 1
	}
	if options.Jitter == nil {
		options.Jitter = func(d time.Duration) time.Duration { return rand.N(d + 1) } //nolint:gosec // it spreads retries, and is no secret
	}
	return &Budget{
		options: options, persons: map[string]*rate.Limiter{},
		project: bucket(projectPerMinute*options.Share, projectAtOnce),
	}
}

// bucket lets at most 19/20 of a quota through in any minute: the share atOnce
// of that in a burst, and the rest as it refills.
func bucket(perMinute, atOnce float64) *rate.Limiter {
	most := perMinute * 19 / 20
	return rate.NewLimiter(rate.Limit(most*(1-atOnce)/60), max(1, int(most*atOnce)))
}

// take waits for a call's turn; where that is further off than patience it is
// RateLimited, with when to come again, and nothing is taken.
func (b *Budget) take(ctx context.Context, account string) error {
	now := b.options.Now()
	person, project := b.person(account, now).ReserveN(now, 1), b.project.ReserveN(now, 1)
	wait := max(person.DelayFrom(now), project.DelayFrom(now))
	if wait == 0 {
		return nil
	}
	if wait <= patience {
		err := b.options.Wait(ctx, wait)
		if err == nil {
			return nil
		}
		person.CancelAt(now)
		project.CancelAt(now)
		return fault.Wrap(fault.Unavailable, err, sayLater)
	}
	person.CancelAt(now)
	project.CancelAt(now)
	return &fault.Error{Kind: fault.RateLimited, Message: sayWait, RetryAfter: wait + b.options.Jitter(wait/2)}
}

// person is the bucket of an account. One that is full is as good as new, and
// forgotten where there are many.
func (b *Budget) person(account string, now time.Time) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	limiter, known := b.persons[account]
	if known {
		return limiter
	}
	if len(b.persons) >= mostPersons {
		for other, at := range b.persons {
			if at.TokensAt(now) >= float64(at.Burst()) {
				delete(b.persons, other)
			}
		}
	}
	limiter = bucket(personPerMinute, personAtOnce)
	b.persons[account] = limiter
	return limiter
}
