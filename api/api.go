// Package api serves the REST routes under /v1, the OpenAPI document that is
// generated from them, and a page that shows it.
//
// Every request takes the same way:
//
//	Echo    request id → headers → log line → recover → origins  (request.go, browsers.go)
//	route   sign-in and rate → the id in the path →              (auth.go, limits.go, address.go,
//	        the idempotency key → the body                        ids.go, idempotency.go, body.go)
//	huma    parameters and body against the declared types       (validation.go)
//	handler one call of the package that decides                 (polls.go, groups.go, …)
//	answer  the envelope, errors included                        (envelope.go, failure.go)
//
// A route is one call of route (operation.go) with its pattern, audience and
// handler. Errors have kinds inside and become statuses and codes here alone; an
// error repeats nothing of the input but names of fields. One route is a stream
// (stream*.go). Pages for people are the consent (consent.go) and the operator's
// page (dashboard.go).
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"questscheduler/api/streams"
	"questscheduler/availability"
	feeds "questscheduler/feed"
	"questscheduler/groupevents"
	"questscheduler/internal/discord"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
)

// Options configure the API. All fields are needed but those that say what holds
// without them.
type Options struct {
	Scheduler *scheduler.Service
	Calendars Calendars
	Accounts  LinkedAccounts
	Policies  Policies
	Events    Events
	// Mappings loads the second addresses of attendees; nil if they are off.
	Mappings Mappings
	Health   *health.Reader
	// Availability answers when people are busy.
	Availability *availability.Service
	// GroupEvents are the events that groups share.
	GroupEvents *groupevents.Service
	// Feeds are people's calendar feeds.
	Feeds *feeds.Service
	// Discord links people to users of Discord.
	Discord discord.Links
	Work    Work
	// Store holds people's notifications (notify.List) and idempotency keys; it
	// answers Queries.
	Store   store.Store
	Changes streams.Changes
	// SingleProcess means that no other process answers requests over the same store, so that
	// requests which an earlier process began are dead.
	SingleProcess bool
	SignIn        signin.Verifier
	// Operators authenticates machines that may act as admins on some routes
	// (signin.Machines); nil: none may.
	Operators interface {
		Verify(ctx context.Context, bearer string) (signin.Machine, error)
	}
	// Ready returns why the server cannot work, for GET /readyz. The error goes to the
	// log alone.
	Ready func(ctx context.Context) error
	Now   func() time.Time
	// Wait returns after the duration, or earlier with ctx's error.
	Wait func(ctx context.Context, d time.Duration) error
	// Ticks is a ticker; nil: RealTicks.
	Ticks func(every time.Duration) (ticks <-chan time.Time, stop func())
	// Stopping is closed when the server is about to stop, which ends streams. nil: they
	// end with their callers.
	Stopping <-chan struct{}
	// AllowedOrigins may call from browsers, such as https://app.example, or "*" for
	// any.
	AllowedOrigins []string
	// HTTPS means that callers use HTTPS, and must use nothing else.
	HTTPS bool
	// PersonRate limits each authenticated person, AddressRate each address of unknown
	// callers, ChannelRate the pushes of each watch channel. Zero: limits that nobody
	// reaches who waits for answers.
	PersonRate, AddressRate, ChannelRate Rate
	// Commands bounds people's commands on a poll, and is shared with other ways to
	// send them; nil: defaultPollCommands.
	Commands *Commands
	// TrustedProxies are those whose X-Forwarded-For counts. Empty: an address is that
	// of the connection, so all clients of a proxy share one.
	TrustedProxies []netip.Prefix
	// NewID makes a ULID with a prefix, such as req_01H….
	NewID func(prefix string) string
	Log   *slog.Logger
	// Metrics answers GET /metrics; nil: there is no such route.
	Metrics http.Handler
	// MetricsToken is a bearer token that opens it, and nothing else, beside admins'
	// tokens; "": there is none.
	MetricsToken string
	// MetricsLocal opens it to callers on this machine without a token. It is for a
	// server that is unreachable from outside: a request through a proxy on this machine
	// cannot be distinguished reliably.
	MetricsLocal bool
	// OnAnswer, where set, is called for each request that was answered, except streams.
	OnAnswer func(method string, status int, took time.Duration)
	// Version is the program's, for the OpenAPI document.
	Version string
}

type server struct {
	Options
	echo                        *echo.Echo
	huma                        huma.API
	start                       string // identifies this start of the process
	people, addresses, channels *limiter
	streams                     *streams.Hub
	refused                     *slog.Logger // samples Log, for lines that anybody can cause
}

// New makes the API. Routes that are added to it are answered the same way: an error
// of package fault becomes the envelope, and X-Request-Id holds the request's id.
// Timeouts of the server are the caller's, those of bodies (package bodylimit)
// included.
func New(options Options) *echo.Echo {
	unifyHuma()
	s := &server{
		Options: options, echo: echo.New(), start: options.NewID("run"),
		people: newLimiter(options.PersonRate, defaultPersonRate), addresses: newLimiter(options.AddressRate, defaultAddressRate),
		channels: newLimiter(options.ChannelRate, defaultChannelRate), refused: Sampled(options.Log, options.Now),
		streams: streams.New(options.Changes, options.Store),
	}
	if s.Ticks == nil {
		s.Ticks = RealTicks
	}
	if s.Commands == nil {
		s.Commands = NewCommands(defaultPollCommands, s.Now)
	}
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler, s.echo.IPExtractor = s.answerError, clientAddress(options.TrustedProxies)
	s.echo.Pre(s.begin, s.logRequest, s.recover, s.shareOrigins())
	s.huma = s.newHuma()

	s.pollRoutes()
	s.editRoutes()
	s.lifecycleRoutes()
	s.membershipRoutes()
	s.calendarRoutes()
	s.accountRoutes()
	s.consentRoutes()
	s.eventRoutes()
	s.policyRoutes()
	s.syncRoutes()
	s.availabilityRoutes()
	s.streamRoutes()
	s.groupRoutes()
	s.groupConnectionRoutes()
	s.groupEventRoutes()
	s.feedRoutes()
	s.discordRoutes()
	s.notificationRoutes()
	s.healthRoutes()
	s.metricsRoutes()
	s.adminRoutes()
	s.dashboardRoutes()
	s.documentRoutes() // last: it describes the others
	return s.echo
}
