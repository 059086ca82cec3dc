package gcal

import (
	"cmp"
	"time"
	_ "time/tzdata" // zones are read the same on machines without a zone database

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// wallLayout is a dateTime without offset; a fraction may follow.
const wallLayout = "2006-01-02T15:04:05"

// readTimes returns the fingerprint of a start and an end; ok is false if they are
// absent, mixed, unreadable, reversed or out of range. zone is the calendar's.
func readTimes(start, end wireTime, zone string) (fingerprint rules.Fingerprint, ok bool) {
	from, to := readMoment(start, zone), readMoment(end, zone)
	if from.IsZero() || to.IsZero() || from.AllDay() != to.AllDay() {
		return rules.Fingerprint{}, false
	}
	fingerprint = rules.Timed(from.Instant(time.UTC), to.Instant(time.UTC))
	fingerprint.AllDay = from.AllDay()
	if fingerprint.End < fingerprint.Start {
		return rules.Fingerprint{}, false
	}
	return fingerprint, true
}

// readMoment reads a time of an event; zero if it is absent or unreadable. The zone is its
// own, else the calendar's.
func readMoment(t wireTime, calendarZone string) recurrence.Moment {
	switch {
	case t.Date != "" && t.DateTime != "":
		return recurrence.Moment{}
	case t.Date != "":
		day, err := time.Parse(time.DateOnly, t.Date)
		if err != nil || day.Year() < 1 {
			return recurrence.Moment{}
		}
		return recurrence.Moment{Date: t.Date}
	}
	at, ok := readInstant(t, calendarZone)
	at = at.UTC()
	if !ok || at.Year() < 1 || at.Year() > 9999 {
		return recurrence.Moment{}
	}
	return recurrence.Moment{Time: at, Zone: cmp.Or(t.TimeZone, calendarZone)}
}

// readInstant reads a dateTime by its offset if it has one, else as a wall time in its
// own zone, else in the calendar's.
func readInstant(t wireTime, calendarZone string) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339Nano, t.DateTime); err == nil {
		return at, true
	}
	wall, err := time.Parse(wallLayout, t.DateTime) // takes a fraction too
	if err != nil {
		return time.Time{}, false
	}
	zone := t.TimeZone
	if zone == "" {
		zone = calendarZone
	}
	if zone == "" || zone == "Local" { // "Local" would be this machine's
		return time.Time{}, false
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, false
	}
	return recurrence.AtWall(wall, location), true
}

// isFloating reports whether a time of the event has neither offset nor zone.
func (e *wireEvent) isFloating() bool {
	return !e.malformed && (floating(e.Start) || floating(e.End))
}

func floating(t wireTime) bool {
	if t.TimeZone != "" {
		return false
	}
	_, err := time.Parse(wallLayout, t.DateTime)
	return err == nil
}

// writeTimes formats a fingerprint for a patch; zone "" means the calendar's.
func writeTimes(at rules.Fingerprint, zone string) (start, end *calendar.EventDateTime) {
	from, to := recurrence.Ends(at, zone)
	return writeMoment(from, false), writeMoment(to, false)
}

// writeMoment formats a moment for a patch, which merges field by field: the fields of the
// other sort of event are nulled. Google demands the zone of a series.
func writeMoment(m recurrence.Moment, series bool) *calendar.EventDateTime {
	if m.AllDay() {
		return &calendar.EventDateTime{Date: m.Date, NullFields: []string{"DateTime", "TimeZone"}}
	}
	zone := m.Zone
	if zone == "" && series {
		zone = "UTC"
	}
	return &calendar.EventDateTime{DateTime: m.Time.UTC().Format(time.RFC3339Nano), TimeZone: zone, NullFields: []string{"Date"}}
}
