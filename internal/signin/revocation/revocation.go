// Package revocation asks Firebase which sign-ins were ended, by its REST API: the
// Admin SDK brings Cloud Storage, Firestore and 200 more packages for one call.
package revocation

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"sync"
	"time"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/identitytoolkit/v1"
	"google.golang.org/api/option"

	"questscheduler/fault"
	"questscheduler/internal/signin"
)

const (
	// cacheTime is how long an answer is reused, so that a page that asks ten
	// things at once costs one call, and how late an ended sign-in may be noticed.
	cacheTime  = time.Minute
	maxCached  = 10_000 // people
	askTimeout = 10 * time.Second
	// retryAfter is the first wait after a failure that may pass; each further one is
	// twice as long, until askTimeout.
	retryAfter = 500 * time.Millisecond
)

// Checker asks Firebase. It is safe for concurrent use.
type Checker struct {
	project string
	users   *identitytoolkit.ProjectsAccountsService
	now     func() time.Time

	mu    sync.Mutex
	cache map[string]account
}

// account is Firebase's answer about one person.
type account struct {
	gone       bool      // disabled or deleted
	validAfter time.Time // earlier sign-ins were ended
	cacheUntil time.Time
}

// New asks the project with the machine's credentials; options are for tests. It
// fails if the environment points at an emulator, which does not have the project's
// people.
func New(ctx context.Context, project string, now func() time.Time, options ...option.ClientOption) (*Checker, error) {
	if os.Getenv(signin.EmulatorVariable) != "" {
		return nil, fault.New(fault.Invalid, signin.EmulatorVariable+" is set, so an emulator would be asked whose sign-ins were ended; unset it")
	}
	service, err := identitytoolkit.NewService(ctx, options...)
	if err != nil {
		return nil, err
	}
	return &Checker{project: project, users: identitytoolkit.NewProjectsAccountsService(service), now: now, cache: map[string]account{}}, nil
}

// Revoked implements signin.Revocations.
func (c *Checker) Revoked(ctx context.Context, uid string, signedIn time.Time) (bool, error) {
	known, err := c.account(ctx, uid)
	return err == nil && (known.gone || signedIn.Before(known.validAfter)), err
}

func (c *Checker) account(ctx context.Context, uid string) (account, error) {
	now := c.now()
	if known, ok := c.cached(uid, now); ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	known := account{cacheUntil: now.Add(cacheTime)}
	found, err := c.lookup(ctx, uid)
	switch {
	case err != nil:
		return account{}, fault.Wrap(fault.Unavailable, err, "Firebase does not say whether the sign-in still counts. Try again shortly.")
	case len(found) == 0:
		known.gone = true
	default:
		known.gone, known.validAfter = found[0].Disabled, time.Unix(found[0].ValidSince, 0)
	}
	c.keep(uid, known, now)
	return known, nil
}

// lookup gives one user, or none. It repeats what failed without a verdict until ctx
// ends.
func (c *Checker) lookup(ctx context.Context, uid string) ([]*identitytoolkit.GoogleCloudIdentitytoolkitV1UserInfo, error) {
	query := &identitytoolkit.GoogleCloudIdentitytoolkitV1GetAccountInfoRequest{LocalId: []string{uid}}
	for wait := retryAfter; ; wait *= 2 {
		answer, err := c.users.Lookup(c.project, query).Context(ctx).Do()
		switch {
		case err == nil:
			return answer.Users, nil
		case !mayPass(err):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait):
		}
	}
}

// mayPass reports whether Google failed or did not answer.
func mayPass(err error) bool {
	answer, answered := errors.AsType[*googleapi.Error](err)
	return !answered || answer.Code == http.StatusInternalServerError || answer.Code == http.StatusServiceUnavailable
}

func (c *Checker) cached(uid string, now time.Time) (account, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.cache[uid]
	left := known.cacheUntil.Sub(now)
	return known, ok && left > 0 && left <= cacheTime // more: the clock was set back
}

// keep drops expired answers from a full cache, or else all.
func (c *Checker) keep(uid string, known account, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cache) >= maxCached {
		maps.DeleteFunc(c.cache, func(_ string, other account) bool { return !now.Before(other.cacheUntil) })
	}
	if len(c.cache) >= maxCached {
		clear(c.cache)
	}
	c.cache[uid] = known
}
