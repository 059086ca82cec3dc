package plan

import (
	"time"

	"questscheduler/internal/mirror"
)

// The window: mirrored are events that overlap it.
const (
	before = 24 * time.Hour
	ahead  = 400 * 24 * time.Hour
)

// ended reports whether the event lies before the window.
func ended(until, now time.Time) bool { return !until.After(now.Add(-before)) }

// beyond reports whether the event lies after the window.
func beyond(event mirror.Event, now time.Time) bool { return !event.From.Before(now.Add(ahead)) }

// DueAt is when time alone next changes which mirrors the event should have: when it comes
// within the window; zero for never. Store it with the event after each planning.
func DueAt(event mirror.Event, now time.Time) time.Time {
	if event.Status == cancelled || !beyond(event, now) {
		return time.Time{}
	}
	return event.From.Add(-ahead).Add(time.Second)
}

// isMirrored reports whether an event has mirrors of this detail at all: it is not
// cancelled, declined by its owner, free time (unless everything is shown), a copy of a
// mirror, or a mark of Google's in the calendar rather than an event.
func isMirrored(event mirror.Event, owner string, detail mirror.Detail) bool {
	switch event.Kind {
	case "workingLocation", "birthday", "focusTime", mirror.KindCopy:
		return false
	}
	return event.Status != cancelled && (!event.Declined || event.OwnerID != owner) &&
		(event.Transparency != "transparent" || effective(event, detail) == mirror.Full)
}
