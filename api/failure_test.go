package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

func TestFailure_OfEveryKind_HasItsStatusAndCode(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		kind   fault.Kind
		status int
		code   string
		retry  bool
	}{
		{fault.Internal, 500, "INTERNAL_ERROR", false},
		{fault.Invalid, 400, "VALIDATION_ERROR", false},
		{fault.Unauthenticated, 401, "AUTH_REQUIRED", false},
		{fault.Forbidden, 403, "FORBIDDEN", false},
		{fault.NotFound, 404, "NOT_FOUND", false},
		{fault.Conflict, 409, "CONFLICT", false},
		{fault.Revoked, 422, "ACCOUNT_REVOKED", false},
		{fault.RateLimited, 429, "PROVIDER_QUOTA", true},
		{fault.Provider, 502, "PROVIDER_ERROR", false},
		{fault.Unavailable, 503, "UNAVAILABLE", true},
		{fault.TooLarge, 413, "PAYLOAD_TOO_LARGE", false},
		{fault.Exhausted, 429, "PROVIDER_QUOTA", true},
	} {
		t.Run(row.kind.String(), func(t *testing.T) {
			t.Parallel()
			bare := asFailure(fmt.Errorf("poll 7: finalise: %w", &fault.Error{Kind: row.kind, Err: errors.New("inside")}))
			if bare.status != row.status || bare.Problem.Code != row.code || bare.Problem.Message == "" || (bare.retryAfter > 0) != row.retry {
				t.Errorf("became %+v", bare)
			}
			shown := asFailure(&fault.Error{Kind: row.kind, Message: "Do that.", Code: "fine", RetryAfter: time.Minute})
			if row.kind == fault.Internal {
				if shown.Problem != bare.Problem || shown.Problem.Detail != nil {
					t.Errorf("gives away %+v", shown.Problem)
				}
				return
			}
			if shown.Problem.Message != "Do that." || shown.Problem.Detail == nil || shown.Problem.Detail.Reason != "fine" ||
				shown.retryAfter != time.Minute {
				t.Errorf("became %+v", shown)
			}
		})
	}
	for kind, code := range map[fault.Kind]string{fault.RateLimited: "RATE_LIMITED", fault.Conflict: "CONFLICT"} {
		ours := asFailure(fmt.Errorf("group 7: update: %w", &fault.Error{Kind: kind, Own: true, Message: "Wait.", RetryAfter: time.Minute}))
		if ours.Problem.Code != code || ours.status != replies[kind].status || ours.Problem.Message != "Wait." || ours.retryAfter != time.Minute {
			t.Errorf("of ours, it became %+v", ours)
		}
	}
	if known := fault.Kind(len(replies)); known.String() != "internal" || fault.Kind(len(replies)-1).String() == "internal" {
		t.Errorf("%d kinds have a reply, which are not all there are", len(replies))
	}
}

func TestFailure_ErrorWithoutAKind_ShowsNothing(t *testing.T) {
	t.Parallel()
	inside := asFailure(errors.New("open /var/secret"))
	if inside.status != 500 || inside.Problem.Detail != nil || inside.Problem.Message != replies[fault.Internal].message {
		t.Errorf("became %+v", inside.Problem)
	}
	for _, late := range []error{context.DeadlineExceeded, context.Canceled} {
		if f := asFailure(fmt.Errorf("get: %w", late)); f.status != 503 {
			t.Errorf("%v became %d", late, f.status)
		}
	}
}

// TestFailure_Transient_HasRetryAfter: 429 and 503 never leave without
// Retry-After, whole seconds and at least one, from any source.
func TestFailure_Transient_HasRetryAfter(t *testing.T) {
	t.Parallel()
	s := &server{Options: Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)}}
	s.addresses, s.refused = newLimiter(Rate{}, defaultAddressRate), s.Log
	passing := map[string]error{"too fast": errTooFast(time.Millisecond)}
	for kind, reply := range replies {
		for name, after := range map[string]time.Duration{
			"": 0, " soon": time.Nanosecond, " in 90 s": 90 * time.Second, " before now": -time.Second,
		} {
			if reply.status == http.StatusTooManyRequests || reply.status == http.StatusServiceUnavailable {
				passing[kind.String()+name] = &fault.Error{Kind: kind, RetryAfter: after}
			}
		}
	}
	if len(passing) != 1+3*4 {
		t.Errorf("%d errors pass", len(passing))
	}
	for name, err := range passing {
		recorder := httptest.NewRecorder()
		s.answerError(err, echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/v1/polls", nil), recorder))
		seconds, wrong := strconv.Atoi(recorder.Header().Get("Retry-After"))
		if wrong != nil || seconds < 1 || strings.HasSuffix(name, "90 s") && seconds != 90 {
			t.Errorf("%s: status %d, Retry-After %q", name, recorder.Code, recorder.Header().Get("Retry-After"))
		}
	}
}
