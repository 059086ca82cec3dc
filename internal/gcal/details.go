package gcal

import "questscheduler/internal/recurrence"

// Details are what other consumers than polls read of an event.
type Details struct {
	ICalUID     string
	Summary     string
	Description string
	Location    string
	// Status is "confirmed", "tentative" or "cancelled"; "confirmed" if absent.
	Status string
	// Start and End are zero if they are absent or unreadable.
	Start, End recurrence.Moment
	// Recurrence are the RRULE, RDATE and EXDATE lines of a series.
	Recurrence []string
	// Original is the start that an instance has by its series' rule.
	Original recurrence.Moment
	// Visibility and Transparency are "default" and "opaque" if absent.
	Visibility   string
	Transparency string
	// Kind is the eventType; "default" if absent.
	Kind string
	// Response is the account's own answer to an invitation, such as "declined"; "" if it
	// is not among the guests.
	Response string
	// Organized reports whether the calendar asked is the organizer's, rather than a guest's.
	Organized bool
}
