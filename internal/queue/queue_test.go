package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

func TestBackoff_DoublesBetweenItsBounds(t *testing.T) {
	t.Parallel()
	for attempt, longest := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 10: 512 * time.Second,
		11: 10 * time.Minute, 12: 10 * time.Minute, 1 << 30: 10 * time.Minute,
	} {
		if got := queue.Backoff(attempt, nil); got != longest {
			t.Errorf("attempt %d: at most %v, want %v", attempt, got, longest)
		}
		if got := queue.Backoff(attempt, func(n int) int { return n - 1 }); got != longest {
			t.Errorf("attempt %d: the highest draw gives %v, want %v", attempt, got, longest)
		}
		if got := queue.Backoff(attempt, func(int) int { return 0 }); got != longest/2 {
			t.Errorf("attempt %d: the lowest draw gives %v, want %v", attempt, got, longest/2)
		}
	}
}

func TestGivenUp_OnlyOftenAndLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempt int
		age     time.Duration
		want    bool
	}{
		{1, 0, false},
		{queue.GiveUpAttempts, queue.GiveUpAge - 1, false},
		{queue.GiveUpAttempts - 1, 10 * queue.GiveUpAge, false},
		{queue.GiveUpAttempts, queue.GiveUpAge, true},
	} {
		if got := queue.GivenUp(c.attempt, c.age); got != c.want {
			t.Errorf("%d attempts in %v: given up %v, want %v", c.attempt, c.age, got, c.want)
		}
		for _, outcome := range []queue.Outcome{queue.Retry, queue.Done, queue.Later, queue.Permanent} {
			want, cancelled := outcome, outcome
			if outcome == queue.Retry {
				cancelled = queue.Later
			}
			if c.want && outcome == queue.Retry {
				want = queue.Permanent
			}
			verdict := queue.Verdict{Outcome: outcome}
			if got := verdict.Final(c.attempt, c.age, false).Outcome; got != want {
				t.Errorf("%d attempts in %v: outcome %d became %d, want %d", c.attempt, c.age, outcome, got, want)
			}
			if got := verdict.Final(c.attempt, c.age, true).Outcome; got != cancelled {
				t.Errorf("cancelled by Stop, %d attempts in %v: outcome %d became %d, want %d", c.attempt, c.age, outcome, got, cancelled)
			}
		}
	}
}

func TestCheckKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		kinds []string
		valid bool
	}{
		{"words", []string{"look", "look-again", "v2"}, true},
		{"none", nil, false},
		{"an empty one", []string{""}, false},
		{"one twice", []string{"look", "look"}, false},
		{"a capital", []string{"Look"}, false},
		{"a digit first", []string{"2nd"}, false},
		{"a hyphen last", []string{"look-"}, false},
		{"two hyphens", []string{"look--again"}, false},
		{"41 bytes", []string{strings.Repeat("k", 41)}, false},
		{"40 bytes", []string{strings.Repeat("k", 40)}, true},
	} {
		err := queue.CheckKinds(c.kinds)
		if c.valid && err != nil || !c.valid && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v; valid: %v", c.what, err, c.valid)
		}
	}
}

func TestReason_IsCutAndReadable(t *testing.T) {
	t.Parallel()
	if got := queue.Reason(nil); got == "" {
		t.Error("no error gives no reason")
	}
	long := errors.New("x" + strings.Repeat("é", 1000))
	if got := queue.Reason(long); len(got) > 500 || len(got) < 490 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}

func TestInvoke_Panic_IsAVerdictWithStack(t *testing.T) {
	t.Parallel()
	verdict := queue.Invoke(t.Context(), func(context.Context, queue.Delivery) queue.Verdict {
		panic("a nil map")
	}, queue.Delivery{})
	var panicked *queue.PanicError
	if verdict.Outcome != queue.Retry || !errors.As(verdict.Err, &panicked) {
		t.Fatalf("got %+v", verdict)
	}
	if !strings.Contains(verdict.Err.Error(), "a nil map") || !strings.Contains(string(panicked.Stack), "TestInvoke") {
		t.Errorf("got %v at\n%s", verdict.Err, panicked.Stack)
	}
}
