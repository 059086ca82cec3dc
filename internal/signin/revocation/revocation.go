// Package revocation asks Firebase whose sign-ins were ended. It stands apart
// from signin since the Admin SDK brings all of Firebase along.
package revocation

import (
	"context"
	"os"
	"sync"
	"time"

	firebase "firebase.google.com/go/v4"
	"firebase.google.com/go/v4/auth"
	"google.golang.org/api/option"

	"questscheduler/internal/fault"
	"questscheduler/internal/signin"
)

const (
	// kept is how long what Firebase said of somebody is taken as true, so that
	// a page that asks ten things at once costs one call. A sign-in that is ended
	// counts for as long at most.
	kept = time.Minute
	// maxKept is how many people are remembered at a time.
	maxKept = 10_000
	// patience is how long Firebase may take.
	patience = 10 * time.Second
)

// Checker asks Firebase. It is safe for concurrent use.
type Checker struct {
	users users
	now   func() time.Time

	mu    sync.Mutex
	known map[string]standing
}

// users are the records of a project's people (auth.Client).
type users interface {
	GetUser(ctx context.Context, uid string) (*auth.UserRecord, error)
}

// standing is what was said of somebody.
type standing struct {
	out   bool      // disabled, or there no more
	since time.Time // sign-ins of before count no more
	until time.Time // until when that is taken as true
}

var _ signin.Revocations = (*Checker)(nil)

// New asks the project by the credentials of the machine; options are for tests.
// It refuses to work where the environment sends the Admin SDK to an emulator,
// which has no people of ours.
func New(ctx context.Context, project string, now func() time.Time, options ...option.ClientOption) (*Checker, error) {
	if os.Getenv(signin.EmulatorVariable) != "" {
		return nil, fault.New(fault.Invalid, signin.EmulatorVariable+" is set, so an emulator would be asked whose sign-ins were ended; unset it")
	}
	app, err := firebase.NewApp(ctx, &firebase.Config{ProjectID: project}, options...)
	if err != nil {
		return nil, err
	}
	client, err := app.Auth(ctx)
	if err != nil {
		return nil, err
	}
	return &Checker{users: client, now: now, known: map[string]standing{}}, nil
}

// Revoked implements signin.Revocations.
func (c *Checker) Revoked(ctx context.Context, uid string, signedIn time.Time) (bool, error) {
	known, err := c.standing(ctx, uid)
	if err != nil {
		return false, err
	}
	return known.out || signedIn.Before(known.since), nil
}

func (c *Checker) standing(ctx context.Context, uid string) (standing, error) {
	now := c.now()
	if known, ok := c.remembered(uid, now); ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	known := standing{until: now.Add(kept)}
	user, err := c.users.GetUser(ctx, uid)
	switch {
	case auth.IsUserNotFound(err):
		known.out = true
	case err != nil:
		return standing{}, fault.Wrap(fault.Unavailable, err, "Firebase does not say whether the sign-in still counts. Try again shortly.")
	default:
		known.out, known.since = user.Disabled, time.UnixMilli(user.TokensValidAfterMillis)
	}
	c.remember(uid, known, now)
	return known, nil
}

func (c *Checker) remembered(uid string, now time.Time) (standing, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[uid]
	left := known.until.Sub(now)
	return known, ok && left > 0 && left <= kept // further ahead: the clock was set back
}

// remember keeps what was said. Where there are too many, those go whose minute
// is over, or else all.
func (c *Checker) remember(uid string, known standing, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxKept {
		for other, said := range c.known {
			if !now.Before(said.until) {
				delete(c.known, other)
			}
		}
	}
	if len(c.known) >= maxKept {
		clear(c.known)
	}
	c.known[uid] = known
}
