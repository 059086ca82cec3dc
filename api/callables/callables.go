// Package callables answers the web app's calls of its Firebase callable functions,
// so that the app can use this server in their place.
//
//	request → function name (paths.go) → cross-origin headers
//	  answered here → sign-in → data (protocol.go) → one call of scheduler
//	         (finalise.go, calendar.go, busy.go) → result or error (failure.go)
//	  otherwise → passed on whole (upstream.go), or NOT_FOUND
//
// Pages of the allowed origins can read every answer, errors and unknown names
// included.
package callables

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"questscheduler/fault"
	"questscheduler/internal/bodylimit"
	"questscheduler/internal/gcal"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// Polls is implemented by scheduler.Service.
type Polls interface {
	Finalise(
		ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Finalise, cause scheduler.Cause,
	) (scheduler.View, error)
	DeleteEvent(ctx context.Context, person scheduler.Person, pollID string, cause scheduler.Cause) (deleted bool, err error)
	View(ctx context.Context, person scheduler.Person, pollID string) (scheduler.View, error)
	InProgress(ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Finalise) (bool, error)
	Repeats(ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Finalise, outcome error) bool
	AnnouncedByApp(ctx context.Context, person scheduler.Person, pollID string, cause scheduler.Cause) error
}

// Options configure the functions. All fields are needed but those that say what
// holds without them.
type Options struct {
	Polls  Polls
	SignIn signin.Verifier
	// StartLink returns where a person's browser begins to link a Google account.
	StartLink func(ctx context.Context, person signin.Person) (address string, err error)
	// Calendars lists the calendars of a person's linked accounts. Revoked: there
	// is no account, or Google refuses all.
	Calendars func(ctx context.Context, uid string) ([]gcal.CalendarEntry, error)
	// Availability says when people are busy.
	Availability Availability
	// LimitPerson and LimitAddress return RateLimited for a person, or for the
	// address of an unknown caller, that is over its rate.
	LimitPerson  func(c echo.Context, uid string) error
	LimitAddress func(c echo.Context) error
	// Count counts a command of a person on a poll before its first transaction
	// (api.Commands.Count).
	Count func(uid, pollID string) (undo func(), err error)
	// Upstream is the address of the app's own functions; "": there are none.
	Upstream string
	// UpstreamTimeout is how long it may take; 0: 55 s.
	UpstreamTimeout time.Duration
	// Origins may call from browsers, such as https://app.example, or "*" for any.
	Origins []string
	// Callback is the path that PathCallback is routed to.
	Callback string
	Log      *slog.Logger
	// Refused logs the calls of unknown callers, which anybody can cause without
	// end; nil: Log.
	Refused *slog.Logger
}

// Names are the functions that are always answered here.
var Names = []string{nameStart, nameCalendars, nameFinalise, nameDelete, nameBusy}

// Shared are the functions that are answered here unless there is an upstream.
var Shared = []string{nameSummary, nameEmit, nameReconcile}

const (
	nameStart     = "googleCalendarStartAuth"
	nameCallback  = "googleCalendarOAuthCallback"
	nameCalendars = "googleCalendarListCalendars"
	nameFinalise  = "googleCalendarFinalizePoll"
	nameDelete    = "googleCalendarDeleteEvent"
	nameBusy      = "googleCalendarBusyWindows"
	nameSummary   = "getRequiredEmbeddedPollFinalizeSummary"
	nameEmit      = "emitNotificationEvent"
	nameReconcile = "reconcilePendingNotifications"
)

// PathCallback is where Google sends browsers back to for the app's own functions.
const PathCallback = "/" + nameCallback

// call is an authenticated call.
type call struct {
	person scheduler.Person
	known  signin.Person
	cause  scheduler.Cause
	data   fields
}

type server struct {
	Options
	// functions are those answered here, by name; their errors are of package fault.
	functions map[string]func(ctx context.Context, in call) (result any, err error)
	upstream  *httputil.ReverseProxy // nil without one
	taken     func() []string        // the first parts of other routes
}

