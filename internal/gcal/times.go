package gcal

import (
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
func readTimes(start, end *calendar.EventDateTime, zone string) (fingerprint rules.Fingerprint, ok bool) {
	if start == nil || end == nil {
		return rules.Fingerprint{}, false
	}
	switch {
	case start.Date != "" && end.Date != "" && start.DateTime == "" && end.DateTime == "":
		days, err := rules.Days(start.Date, end.Date)
		fingerprint, ok = days, err == nil
	case start.DateTime != "" && end.DateTime != "" && start.Date == "" && end.Date == "":
		from, fromOK := readInstant(start, zone)
		to, toOK := readInstant(end, zone)
		fingerprint, ok = rules.Timed(from, to), fromOK && toOK
	}
	if !ok || fingerprint.End < fingerprint.Start || !inYears(fingerprint) {
		return rules.Fingerprint{}, false
	}
	return fingerprint, true
}

// inYears keeps both ends within the years 1 to 9999 UTC, the range of fingerprints and
// documents; an offset can push a time out of it.
func inYears(f rules.Fingerprint) bool {
	return f.StartTime().Year() >= 1 && f.EndTime().Year() <= 9999
}

// readInstant reads a dateTime by its offset if it has one, else as a wall time in its
// own zone, else in the calendar's.
func readInstant(t *calendar.EventDateTime, calendarZone string) (time.Time, bool) {
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

func floating(t *calendar.EventDateTime) bool {
	if t == nil || t.TimeZone != "" {
		return false
	}
	_, err := time.Parse(wallLayout, t.DateTime)
	return err == nil
}

// writeInstant formats an instant; zone "" means the calendar's.
func writeInstant(at time.Time, zone string) *calendar.EventDateTime {
	return &calendar.EventDateTime{DateTime: at.UTC().Format(time.RFC3339Nano), TimeZone: zone}
}

func writeDate(at time.Time) *calendar.EventDateTime {
	return &calendar.EventDateTime{Date: at.UTC().Format(rules.DateLayout)}
}

// writeTimes formats a fingerprint for a patch, which merges field by field: the fields
// of the other sort of event are nulled.
func writeTimes(fingerprint rules.Fingerprint, zone string) (start, end *calendar.EventDateTime) {
	if fingerprint.AllDay {
		start, end = writeDate(fingerprint.StartTime()), writeDate(fingerprint.EndTime())
		start.NullFields, end.NullFields = []string{"DateTime", "TimeZone"}, []string{"DateTime", "TimeZone"}
		return start, end
	}
	start, end = writeInstant(fingerprint.StartTime(), zone), writeInstant(fingerprint.EndTime(), zone)
	start.NullFields, end.NullFields = []string{"Date"}, []string{"Date"}
	return start, end
}
