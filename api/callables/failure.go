package callables

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

// status is the answer to a kind of error: the protocol's name and its HTTP status.
type status struct {
	name string
	http int
	// message is for errors without one, or for all if always is set.
	message string
	always  bool
}

// statuses maps kinds to statuses. People read the messages as they are, and none
// tells what was wrong with a token.
var statuses = map[fault.Kind]status{
	fault.Internal:        {"INTERNAL", http.StatusInternalServerError, "Something went wrong here. Try again in a moment.", true},
	fault.Invalid:         {"INVALID_ARGUMENT", http.StatusBadRequest, "Bad Request", false},
	fault.Unauthenticated: {"UNAUTHENTICATED", http.StatusUnauthorized, "You are not signed in. Sign in and try again.", true},
	fault.Forbidden:       {"PERMISSION_DENIED", http.StatusForbidden, "You may not do that.", false},
	fault.NotFound:        {"NOT_FOUND", http.StatusNotFound, "There is no such thing, or you may not see it.", false},
	fault.Conflict: {
		"FAILED_PRECONDITION", http.StatusBadRequest, "That does not fit how things stand now. Reload and try again.", false,
	},
	fault.Revoked: {
		"FAILED_PRECONDITION", http.StatusBadRequest, "Google Calendar authorization expired. Re-link in Settings.", false,
	},
	fault.RateLimited: {"RESOURCE_EXHAUSTED", http.StatusTooManyRequests, "Google asks us to slow down. Try again later.", false},
	fault.Exhausted: {
		"RESOURCE_EXHAUSTED", http.StatusTooManyRequests, "The account's quota at Google is used up. Try again in some hours.",
		false,
	},
	fault.Provider: {
		"FAILED_PRECONDITION", http.StatusBadRequest, "Google Calendar refused this. Check the calendar and try again.", false,
	},
	fault.Unavailable: {
		"UNAVAILABLE", http.StatusServiceUnavailable, "Something that is needed did not answer. Try again in a moment.", false,
	},
	fault.TooLarge: {"INVALID_ARGUMENT", http.StatusBadRequest, "That is too large. Send less.", false},
}

// disconnected is the answer to a client that disconnected: nobody reads it, and it
// is not a failure in the log or the metrics.
var disconnected = status{"CANCELLED", 499, "The client closed the request.", true}

// errDisconnected marks errors that a disconnected client caused, where the
// request's context does not say so.
var errDisconnected = errors.New("client disconnected")

func statusOf(ctx context.Context, err error) status {
	kind := fault.KindOf(err)
	if kind == fault.Internal && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		kind = fault.Unavailable
	}
	if kind == fault.Unavailable && (errors.Is(ctx.Err(), context.Canceled) || errors.Is(err, errDisconnected)) {
		return disconnected
	}
	return statuses[kind]
}

// fail answers with an error. Nothing of an error without a kind is shown.
func (s *server) fail(c echo.Context, err error) error {
	as := s.logFailure(c, err)
	message := as.message
	if known, ok := errors.AsType[*fault.Error](err); ok && known.Message != "" && !as.always {
		message = known.Message
	}
	if after := fault.RetryAfter(err); after > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	return c.JSON(as.http, map[string]any{"error": map[string]string{"status": as.name, "message": message}})
}

// logFailure logs a failed call and returns its status. Calls of unknown callers
// are logged to Refused.
func (s *server) logFailure(c echo.Context, err error) status {
	ctx := c.Request().Context()
	as := statusOf(ctx, err)
	about := []any{"callable", c.Get(contextName), "status", as.name, "trace", c.Response().Header().Get(echo.HeaderXRequestID), "error", err}
	log := s.Refused
	if known, _ := c.Get(contextKnown).(bool); known {
		log = s.Log
	}
	switch {
	case as == disconnected:
		log.InfoContext(ctx, "client disconnected", about...)
	case as.http == http.StatusInternalServerError:
		s.Log.ErrorContext(ctx, "a call failed", about...)
	case as.http > http.StatusInternalServerError:
		log.WarnContext(ctx, "a call could not be carried out", about...)
	default:
		log.InfoContext(ctx, "a call was refused", about...)
	}
	return as
}
