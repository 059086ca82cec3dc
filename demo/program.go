package demo

import (
	"context"
	"net"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	discordlinks "questscheduler/internal/discord"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// Wiring builds the program that a demo runs.
type Wiring interface {
	// Settings are the defaults with what the environment overrides.
	Settings(defaults config.Config) (config.Config, error)
	// Open opens the program without starting it. now is its clock.
	Open(ctx context.Context, cfg config.Config, now func() time.Time) (Program, error)
}

// Program is an open program, with the parts that seed a demo's world and serve its page.
type Program struct {
	Lifecycle
	Edge      *echo.Echo // to which the page's routes are added
	Issuer    Issuer
	Accounts  *accounts.Repository
	Consents  *accounts.Linking
	Scheduler *scheduler.Service
	Links     discordlinks.Links
	NewTrace  func() string // an ID for everything that one trigger causes
}

// Lifecycle starts and stops a program and its work.
type Lifecycle interface {
	// Start begins the work and answers requests, and has Discord send here what people do.
	Start(ctx context.Context, listener net.Listener) error
	// Failed gives why the program cannot go on, once.
	Failed() <-chan error
	// StopWork returns once no work runs, which it cancels when ctx ends. StartWork begins it again.
	StopWork(ctx context.Context) error
	StartWork(ctx context.Context) error
	// AwaitIdle returns when no work runs or waits for the next minute, or with ctx's error.
	AwaitIdle(ctx context.Context) error
	// ClockSet takes up what became due because the clock was set.
	ClockSet(ctx context.Context) error
	// Stop stops the watch channels, as far as Google allows, and ends everything.
	Stop() error
}

// Issuer makes bearer tokens.
type Issuer interface {
	Issue(person signin.Person, lasts time.Duration) (string, error)
}