// Register has e answer calls before its own routes, except at paths of those.
// Invalid: the upstream is not an address.
func Register(e *echo.Echo, options Options) error {
	s := &server{Options: options, taken: sync.OnceValue(func() []string { return paths(e) })}
	s.functions = map[string]func(context.Context, call) (any, error){
		nameStart: s.startAuth, nameCalendars: s.listCalendars, nameFinalise: s.finalise, nameDelete: s.deleteEvent,
		nameBusy: s.busyWindows, nameSummary: s.summary, nameEmit: nothing, nameReconcile: nothing,
	}
	if s.Refused == nil {
		s.Refused = s.Log
	}
	if err := s.openUpstream(); err != nil {
		return err
	}
	share := s.shareOrigins()
	e.Pre(func(next echo.HandlerFunc) echo.HandlerFunc {
		answer := share(s.answer)
		return func(c echo.Context) error {
			name, ok := s.nameOf(c.Request())
			switch method := c.Request().Method; {
			case !ok:
				return next(c)
			case method == http.MethodGet && name == nameCallback:
				c.Request().URL.Path, c.Request().URL.RawPath = s.Callback, ""
				return next(c)
			case method != http.MethodPost && method != http.MethodOptions && s.functions[name] == nil:
				return next(c)
			}
			c.SetPath("/:callable")
			c.Set(contextName, name)
			return answer(c)
		}
	})
	return nil
}

// Keys of a request's context.
const (
	contextName  = "callable"     // the function's name
	contextKnown = "caller known" // whether the caller is signed in and within their rate
)

// shareOrigins lets pages of the allowed origins call, with all headers of
// Firebase's client, and read every answer.
func (s *server) shareOrigins() echo.MiddlewareFunc {
	anybody := slices.Contains(s.Origins, "*")
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc:  func(origin string) (bool, error) { return anybody || slices.Contains(s.Origins, origin), nil },
		AllowCredentials: !anybody,
		AllowMethods:     []string{http.MethodPost},
		ExposeHeaders:    []string{echo.HeaderXRequestID, echo.HeaderRetryAfter},
		MaxAge:           3600,
	})
}

// answerTimeout is how long a function may take once the body is read. Together
// with the body it is below the 70 s after which Firebase's clients give up, so
// that people read why it failed.
const answerTimeout = 50 * time.Second

// AnswerTime is the longest time from a call's sign-in until its answer is written:
// a function with its body, or one that is passed on and its notice recorded.
const AnswerTime = max(bodylimit.Timeout+answerTimeout, upstreamTimeout+noteTimeout)

func (s *server) answer(c echo.Context) error {
	name, _ := c.Get(contextName).(string)
	function := s.functions[name]
	passOn := s.upstream != nil && !slices.Contains(Names, name)
	switch {
	case c.Request().Method == http.MethodOptions: // with an origin, it was answered before
		c.Response().Header().Set(echo.HeaderAllow, "OPTIONS, POST")
		return c.NoContent(http.StatusNoContent)
	case c.Request().Method != http.MethodPost:
		return s.fail(c, s.refuseAddress(c, badRequest(errors.New("a function is called by POST"))))
	case passOn:
		return s.passOn(c)
	case function == nil:
		return s.fail(c, s.refuseAddress(c, fault.New(fault.NotFound, "There is no such function. Check its name.")))
	}
	in, err := s.caller(c)
	if err == nil {
		in.data, err = readData(c)
	}
	var result any
	if err == nil {
		ctx, cancel := context.WithTimeout(c.Request().Context(), answerTimeout)
		defer cancel()
		result, err = function(ctx, in)
	}
	if err != nil {
		return s.fail(c, err)
	}
	return c.JSON(http.StatusOK, map[string]any{"result": result})
}

// caller authenticates a call before anything else of it is read.
func (s *server) caller(c echo.Context) (call, error) {
	in, err := s.authenticate(c.Request().Context(), c)
	if err != nil {
		return call{}, s.refuseAddress(c, err)
	}
	if err := s.LimitPerson(c, in.known.UID); err != nil {
		return call{}, err
	}
	c.Set(contextKnown, true)
	return in, nil
}

func (s *server) authenticate(ctx context.Context, c echo.Context) (call, error) {
	token, err := signin.Bearer(c.Request().Header.Get(echo.HeaderAuthorization))
	if err != nil {
		return call{}, err
	}
	known, err := s.SignIn.Verify(ctx, token)
	in := call{
		known: known, person: scheduler.Person{ID: known.UID, Email: known.VerifiedEmail(), Admin: known.Admin},
		cause: scheduler.Cause{Trigger: "person", Trace: c.Response().Header().Get(echo.HeaderXRequestID)},
	}
	return in, err
}

// refuseAddress counts a refused call against its address. It returns err, or the
// error of an address that is over its rate.
func (s *server) refuseAddress(c echo.Context, err error) error {
	if limited := s.LimitAddress(c); limited != nil {
		return limited
	}
	return err
}
