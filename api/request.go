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

// request is the state of a request outside its handler.
type request struct {
	id       string // in the answer, and the trace of all that the request causes
	code     string // the error code of the answer, or ""
	signedIn bool
	proven   bool // a push with a token that was made here
	charged  bool // it counted against the rate of its address
	server   *server
	echo     echo.Context
}

// known reports whether the sender is authenticated: a person, a machine, or Google
// by a channel's token.
func (r *request) known() bool {
	return r.signedIn || r.proven || r.echo != nil && webhooks.MachineOf(r.echo).Email != ""
}

type requestKey struct{}

// requestOf returns an empty request outside of any.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// begin gives the request an id and sets the headers of every answer. An id that the
// caller sends is ignored: those in logs and journals are ours.
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

// routeDecoded routes by the decoded path, since an id may be escaped in any way. A
// path with an escaped slash stays as it is, and matches no id.
func routeDecoded(r *http.Request) {
	if !strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") {
		r.URL.RawPath = ""
	}
}

// logRequest writes the one line of a request, without the query, which may hold
// secrets.
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
		if s.OnAnswer != nil && c.Path() != pathStream {
			s.OnAnswer(c.Request().Method, status, s.Now().Sub(began))
		}
		s.logOf(c, status).InfoContext(ctx, "request", "method", c.Request().Method, "route", c.Path(),
			"status", status, "code", request.code, "duration", s.Now().Sub(began), "request_id", request.id)
		return nil
	}
}

// logOf samples the lines that anybody can cause without end: of requests refused by
// a rate or to an unknown caller, of probes and of CORS preflights.
func (s *server) logOf(c echo.Context, status int) *slog.Logger {
	request := requestOf(c.Request().Context())
	refused := request.code == codeRateLimited || status == http.StatusUnauthorized
	open := status >= http.StatusBadRequest || c.Request().Method == http.MethodOptions || slices.Contains(probes, c.Path())
	if refused || open && !request.known() {
		return s.refused
	}
	return s.Log
}

// recover answers a panic as an internal error.
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
