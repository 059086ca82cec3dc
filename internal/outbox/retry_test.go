package outbox

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
)

func TestRetry_WaitsByTheKindOfFailure(t *testing.T) {
	t.Parallel()
	asks := func(kind fault.Kind, after time.Duration) error { return &fault.Error{Kind: kind, RetryAfter: after} }
	for _, row := range []struct {
		err  error
		want string // after failures 1, 2, 5 and 100
	}{
		{asks(fault.Unavailable, 0), "10s 20s 2m40s 10m0s"},
		{asks(fault.Unavailable, time.Hour), "1h0m0s 1h0m0s 1h0m0s 1h0m0s"},
		{asks(fault.Unavailable, 15*time.Second), "15s 20s 2m40s 10m0s"},
		{asks(fault.Provider, 0), "30s 1m0s 8m0s 24h0m0s"},
		{asks(fault.Forbidden, 0), "30s 1m0s 8m0s 24h0m0s"},
		{asks(fault.NotFound, 0), "30s 1m0s 8m0s 24h0m0s"},
		{asks(fault.TooLarge, 0), "30s 1m0s 8m0s 24h0m0s"},
		{asks(fault.RateLimited, 0), "1m0s 1m0s 1m0s 1m0s"},
		{asks(fault.Exhausted, 2*time.Minute), "2m0s 2m0s 2m0s 2m0s"},
		{asks(fault.Revoked, 0), "10m0s 10m0s 10m0s 10m0s"},
		{errors.New("unexpected"), "10s 20s 2m40s 24h0m0s"},
		{fmt.Errorf("wrapped: %w", asks(fault.Revoked, time.Hour)), "1h0m0s 1h0m0s 1h0m0s 1h0m0s"},
	} {
		var r Retry
		got := fmt.Sprint(r.Wait(row.err, 1), r.Wait(row.err, 2), r.Wait(row.err, 5), r.Wait(row.err, 100))
		if got != row.want {
			t.Errorf("%v: %s, want %s", fault.KindOf(row.err), got, row.want)
		}
	}
	own := Retry{First: time.Minute, Most: 3 * time.Minute, Quota: time.Second, Relink: time.Hour, Refused: 2 * time.Minute}
	got := fmt.Sprint(own.Wait(asks(fault.Unavailable, 0), 1), own.Wait(asks(fault.Unavailable, 0), 3), own.Wait(asks(fault.Exhausted, 0), 1),
		own.Wait(asks(fault.Revoked, 0), 9), own.Wait(asks(fault.Provider, 0), 1))
	if want := "1m0s 3m0s 1s 1h0m0s 2m0s"; got != want {
		t.Errorf("a kind's own waits: %s, want %s", got, want)
	}
}
