// Package recurrence says what the recurrence rules of Google Calendar's events mean:
// RRULE, RDATE and EXDATE lines of RFC 5545.
package recurrence

import "time"

// Moment is a start, an end or an original start, as Google Calendar has them: a day, or
// an instant with the zone that it is shown in.
type Moment struct {
	// Date is a day, "2006-01-02", of an all-day event; an end is exclusive.
	Date string
	// Time is the instant of a timed event, in UTC; zero if Date is set.
	Time time.Time
	// Zone is the IANA zone of a timed event; "" if unknown.
	Zone string
}

// IsZero reports whether the moment is not set.
func (m Moment) IsZero() bool { return m.Date == "" && m.Time.IsZero() }

// AllDay reports whether the moment is a day.
func (m Moment) AllDay() bool { return m.Date != "" }
