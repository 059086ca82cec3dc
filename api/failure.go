package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

// The error codes of the API.
const (
	codeValidation  = "VALIDATION_ERROR"
	codeAuth        = "AUTH_REQUIRED"
	codeForbidden   = "FORBIDDEN"
	codeNotFound    = "NOT_FOUND"
	codeMethod      = "METHOD_NOT_ALLOWED"
	codeConflict    = "CONFLICT"
	codeTooLarge    = "PAYLOAD_TOO_LARGE"
	codeRevoked     = "ACCOUNT_REVOKED"
	codeQuota       = "PROVIDER_QUOTA"
	codeRateLimited = "RATE_LIMITED"
	codeInternal    = "INTERNAL_ERROR"
	codeProvider    = "PROVIDER_ERROR"
	codeUnavailable = "UNAVAILABLE"
)

// failure is an error and its answer.
type failure struct {
	OK      bool    `json:"ok" doc:"false"`
	Problem problem `json:"error"`
	Meta    meta    `json:"meta"`

	status     int
	retryAfter time.Duration
	cause      error // for the log
}

type problem struct {
	Code    string  `json:"code" doc:"Stable; for programs."`
	Message string  `json:"message" doc:"A sentence that says what is wrong and what to do."`
	Detail  *detail `json:"detail,omitempty"`
}

// detail never holds a value of the input.
type detail struct {
	Fields []wrongField `json:"fields,omitempty" doc:"What is wrong in the input."`
	Reason string       `json:"reason,omitempty" doc:"Finer than the code, such as token_expired."`
	// Candidates are what an ambiguous reference may mean.
	Candidates []candidate `json:"candidates,omitempty" doc:"With ambiguous_reference: the newest of the events that match, newest first."`
	// Mappings are what a failed load leaves in use.
	Mappings *mappingsInUse `json:"mappings,omitempty" doc:"Where second addresses could not be loaded: those that stay in use."`
}

type wrongField struct {
	Field string `json:"field"`
	Rule  string `json:"rule"`
}

