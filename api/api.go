// Package api is what people's programs call: the REST routes under /v1, the
// OpenAPI document that is generated from them, and a page that shows it.
//
// Every request takes the same way, and every answer leaves by the same door:
//
//	Echo    request id → headers → log line → recover → origins  (request.go, browsers.go)
//	route   who is calling and how often → the id in the path →  (auth.go, limits.go, callers.go,
//	        the idempotency key → the body                        ids.go, idempotency.go, body.go)
//	huma    parameters and body against the declared types       (validation.go)
//	handler one call of scheduler or notify                      (polls.go, groups.go, …)
//	answer  the envelope, errors included        (envelope.go, failure.go)
//
// A route is one row: an operation, which says who may call it, and a handler
// (operation.go). Errors have kinds inside and become statuses and codes here
// alone. Nothing of the input is ever given back in an error but names of
// fields. One route answers for as long as the caller listens (stream.go,
// feed.go, dispatch.go). Beside the programs' routes stand pages for people: the
// consent (consent.go) and the operator's page (dashboard.go).
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"questscheduler/internal/health"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Options are what the API is made of. All fields are needed but those that say
// what holds without them.
type Options struct {
	Scheduler *scheduler.Service
	Calendars Calendars
	Linked    Linked
	Health    *health.Reader
	Tasks     Tasks
	// Store holds people's notifications (notify.List) and idempotency keys; it
	// answers Queries.
	Store   store.Store
	Changes Changes
	// Alone tells that no other process answers requests over the same store:
	// whatever one began that is gone by now is dead.
	Alone  bool
	SignIn signin.Verifier
	// Operators say which machine a token speaks for that may act in an admin's
	// place, where that is foreseen (signin.Machines); nil: none may.
	Operators interface {
		Verify(ctx context.Context, bearer string) (signin.Machine, error)
	}
	// Ready tells why the server cannot work, or gives nil. It is asked by
	// GET /readyz; its error goes to the log alone.
	Ready func(ctx context.Context) error
	Now   func() time.Time
	// Wait returns after the duration, or earlier with ctx's error.
	Wait func(ctx context.Context, d time.Duration) error
	// Ticks gives a tick each time a duration has passed, until stop; nil:
	// RealTicks.
	Ticks func(every time.Duration) (ticks <-chan time.Time, stop func())
	// Ending is closed when the server is about to stop: streams end then. nil:
	// they end with their callers alone.
	Ending <-chan struct{}
	// AllowedOrigins may call from browsers, each such as https://app.example,
	// or "*" for any; none where it is empty.
	AllowedOrigins []string
	// HTTPS tells that callers come by HTTPS, and are to come by nothing else.
	HTTPS bool
	// PersonRate limits what each person who is signed in may ask, AddressRate
	// what each address may that nobody known asks from, ChannelRate the pushes of
	// each watch channel. Zero: limits that nobody meets who waits for answers.
	PersonRate, AddressRate, ChannelRate Rate
	// Commands bounds people's commands on a poll; nil: by a number of its own. It
	// is shared with whatever else takes commands.
	Commands *Commands
	// TrustedProxies are believed when they say in X-Forwarded-For for whom they
	// ask; nobody else is. Empty: an address is that of the connection, so that all
	// who come by one proxy are one.
	TrustedProxies []netip.Prefix
	// NewID makes a ULID with a prefix and an underscore before it, such as
	// req_01H….
	NewID func(prefix string) string
	Log   *slog.Logger
	// Metrics answers GET /metrics to who may read it; nil: there is no such route.
	Metrics http.Handler
	// MetricsToken opens it to who sends it as a bearer token, and nothing else; "":
	// admins' tokens alone do.
	MetricsToken string
	// MetricsHere opens it to callers on this machine without a token. It is for a
	// server that nobody else is led to: of what a proxy passes on to one that is
	// reached from outside, nobody can tell for certain whom it is for.
	MetricsHere bool
	// Answered, where set, is told of each request that was answered, streams
	// excepted: its method, the answer's status, and how long it took.
	Answered func(method string, status int, took time.Duration)
	// Version is the program's, for the OpenAPI document.
	Version string
}

// server is what handlers work with.
type server struct {
	Options
	echo *echo.Echo
	huma huma.API
	// start names this start of the process.
	start                       string
	people, addresses, channels *limiter
	streaming                   streaming
	dispatch                    *dispatcher
	// refused is Log for lines that anybody can cause.
	refused *slog.Logger
}

// New makes the API. What it returns is an http.Handler; other routes that are
// added to it leave by the same door: an error of package fault that their
// handlers return becomes the envelope, and the request's id is in the header
// X-Request-Id of the answer. Time-outs of the server are the caller's, those of
// bodies (package bodylimit) included.
func New(options Options) *echo.Echo {
	unifyHuma()
	s := &server{
		Options: options, echo: echo.New(), start: options.NewID("run"),
		people: newLimiter(options.PersonRate, defaultPersonRate), addresses: newLimiter(options.AddressRate, defaultAddressRate),
		channels: newLimiter(options.ChannelRate, defaultChannelRate), refused: Sampled(options.Log, options.Now),
	}
	s.dispatch = &dispatcher{server: s}
	if s.Ticks == nil {
		s.Ticks = RealTicks
	}
	if s.Commands == nil {
		s.Commands = NewCommands(defaultPollCommands, s.Now)
	}
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler, s.echo.IPExtractor = s.answerError, callersBehind(options.TrustedProxies)
	s.echo.Pre(s.begin, s.logRequest, s.recover, s.shareOrigins())
	s.huma = s.newHuma()

	s.pollRoutes()
	s.editRoutes()
	s.lifecycleRoutes()
	s.membershipRoutes()
	s.calendarRoutes()
	s.accountRoutes()
	s.consentRoutes()
	s.syncRoutes()
	s.streamRoutes()
	s.groupRoutes()
	s.notificationRoutes()
	s.healthRoutes()
	s.figureRoutes()
	s.adminRoutes()
	s.dashboardRoutes()
	s.documentRoutes() // last: it describes the others
	return s.echo
}
