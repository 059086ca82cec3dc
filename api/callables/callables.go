// Package callables answers the calls that the web app makes by the protocol of
// Firebase's callable functions,
// so that the app can call this server in the place of its own functions.
//
//	request → which function (paths.go) → cross-origin headers
//	  ours → who is calling → the data (protocol.go) → one call of scheduler
//	         (finalise.go, calendar.go) → result or error (failure.go)
//	  not ours → passed on whole (upstream.go), or NOT_FOUND
//
// The functions stand in a table below. Whatever is answered can be read by the
// pages of the allowed origins, errors and unknown names included.
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

	"questscheduler/internal/bodylimit"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// Polls is what the functions ask of polls (scheduler.Service).
type Polls interface {
	Finalise(ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Finalise, cause scheduler.Cause) (scheduler.View, error)
	DeleteEvent(ctx context.Context, person scheduler.Person, pollID string, cause scheduler.Cause) (deleted bool, err error)
	View(ctx context.Context, person scheduler.Person, pollID string) (scheduler.View, error)
	UnderWay(ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Finalise) (bool, error)
	Repeats(ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Finalise, outcome error) bool
	ToldByApp(ctx context.Context, person scheduler.Person, pollID string, cause scheduler.Cause) error
}

// Options are what the functions work with. All fields are needed but those that
// say what holds without them.
type Options struct {
	Polls  Polls
	SignIn signin.Verifier
	// StartLink gives where a person's browser begins to link a Google account.
	StartLink func(ctx context.Context, person signin.Person) (address string, err error)
	// Calendars lists the calendars of a person's linked accounts that events can
	// be made in. Revoked where there is none, or Google refuses them all.
	Calendars func(ctx context.Context, uid string) ([]gcal.Entry, error)
	// LimitPerson and LimitAddress refuse with RateLimited who asks too much:
	// people who are signed in, and addresses that nobody known asks from.
	LimitPerson  func(c echo.Context, uid string) error
	LimitAddress func(c echo.Context) error
	// Count counts a command of a person on a poll before its first transaction, and
	// refuses with RateLimited where they sent too many; undo takes it back. It is
	// shared with the other ways to send commands. nil: none is counted.
	Count func(uid, pollID string) (undo func(), err error)
	// Upstream is the address that functions which are not ours are passed on to;
	// "": there are none.
	Upstream string
	// UpstreamPatience is how long it may take; 0: 55 s.
	UpstreamPatience time.Duration
	// Origins may call from browsers, each such as https://app.example, or "*"
	// for any.
	Origins []string
	// Callback is the path that links a Google account, which PathCallback leads
	// to.
	Callback string
	Log      *slog.Logger
	// Refused is for the lines of calls by unknown callers, which anybody can cause
	// without end; nil: Log.
	Refused *slog.Logger
}

// Names are the functions that are ours alone; the app calls them by these names.
var Names = []string{nameStart, nameCalendars, nameFinalise, nameDelete}

// Shared are the functions that are the app's own where it has any
// (Options.Upstream), and answered here otherwise.
var Shared = []string{nameSummary, nameEmit, nameReconcile}

const (
	nameStart     = "googleCalendarStartAuth"
	nameCallback  = "googleCalendarOAuthCallback"
	nameCalendars = "googleCalendarListCalendars"
	nameFinalise  = "googleCalendarFinalizePoll"
	nameDelete    = "googleCalendarDeleteEvent"
	nameSummary   = "getRequiredEmbeddedPollFinalizeSummary"
	nameEmit      = "emitNotificationEvent"
	nameReconcile = "reconcilePendingNotifications"
)

// PathCallback is where the app's own functions had Google send browsers back to.
const PathCallback = "/" + nameCallback

// call is a request of somebody who is signed in, with its data.
type call struct {
	person scheduler.Person
	known  signin.Person
	cause  scheduler.Cause
	data   fields
}

// function answers a call: with what stands under result, or an error of package
// fault.
type function func(ctx context.Context, in call) (result any, err error)

// functions are ours by name.
func (s *server) functions() map[string]function {
	return map[string]function{
		nameStart: s.startAuth, nameCalendars: s.listCalendars, nameFinalise: s.finalise, nameDelete: s.deleteEvent,
		nameSummary: s.summary, nameEmit: nothing, nameReconcile: nothing,
	}
}

