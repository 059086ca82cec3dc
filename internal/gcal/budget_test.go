package gcal

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"questscheduler/fault"
)

// clock is a clock that stands until somebody waits.
type clock struct {
	at     time.Time
	waited time.Duration
}

func (c *clock) now() time.Time { return c.at }

func (c *clock) wait(_ context.Context, d time.Duration) error {
	c.at, c.waited = c.at.Add(d), c.waited+d
	return nil
}

func newTestBudget(share float64) (*Budget, *clock) {
	c := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return NewBudget(BudgetOptions{
		Share: share, Now: c.now, Wait: c.wait, Jitter: func(d time.Duration) time.Duration { return d },
	}), c
}

// A caller that calls as often as allowed stays below the quota in every minute.
func TestBudget_KeepsBelowTheQuotasInAnyMinute(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		people int
		share  float64
		quota  int
	}{
		"of one person":             {1, 1, 600},
		"of the project":            {40, 1, 10_000},
		"of a third of the project": {40, 1.0 / 3, 3_334},
	} {
		budget, c := newTestBudget(row.share)
		var calls []time.Time
		for end := c.at.Add(4 * time.Minute); c.at.Before(end); {
			for person := range row.people {
				err := budget.take(t.Context(), string(rune('a'+person)))
				if err == nil {
					calls = append(calls, c.at)
				} else if !fault.Is(err, fault.RateLimited) || fault.RetryAfter(err) <= 0 {
					t.Fatalf("%s: %v", name, err)
				}
			}
			c.at = c.at.Add(time.Millisecond)
		}
		first := 0
		for last, at := range calls {
			for at.Sub(calls[first]) >= time.Minute {
				first++
			}
			if within := last - first + 1; within > row.quota {
				t.Fatalf("%s: %d calls within a minute, the quota is %d", name, within, row.quota)
			}
		}
		if len(calls) < 2*row.quota {
			t.Errorf("%s: only %d calls in four minutes", name, len(calls))
		}
	}
}

func TestBudget_OneWhoCallsMuchHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	budget, c := newTestBudget(1)
	budget.options.Wait = func(context.Context, time.Duration) error { return nil } // all at one moment
	refused := 0
	for range 1000 {
		if err := budget.take(t.Context(), "gm"); fault.Is(err, fault.RateLimited) {
			refused++
		}
	}
	if refused < 600 {
		t.Errorf("of a thousand calls at once %d were refused", refused)
	}
	budget.options.Wait = c.wait
	if err := budget.take(t.Context(), "ana"); err != nil || c.waited != 0 {
		t.Errorf("another one waits %v: %v", c.waited, err)
	}
}

func TestBudget_ACallThatCannotWait_TakesNothing(t *testing.T) {
	t.Parallel()
	budget, c := newTestBudget(1)
	for range 285 {
		if err := budget.take(t.Context(), "gm"); err != nil || c.waited != 0 {
			t.Fatalf("within the budget: %v, waited %v", err, c.waited)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	budget.options.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	for range 100 {
		if err := budget.take(ended, "gm"); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("a call that is given up: %v", err)
		}
	}
	budget.options.Wait = c.wait
	if err := budget.take(t.Context(), "gm"); err != nil || c.waited > time.Second {
		t.Errorf("the next one waits %v: %v", c.waited, err)
	}
}

// What mirrors take leaves the rest of an account's quota to others at any time.
func TestBudget_WithinAShare_LeavesTheRest(t *testing.T) {
	t.Parallel()
	budget, c := newTestBudget(1)
	half := budget.within(0.5)
	shares, rest, end := 0, 0, c.at.Add(4*time.Minute)
	for ; c.at.Before(end); c.at = c.at.Add(50 * time.Millisecond) {
		if half.take(t.Context(), "a") == nil {
			shares++
		}
	}
	for c.at = end; ; rest++ {
		before := c.waited
		if budget.take(t.Context(), "a") != nil || c.waited > before {
			break
		}
	}
	// A burst of a quarter of the quota and what refills at a quarter of it a minute, each a
	// twentieth below.
	if most := 143 + 4*143; shares < most-20 || shares > most+20 {
		t.Errorf("the share made %d calls in four minutes, want about %d", shares, most)
	}
	if rest < 142 {
		t.Errorf("the others could make %d calls at once", rest)
	}
	if err := half.take(t.Context(), "b"); err != nil {
		t.Errorf("another account: %v", err)
	}
	if budget.within(0.5).project.Burst() != budget.project.Burst()/2 {
		t.Errorf("of the project's burst of %d it takes %d", budget.project.Burst(), budget.within(0.5).project.Burst())
	}
}

// What a share is refused costs the whole nothing.
func TestBudget_RefusedShare_GivesItsTurnsBack(t *testing.T) {
	t.Parallel()
	budget, c := newTestBudget(1)
	half := budget.within(0.01)
	for range 100 {
		_ = half.take(t.Context(), "a") // most are refused
	}
	if left := budget.person("a", c.at).TokensAt(c.at); left < 270 {
		t.Errorf("%.0f of 285 calls are left", left)
	}
}

// Backlogs of many accounts together leave the rest of the project's quota to others, such as
// a finalisation for an account without a backlog, at any time.
func TestBudget_BacklogsOfManyAccounts_DelayNoOther(t *testing.T) {
	t.Parallel()
	budget, c := newTestBudget(1)
	mirrors, guests := budget.within(0.5), budget.within(0.25)
	calls, end := 0, c.at.Add(3*time.Minute)
	wait := budget.options.Wait
	noWait := func(context.Context, time.Duration) error { return context.Canceled } // a backlog that is put off asks again
	for n := 0; c.at.Before(end); n++ {
		mirrors.options.Wait, guests.options.Wait = noWait, noWait
		for account := range 60 {
			name := fmt.Sprint("account", account)
			for _, backlog := range []*Budget{mirrors, guests} {
				if backlog.take(t.Context(), name) == nil {
					calls++
				}
			}
		}
		budget.options.Wait = wait
		if err := budget.take(t.Context(), fmt.Sprint("other", n)); err != nil || c.waited > 0 {
			t.Fatalf("a finalisation after %d calls of backlogs waits %v: %v", calls, c.waited, err)
		}
		c.at = c.at.Add(100 * time.Millisecond)
	}
	if most := 3 * 7500; calls < most/2 || calls > most {
		t.Errorf("the backlogs made %d calls in three minutes", calls)
	}
}

func TestBudget_CallsOfAShare_CountForTheWhole(t *testing.T) {
	t.Parallel()
	budget, c := newTestBudget(1)
	share := budget.within(0.5)
	for range 100 {
		if err := share.take(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	person, project := budget.person("a", c.at), budget.project
	for name, bucket := range map[string]*rate.Limiter{"person": person, "project": project} {
		if left := bucket.TokensAt(c.at); left > float64(bucket.Burst()-100) {
			t.Errorf("of the %s's %d calls at once %.0f are left after 100", name, bucket.Burst(), left)
		}
	}
}
