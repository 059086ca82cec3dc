package calendars

import (
	"time"

	"questscheduler/internal/store"
)

// SweepsDue selects the calendars that a sweep is due for at a time, longest first.
var SweepsDue = store.Select("calendars with a sweep that is due", "calendars", "sweepAt", store.Where("sweepAt", store.LessOrEqual))

const (
	// sweepRetries is how often a failed sweep is tried again. Then it is left to the next one.
	sweepRetries   = 3
	sweepRetryWait = 10 * time.Second
)

// PlanSweep has a calendar swept at a time.
func PlanSweep(at time.Time, trace string) []store.Update {
	return []store.Update{store.Set("sweepAt", at), store.Set("sweepTrace", store.NullIfEmpty(trace))}
}

// SweepEnded ends a sweep. One that failed is tried again; again is when, zero where it is left
// to the next sweep.
func (c Calendar) SweepEnded(now time.Time, failed bool) (updates []store.Update, again time.Time) {
	if failed && c.SweepFailures < sweepRetries {
		again = now.Add(sweepRetryWait << c.SweepFailures)
		return []store.Update{store.Set("sweepAt", again), store.Set("sweepFailures", c.SweepFailures+1)}, again
	}
	return []store.Update{store.Set("sweepAt", store.Delete), store.Set("sweepFailures", store.Delete)}, time.Time{}
}