// server is what the functions work with.
type server struct {
	Options
	ours     map[string]function
	upstream *httputil.ReverseProxy // nil without one
	// taken are the paths of one part that lead elsewhere.
	taken func() []string
}

// Register has e answer calls before its own routes are looked at; a path that is
// one of those is left to them. The answers carry the request's id, as all of e's
// do. Invalid where the upstream is no address.
func Register(e *echo.Echo, options Options) error {
	s := &server{Options: options, taken: sync.OnceValue(func() []string { return paths(e) })}
	s.ours = s.functions()
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
			name, is := s.nameOf(c.Request())
			switch method := c.Request().Method; {
			case !is:
				return next(c)
			case method == http.MethodGet && name == nameCallback:
				c.Request().URL.Path, c.Request().URL.RawPath = s.Callback, ""
				return next(c)
			case method != http.MethodPost && method != http.MethodOptions && s.ours[name] == nil:
				return next(c)
			}
			c.SetPath("/:callable")
			c.Set(contextName, name)
			return answer(c)
		}
	})
	return nil
}

const (
	// contextName is where a request keeps the name of the function it calls.
	contextName = "callable"
	// contextKnown is where it keeps that its caller is signed in and within their rate.
	contextKnown = "caller known"
)

// shareOrigins lets pages of the allowed origins call, with whatever headers
// Firebase's client sends, and read whatever is answered.
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

// answerPatience is how long a function of ours may take once its body is there:
// with that, below the 70 s after which Firebase's clients give a call up, so that
// people read why it failed.
const answerPatience = 50 * time.Second

// AnswerTime is how long a call takes at most, from its sign-in until its answer is
// written: that of a function of ours with its body, or that of one that is passed
// on with the note of what it told people.
const AnswerTime = max(bodylimit.Patience+answerPatience, passingPatience+notePatience)

// answer answers one call.
func (s *server) answer(c echo.Context) error {
	name, _ := c.Get(contextName).(string)
	carryOut, ours := s.ours[name]
	passOn := s.upstream != nil && !slices.Contains(Names, name)
	switch {
	case c.Request().Method == http.MethodOptions: // with an origin, it was answered before
		c.Response().Header().Set(echo.HeaderAllow, "OPTIONS, POST")
		return c.NoContent(http.StatusNoContent)
	case c.Request().Method != http.MethodPost:
		return s.fail(c, s.refuseAddress(c, badRequest(errors.New("a function is called by POST"))))
	case passOn:
		return s.passOn(c)
	case !ours:
		return s.fail(c, s.refuseAddress(c, fault.New(fault.NotFound, "There is no such function. Check its name.")))
	}
	in, err := s.caller(c)
	if err != nil {
		return s.fail(c, err)
	}
	if in.data, err = s.readData(c); err != nil {
		return s.fail(c, err)
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), answerPatience)
	defer cancel()
	result, err := carryOut(ctx, in)
	if err != nil {
		return s.fail(c, err)
	}
	return c.JSON(http.StatusOK, map[string]any{"result": result})
}

// caller is who calls; nothing else of the request is looked at before.
func (s *server) caller(c echo.Context) (call, error) {
	token, err := signin.Bearer(c.Request().Header.Get(echo.HeaderAuthorization))
	var known signin.Person
	if err == nil {
		known, err = s.SignIn.Verify(c.Request().Context(), token)
	}
	if err != nil {
		return call{}, s.refuseAddress(c, err)
	}
	if err := s.LimitPerson(c, known.UID); err != nil {
		return call{}, err
	}
	c.Set(contextKnown, true)
	return callOf(c, known), nil
}

// callOf is a call of somebody who is signed in, without its data.
func callOf(c echo.Context, known signin.Person) call {
	in := call{
		known: known, person: scheduler.Person{ID: known.UID, Admin: known.Admin},
		cause: scheduler.Cause{Hint: "person", Trace: c.Response().Header().Get(echo.HeaderXRequestID)},
	}
	if known.EmailVerified {
		in.person.Email = known.Email
	}
	return in
}

// refuseAddress is the error of somebody unknown, or that their address asks too
// much.
func (s *server) refuseAddress(c echo.Context, err error) error {
	if limited := s.LimitAddress(c); limited != nil {
		return limited
	}
	return err
}
