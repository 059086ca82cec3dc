package api

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/rules"
)

func TestArrive(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	const every, burst = time.Second, 3
	for _, row := range []struct {
		name string
		due  time.Duration // from now
		next time.Duration
		wait time.Duration
	}{
		{"the first of all", -1 << 62, time.Second, 0},
		{"after a long rest", -time.Hour, time.Second, 0},
		{"just in time", 0, time.Second, 0},
		{"the second at once", time.Second, 2 * time.Second, 0},
		{"the last of a burst", 2 * time.Second, 3 * time.Second, 0},
		{"one beyond it", 3 * time.Second, 3 * time.Second, time.Second},
		{"a little too early", 2*time.Second + 1, 2*time.Second + 1, 1},
		{"before the clock was set back", 3*time.Second + 1, time.Second, 0},
	} {
		next, wait := rules.Pace{Every: every, Burst: burst}.Arrive(now.Add(row.due), now)
		if !next.Equal(now.Add(row.next)) || wait != row.wait {
			t.Errorf("%s: next in %v, wait %v; want %v, %v", row.name, next.Sub(now), wait, row.next, row.wait)
		}
	}
}

func TestLimiter_SteadyRequests_AdmitsBurstThenRate(t *testing.T) {
	t.Parallel()
	l, now, through := newLimiter(Rate{PerSecond: 10, Burst: 5}, Rate{}), time.Unix(1_000_000, 0), 0
	for range 1000 { // ten seconds, a hundred requests in each
		if l.take("gm", now) == 0 {
			through++
		}
		now = now.Add(10 * time.Millisecond)
	}
	if through != 5+99 {
		t.Errorf("%d went through", through)
	}
	if wait := l.take("ana", now); wait != 0 {
		t.Errorf("somebody else waits %v", wait)
	}
}

func TestLimiter_Full_ForgetsIdleClientsOnly(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(Rate{PerSecond: 1, Burst: 2}, Rate{}), time.Unix(1_000_000, 0)
	fill := func(form string) {
		for i := range 2 * maxLimited {
			l.take(fmt.Sprintf(form, i), now)
		}
	}
	fill("a%d")
	if len(l.due) > maxLimited+1 {
		t.Errorf("%d are kept", len(l.due))
	}
	if l.take("one too many", now) == 0 {
		t.Error("those who are too many are not limited at all")
	}
	now = now.Add(time.Hour)
	if l.take("a newcomer", now) != 0 || len(l.due) != 1 {
		t.Errorf("after a rest %d are kept", len(l.due))
	}
}
