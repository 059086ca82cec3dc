package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// request is what is known of a request from its first moment.
type request struct {
	// id is the request's name in the answer, and the trace of all it causes.
	id string
	// code is the error code of the answer; "" where it is none.
	code string
	// signedIn tells that it is known who asks.
	signedIn bool
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
		r := &request{id: s.NewID("req")}
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

// logRequest writes the one line of a request. The query stays out of it: it
// may hold what is nobody's business.
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
		s.Log.InfoContext(ctx, "request", "method", c.Request().Method, "route", c.Path(),
			"status", status, "code", request.code, "duration", s.Now().Sub(began), "request_id", request.id)
		return nil
	}
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
