package rules_test

import (
	"testing"
	"time"

	"questscheduler/rules"
)

// Whoever always comes as soon as they may is let through so often in an hour, in
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
