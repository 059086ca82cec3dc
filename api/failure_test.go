package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
)

func TestFailure_OfEveryKind(t *testing.T) {
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
			told := asFailure(&fault.Error{Kind: row.kind, Message: "Do that.", Code: "fine", RetryAfter: time.Minute})
			if row.kind == fault.Internal {
				if told.Problem != bare.Problem || told.Problem.Detail != nil {
					t.Errorf("gives away %+v", told.Problem)
				}
				return
			}
			if told.Problem.Message != "Do that." || told.Problem.Detail == nil || told.Problem.Detail.Reason != "fine" || told.retryAfter != time.Minute {
				t.Errorf("became %+v", told)
			}
		})
	}
	if known := fault.Kind(len(replies)); known.String() != "internal" || fault.Kind(len(replies)-1).String() == "internal" {
		t.Errorf("%d kinds have a reply, which are not all there are", len(replies))
	}
}

func TestFailure_OfAnErrorWithoutAKind_SaysNothing(t *testing.T) {
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
