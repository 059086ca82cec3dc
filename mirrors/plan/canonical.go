package plan

import (
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/rules"
)

// Origin says whose event an observation is, and where it was observed.
type Origin struct {
	OwnerID, AccountID, CalendarID string
	// Source of a new event; "" means SourceProvider.
	Source mirror.Source
	// PollID and GroupID are set for the session of a poll, GroupID if its group shares it.
	PollID, GroupID string
	// ICalUID is that of the series, for an exception whose answer lacks it, as that of a
	// cancelled one may; "" if unknown.
	ICalUID string
}

// Canonical returns the canonical event after an observation of its origin, and whether the
// document differs. For a new event was has its ID alone. Unchanged are: an observation
// that is older than what is stored, one whose times cannot be read, and a deletion of an
// event that is not known. Of a cancelled event Google guarantees the id alone, and of a
// cancelled exception its series and original start too: the rest stays as it was known.
// Version grows if a field that the API shows changes.
func Canonical(was mirror.Event, shown gcal.Event, at Origin, now time.Time) (next mirror.Event, changed bool) {
	panic("unwritten")
}

// Bounds returns the start of the event's first occurrence and the end of its last, as
// Event.From and Event.Until. A series whose rule cannot be read counts as endless.
func Bounds(event mirror.Event) (from, until time.Time) { panic("unwritten") }

// PlanAt is when time alone next changes which mirrors the event should have: when it comes
// within the window; zero for never. Store it with the event after each planning.
func PlanAt(event mirror.Event, now time.Time) time.Time { panic("unwritten") }

func gone(shown gcal.Event) bool { return shown.EventState == rules.Gone }
