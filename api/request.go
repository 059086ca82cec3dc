package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	webhooks "questscheduler/web-hooks"
)

// request is what is known of a request from its first moment.
type request struct {
	// id is the request's name in the answer, and the trace of all it causes.
	id string
	// code is the error code of the answer; "" where it is none.
	code string
	// signedIn tells that it is known who asks.
	signedIn bool
	// proven tells that a push carries a token that was made here.
	proven bool
	// charged tells that the request counted against the rate of its address.
	charged bool
	server  *server
	echo    echo.Context
}

// known tells whether it is known who sends the request: a person, a machine, or
// Google by a channel's token.
func (r *request) known() bool {
	return r.signedIn || r.proven || r.echo != nil && webhooks.MachineOf(r.echo).Email != ""
}

type requestKey struct{}

// requestOf gives the request of a context, an empty one outside of any.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// begin names the request and sets the headers of every answer. An id that the
// caller brings is not taken: what stands in our logs and journals is ours.
func (s *server) begin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := &request{id: s.NewID("req"), server: s, echo: c}
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), requestKey{}, r)))
		routeDecoded(c.Request())
		header := c.Response().Header()
		header.Set(echo.HeaderXRequestID, r.id)
		s.secure(header)
		return next(c)
	}
}

// routeDecoded lets a path be routed as it reads: an id may be escaped in any
// way. One with an escaped slash stays as it came, and fits no id.
func routeDecoded(r *http.Request) {
	if !strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") {
		r.URL.RawPath = ""
	}
}

// logRequest writes the one line of a request, or samples it (logOf). The query
// stays out of it: it may hold what is nobody's business.
func (s *server) logRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := s.Now()
		if err := next(c); err != nil {
			s.answerError(err, c)
		}
		ctx := c.Request().Context()
		request, status := requestOf(ctx), c.Response().Status
		if disconnected(ctx, status) {
			status = statusDisconnected
		}
		if s.Answered != nil && c.Path() != pathStream {
			s.Answered(c.Request().Method, status, s.Now().Sub(began))
		}
		s.logOf(c, status).InfoContext(ctx, "request", "method", c.Request().Method, "route", c.Path(),
			"status", status, "code", request.code, "duration", s.Now().Sub(began), "request_id", request.id)
		return nil
	}
}

// logOf is where the line of an answered request is written. Anybody can cause
// without end what is refused by a rate or to an unknown caller, and what is
// answered to everybody without a rate: probes and CORS preflights. Those lines are
// sampled.
func (s *server) logOf(c echo.Context, status int) *slog.Logger {
	request := requestOf(c.Request().Context())
	refused := request.code == codeRateLimited || status == http.StatusUnauthorized
	open := status >= http.StatusBadRequest || c.Request().Method == http.MethodOptions || slices.Contains(probes, c.Path())
	if refused || open && !request.known() {
		return s.refused
	}
	return s.Log
}

// recover makes an internal error of a panic, so that one request takes down
// no other.
func (s *server) recover(next echo.HandlerFunc) echo.HandlerFunc {
	config := middleware.DefaultRecoverConfig
	config.DisablePrintStack = true
	config.LogErrorFunc = func(c echo.Context, err error, stack []byte) error {
		ctx := c.Request().Context()
		s.Log.ErrorContext(ctx, "a handler panicked", "trace", requestOf(ctx).id, "error", err, "stack", string(stack))
		return err
	}
	return middleware.RecoverWithConfig(config)(next)
}
