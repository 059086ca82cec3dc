package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
)

func TestKind_OfAWrappedError_IsKept(t *testing.T) {
	t.Parallel()
	cause := errors.New("row is locked")
	inner := &fault.Error{Kind: fault.Unavailable, Message: "the store is busy", RetryAfter: time.Second, Err: cause}
	err := fmt.Errorf("poll 7f: finalise: %w", inner)

	if got := fault.KindOf(err); got != fault.Unavailable {
		t.Errorf("kind = %v, want unavailable", got)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is no longer in the chain")
	}
	if got := fault.RetryAfter(err); got != time.Second {
		t.Errorf("retry after = %v, want 1s", got)
	}
	if got, want := err.Error(), "poll 7f: finalise: the store is busy: row is locked"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
}

func TestKind_OfAnErrorWithoutOne_IsInternal(t *testing.T) {
	t.Parallel()
	if got := fault.KindOf(errors.New("boom")); got != fault.Internal {
		t.Errorf("kind = %v, want internal", got)
	}
	if fault.Is(nil, fault.Internal) {
		t.Error("nil is an error of no kind")
	}
}

func TestCode_BelowAnErrorWithoutOne_IsFound(t *testing.T) {
	t.Parallel()
	coded := &fault.Error{Kind: fault.Revoked, Code: "token_expired", Message: "link the calendar again"}
	err := fault.Wrap(fault.Unavailable, coded, "look")
	if got := fault.CodeOf(err); got != "token_expired" {
		t.Errorf("code = %q, want token_expired", got)
	}
	if got := fault.CodeOf(errors.New("x")); got != "" {
		t.Errorf("code of a plain error = %q, want none", got)
	}
}

func TestMessage_OfAnErrorWithoutOne_IsAnother(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{"busy": fault.New(fault.Unavailable, "busy"), "otherwise": errors.New("x")} {
		if got := fault.MessageOf(err, "otherwise"); got != want {
			t.Errorf("the message of %v is %q, want %q", err, got, want)
		}
	}
}

func TestField_Invalid_NamesTheFieldAndTheRule(t *testing.T) {
	t.Parallel()
	err := fault.Field("title", "must be 1 to 200 characters long")
	if err.Kind != fault.Invalid || len(err.Details) != 1 || err.Details[0].Field != "title" {
		t.Errorf("got %+v", err)
	}
}
