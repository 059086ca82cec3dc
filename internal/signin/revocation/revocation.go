// Package revocation asks Firebase which sign-ins were ended, and which addresses are verified. It is apart from
// signin because it imports the whole Admin SDK.
package revocation

import (
	"context"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	firebase "firebase.google.com/go/v4"
	"firebase.google.com/go/v4/auth"
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
)

// Checker asks Firebase. It is safe for concurrent use.
type Checker struct {
	users *auth.Client
	now   func() time.Time

	mu    sync.Mutex
	cache map[string]account
}

// account is Firebase's answer about one person.
type account struct {
	gone       bool      // disabled or deleted
	email      string    // verified, in lower case; "" for none
	validAfter time.Time // earlier sign-ins were ended
	cacheUntil time.Time
}

// New asks the project with the machine's credentials; options are for tests. It
// fails if the environment points the Admin SDK at an emulator, which does not
// have the project's people.
func New(ctx context.Context, project string, now func() time.Time, options ...option.ClientOption) (*Checker, error) {
	if os.Getenv(signin.EmulatorVariable) != "" {
		return nil, fault.New(fault.Invalid, signin.EmulatorVariable+" is set, so an emulator would be asked whose sign-ins were ended; unset it")
	}
	app, err := firebase.NewApp(ctx, &firebase.Config{ProjectID: project}, options...)
	if err != nil {
		return nil, err
	}
	client, err := app.Auth(ctx)
	return &Checker{users: client, now: now, cache: map[string]account{}}, err
}

// Revoked implements signin.Revocations.
func (c *Checker) Revoked(ctx context.Context, uid string, signedIn time.Time) (bool, error) {
	known, err := c.account(ctx, uid)
	return err == nil && (known.gone || signedIn.Before(known.validAfter)), err
}

// VerifiedEmail is the address, in lower case, that a person proved to Firebase to be theirs; ""
// for none, and for who is disabled or deleted. An error is Unavailable.
func (c *Checker) VerifiedEmail(ctx context.Context, uid string) (string, error) {
	known, err := c.account(ctx, uid)
	return known.email, err
}

func (c *Checker) account(ctx context.Context, uid string) (account, error) {
	now := c.now()
	if known, ok := c.cached(uid, now); ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	known := account{cacheUntil: now.Add(cacheTime)}
	user, err := c.users.GetUser(ctx, uid)
	switch {
	case auth.IsUserNotFound(err):
		known.gone = true
	case err != nil:
		return account{}, fault.Wrap(fault.Unavailable, err, "Firebase does not answer about this person. Try again shortly.")
	default:
		known.gone, known.validAfter = user.Disabled, time.UnixMilli(user.TokensValidAfterMillis)
		if user.UserInfo != nil && user.EmailVerified && !user.Disabled {
			known.email = strings.ToLower(user.Email)
		}
	}
	c.keep(uid, known, now)
	return known, nil
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
