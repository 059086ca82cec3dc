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
			if now = now.Add(wait); wait == 0 {
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
