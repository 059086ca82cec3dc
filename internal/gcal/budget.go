package gcal

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"questscheduler/fault"
)

// Google's quotas of the Calendar API per minute, for one person and for our project,
// and the share of each that may be used in a burst. A person's burst is large: a calendar
// read after a long time fetches its events individually and then is quiet.
const (
	personPerMinute  = 600
	projectPerMinute = 10_000
	personAtOnce     = 0.5
	projectAtOnce    = 0.1
)

// Budget keeps our calls below Google's quotas, per account and in total. A bucket of n
// calls that refills by m a minute passes at most n+m in any minute; both buckets stay a
// twentieth below the quota, for other callers in the person's name. It counts for one
// process: give each process that shares a project its share. Safe for concurrent use.
type Budget struct {
	options BudgetOptions
	project *rate.Limiter
	// whole is the budget that this one is a share of, nil for one of its own; share is 1
	// then.
	whole *Budget
	share float64

	mu      sync.Mutex
	persons map[string]*rate.Limiter
}

// BudgetOptions configure a Budget.
type BudgetOptions struct {
	// Share is this process's part of the project's quota; 0 means all.
	Share float64
	// Now and Wait are required. Wait returns after d, or earlier with ctx's error.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
	// Jitter draws a duration from 0 to d; nil draws at random.
	Jitter func(d time.Duration) time.Duration
}

// patience is the longest a call waits for its turn. Beyond it the work is postponed, so
// that no worker blocks.
const patience = 5 * time.Second

// mostPersons is how many buckets are kept before full ones are dropped.
const mostPersons = 10_000

// NewBudget returns an unused budget.
func NewBudget(options BudgetOptions) *Budget {
	if options.Share <= 0 || options.Share > 1 {
		options.Share = 1
	}
	if options.Jitter == nil {
		options.Jitter = func(d time.Duration) time.Duration { return rand.N(d + 1) } //nolint:gosec // it spreads retries, and is no secret
	}
	return &Budget{
		options: options, persons: map[string]*rate.Limiter{}, share: 1,
		project: bucket(projectPerMinute*options.Share, projectAtOnce),
	}
}

// within returns a budget of a share of b, whose calls count for b too.
func (b *Budget) within(share float64) *Budget {
	if share <= 0 || share > 1 {
		share = 1
	}
	return &Budget{
		options: b.options, persons: map[string]*rate.Limiter{}, whole: b, share: b.share * share,
		project: bucket(projectPerMinute*b.options.Share*b.share*share, projectAtOnce),
	}
}

// bucket passes at most 19/20 of a quota in any minute: the share atOnce as a burst, the
// rest as it refills.
func bucket(perMinute, atOnce float64) *rate.Limiter {
	most := perMinute * 19 / 20
	return rate.NewLimiter(rate.Limit(most*(1-atOnce)/60), max(1, int(most*atOnce)))
}

// take waits for a call's turn. Where that is further off than patience it takes nothing
// and returns RateLimited with when to come again.
func (b *Budget) take(ctx context.Context, account string) error {
	now := b.options.Now()
	var reserved []*rate.Reservation
	for of := b; of != nil; of = of.whole {
		reserved = append(reserved, of.person(account, now).ReserveN(now, 1), of.project.ReserveN(now, 1))
	}
	wait := time.Duration(0)
	for _, turn := range reserved {
		wait = max(wait, turn.DelayFrom(now))
	}
	if wait == 0 {
		return nil
	}
	if wait <= patience {
		err := b.options.Wait(ctx, wait)
		if err == nil {
			return nil
		}
		cancel(reserved, now)
		return fault.Wrap(fault.Unavailable, err, sayLater)
	}
	cancel(reserved, now)
	return &fault.Error{Kind: fault.RateLimited, Message: sayWait, RetryAfter: wait + b.options.Jitter(wait/2)}
}

func cancel(reserved []*rate.Reservation, now time.Time) {
	for _, turn := range reserved {
		turn.CancelAt(now)
	}
}

// person returns an account's bucket. A full bucket is as good as a new one, so it may be
// dropped.
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
	limiter = bucket(personPerMinute*b.share, personAtOnce)
	b.persons[account] = limiter
	return limiter
}
