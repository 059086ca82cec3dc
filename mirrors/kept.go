package mirrors

import (
	"time"

	"questscheduler/internal/gcal"
)

// endedLong is after how long an event of ours is no stray for its end alone. It is less than
// the 90 days after which the mapping of a group's event is removed, while the event stays.
const endedLong = 30 * 24 * time.Hour

// endedLongAgo reports whether an event is of a mapping that may have been removed for its age.
func endedLongAgo(event gcal.Event, now time.Time) bool {
	if event.Details == nil || event.Details.End.IsZero() || len(event.Details.Recurrence) > 0 {
		return false
	}
	return event.Details.End.Instant(time.UTC).Before(now.Add(-endedLong))
}
