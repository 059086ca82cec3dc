package sqlite

import (
	"context"
	"errors"
	"testing"

	"questscheduler/fault"
)

// A caller whose context ended is passed over by its batch, which is committed
// without it; whichever of the two it hears of first, nothing of it was written.
func TestWait_SkippedMember_GetsNoSuccess(t *testing.T) {
	t.Parallel()
	for range 100 { // which of the two is heard is drawn
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m := newMember(ctx)
		if err := m.offer(&session{}); err != nil {
			t.Fatal(err)
		}
		m.result <- nil
		err := m.wait(func(*session) error { return errors.New("it had a turn") })
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want an error of kind %s", err, fault.Unavailable)
		}
	}
}