// Error is for logs.
func (f *failure) Error() string {
	if f.cause != nil {
		return f.Problem.Code + ": " + f.cause.Error()
	}
	return f.Problem.Code + ": " + f.Problem.Message
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

// GetStatus implements huma.StatusError.
func (f *failure) GetStatus() int { return f.status }

// reply is the answer to a kind of error; message and retryAfter (0: none) are for
// errors without their own.
type reply struct {
	status     int
	code       string
	message    string
	retryAfter time.Duration
}

// replies is the one place where kinds become statuses. RateLimited and Exhausted are those of
// Google or Discord; our own bounds (fault.Error.Own) are RATE_LIMITED.
var replies = map[fault.Kind]reply{
	fault.Internal: {
		status: http.StatusInternalServerError, code: codeInternal,
		message: "Something went wrong here. Try again; if it stays so, report the request_id.",
	},
	fault.Invalid: {
		status: http.StatusBadRequest, code: codeValidation, message: "The request is not valid. See /docs for what it takes.",
	},
	fault.Unauthenticated: {
		status: http.StatusUnauthorized, code: codeAuth, message: "Sign in and send your token in the Authorization header.",
	},
	fault.Forbidden: {status: http.StatusForbidden, code: codeForbidden, message: "You may not do that. Ask the creator."},
	fault.NotFound: {
		status: http.StatusNotFound, code: codeNotFound,
		message: "There is no such thing, or you may not see it. Check the address.",
	},
	fault.Conflict: {
		status: http.StatusConflict, code: codeConflict,
		message: "That does not fit how things stand now. Reload and try again.",
	},
	fault.Revoked: {
		status: http.StatusUnprocessableEntity, code: codeRevoked,
		message: "The calendar account does not let us in any more. Link it again.",
	},
	fault.RateLimited: {
		status: http.StatusTooManyRequests, code: codeQuota, message: "Google asks us to slow down. Try again later.",
		retryAfter: 30 * time.Second,
	},
	fault.Exhausted: {
		status: http.StatusTooManyRequests, code: codeQuota,
		message: "The account's quota at Google is used up. Try again in some hours.", retryAfter: time.Hour,
	},
	fault.Provider: {status: http.StatusBadGateway, code: codeProvider, message: "The calendar provider refused the request."},
	fault.Unavailable: {
		status: http.StatusServiceUnavailable, code: codeUnavailable,
		message: "Something that is needed did not answer. Try again shortly.", retryAfter: 5 * time.Second,
	},
	fault.TooLarge: {status: http.StatusRequestEntityTooLarge, code: codeTooLarge, message: "That is too large. Send less."},
}

// asFailure makes an answer of any error. One without a kind is internal, and shows
// nothing.
func asFailure(err error) *failure {
	var made *failure
	var atEcho *echo.HTTPError
	var known *fault.Error
	switch {
	case errors.As(err, &made):
		return made
	case errors.As(err, &known) && known.Kind != fault.Internal:
		return fromFault(known, err)
	case errors.As(err, &atEcho):
		return fromEcho(atEcho)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ofKind(fault.Unavailable, err)
	default:
		return ofKind(fault.Internal, err)
	}
}

func ofKind(kind fault.Kind, err error) *failure { return fromFault(&fault.Error{Kind: kind}, err) }

func fromFault(known *fault.Error, err error) *failure {
	kind := replies[known.Kind]
	f := &failure{
		Problem: problem{Code: kind.code, Message: kind.message},
		status:  kind.status, retryAfter: kind.retryAfter, cause: err,
	}
	if known.Kind == fault.RateLimited && known.Own {
		f.Problem.Code = codeRateLimited
	}
	if known.Message != "" {
		f.Problem.Message = known.Message
	}
	if len(known.Details) > 0 && !strings.HasSuffix(f.Problem.Message, ".") { // the name of a field and its rule
		f.Problem.Message += "."
	}
	if known.RetryAfter > 0 {
		f.retryAfter = known.RetryAfter
	}
	more := detail{Reason: fault.CodeOf(known)}
	for _, d := range known.Details {
		more.Fields = append(more.Fields, wrongField(d))
	}
	if len(more.Fields) > 0 || more.Reason != "" {
		f.Problem.Detail = &more
	}
	return f
}

// fromEcho converts Echo's own errors.
func fromEcho(err *echo.HTTPError) *failure {
	f := &failure{status: err.Code, cause: err}
	switch {
	case err.Code == http.StatusNotFound:
		f.Problem = problem{Code: codeNotFound, Message: "There is nothing at this address. See /docs for what there is."}
		return f
	case err.Code == http.StatusMethodNotAllowed:
		f.Problem = problem{Code: codeMethod, Message: "This address does not take that method. The Allow header and /docs say which it takes."}
		return f
	case err.Code == http.StatusRequestEntityTooLarge:
		return ofKind(fault.TooLarge, err)
	case err.Code < http.StatusInternalServerError:
		return ofKind(fault.Invalid, err)
	default:
		return ofKind(fault.Internal, err)
	}
}

// completeFailure adds the meta and headers of an answer, and logs failures on our
// side.
func (s *server) completeFailure(ctx context.Context, f *failure, setHeader func(name, value string)) {
	f.Meta = s.meta(ctx)
	if f.retryAfter > 0 {
		setHeader("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	request := requestOf(ctx)
	request.code = f.Problem.Code
	switch {
	case disconnected(ctx, f.status):
		s.Log.InfoContext(ctx, "client disconnected", "code", f.Problem.Code, "trace", request.id, "error", f.cause)
	case f.status == http.StatusInternalServerError:
		s.Log.ErrorContext(ctx, "a request failed", "code", f.Problem.Code, "trace", request.id, "error", f.cause)
	case f.status > http.StatusInternalServerError:
		log := s.Log
		if !request.known() {
			log = s.refused
		}
		log.WarnContext(ctx, "a request could not be carried out", "code", f.Problem.Code, "trace", request.id, "error", f.cause)
	}
}

// statusDisconnected is nginx's status for a client that disconnected, in log and
// metrics.
const statusDisconnected = 499

// disconnected reports whether a request failed because its client disconnected,
// which ends its context.
func disconnected(ctx context.Context, status int) bool {
	return status == http.StatusServiceUnavailable && errors.Is(ctx.Err(), context.Canceled)
}

// answerError is Echo's error handler. It does nothing if an answer was begun.
func (s *server) answerError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	f := s.orRateLimited(asFailure(err), c)
	s.completeFailure(c.Request().Context(), f, c.Response().Header().Set)
	if c.Request().Method == http.MethodHead {
		err = c.NoContent(f.status)
	} else {
		err = c.JSON(f.status, f)
	}
	if err != nil {
		s.Log.WarnContext(c.Request().Context(), "an answer could not be sent", "trace", f.Meta.RequestID, "error", err)
	}
}
