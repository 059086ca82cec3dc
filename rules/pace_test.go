package rules_test

import (
	"testing"
	"time"

	"questscheduler/rules"
)

// A caller that always comes as soon as allowed is let through so often in an hour, in
// whichever hour.
func TestPerHour_ComesWheneverItMay_KeepsEachHour(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 3, 20, 60} {
		pace := rules.PerHour(most)
		var due time.Time
		var came []time.Time
		for now, end := time.Unix(1_000_000, 0), time.Unix(1_000_000, 0).Add(5*time.Hour); now.Before(end); {
			next, wait := pace.Arrive(due, now)
			now = now.Add(wait)
			if wait == 0 {
				due, came = next, append(came, now)
			}
		}
		fullest := 0
		for i := range came {
			n := 0
			for _, later := range came[i:] {
				if later.Sub(came[i]) < time.Hour {
					n++
				}
			}
			fullest = max(fullest, n)
		}
		if fullest != most || len(came) < most {
			t.Errorf("%d an hour: %d came in the fullest", most, fullest)
		}
	}
}

// Instances whose clocks differ keep one due time: whichever of them asks, no hour
// has more than the bound and one more for a burst that the skew hides.
func TestPerHour_ClocksApart_KeepsTheHour(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 20, 60} {
		for _, skew := range []time.Duration{time.Second, time.Minute, 10 * time.Minute} {
			pace := rules.PerHour(most)
			var due time.Time
			var came []time.Time
			start := time.Unix(1_000_000, 0)
			for now := start; now.Before(start.Add(3 * time.Hour)); now = now.Add(time.Second) {
				for _, off := range []time.Duration{skew, 0} { // the faster clock asks first
					if next, wait := pace.Arrive(due, now.Add(off)); wait == 0 {
						due, came = next, append(came, now)
					}
				}
			}
			fullest := 0
			for i := range came {
				n := 0
				for _, later := range came[i:] {
					if later.Sub(came[i]) < time.Hour {
						n++
					}
				}
				fullest = max(fullest, n)
			}
			if allowed := most + int(skew/pace.Every) + 1; fullest > allowed {
				t.Errorf("%d an hour, clocks apart by %v: %d came in the fullest, more than %d", most, skew, fullest, allowed)
			}
		}
	}
}

// The due time decides: behind the clock it grants a full burst, within the skew of a
// faster clock none, and beyond it the clock was set back.
func TestArrive_DueTimeAroundTheClock_WaitsSoLong(t *testing.T) {
	t.Parallel()
	pace := rules.Pace{Every: time.Minute, Burst: 3, Skew: 10 * time.Minute}
	now := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		name       string
		due        time.Duration // from now
		next, wait time.Duration
	}{
		{name: "long behind", due: -time.Hour, next: time.Minute},
		{name: "now", due: 0, next: time.Minute},
		{name: "one to come", due: time.Minute, next: 2 * time.Minute},
		{name: "the last of a burst", due: 2 * time.Minute, next: 3 * time.Minute},
		{name: "a little beyond it", due: 2*time.Minute + time.Second, next: 2*time.Minute + time.Second, wait: time.Second},
		{name: "a full burst", due: 3 * time.Minute, next: 3 * time.Minute, wait: time.Minute},
		{name: "of a faster clock", due: 8 * time.Minute, next: 8 * time.Minute, wait: time.Minute},
		{name: "at the end of the skew", due: 13 * time.Minute, next: 13 * time.Minute, wait: time.Minute},
		{name: "of a clock set back", due: 13*time.Minute + 1, next: time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			next, wait := pace.Arrive(now.Add(c.due), now)
			if next.Sub(now) != c.next || wait != c.wait {
				t.Errorf("next %v, wait %v; want %v and %v", next.Sub(now), wait, c.next, c.wait)
			}
		})
	}
}
