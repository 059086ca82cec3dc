package gcal

import "questscheduler/internal/recurrence"

// Content is what we write of an event that is no poll's: a mirror's, or one that a person
// makes over REST. It has no guests, no conference and no reminders.
type Content struct {
	Summary     string
	Description string
	Location    string
	Start, End  recurrence.Moment
	// Recurrence are the RRULE, RDATE and EXDATE lines of a series.
	Recurrence []string
	// Transparency is "opaque" or "transparent", Visibility "default" or "private".
	Transparency string
	Visibility   string
}
