package availability_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/internal/recurrence"
)

const zurich = "Europe/Zurich"

func in(t testing.TB, zone string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// at is a wall time (2006-01-02 15:04) in a zone.
func at(t testing.TB, zone, wall string) recurrence.Moment {
	t.Helper()
	parsed, err := time.ParseInLocation("2006-01-02 15:04", wall, in(t, zone))
	if err != nil {
		t.Fatal(err)
	}
	return recurrence.Moment{Time: parsed, Zone: zone}
}

func on(date string) recurrence.Moment { return recurrence.Moment{Date: date} }

// timed is an event in Zurich.
func timed(t testing.TB, start, end string, lines ...string) availability.BusyEvent {
	t.Helper()
	return availability.BusyEvent{Start: at(t, zurich, start), End: at(t, zurich, end), Lines: lines}
}

func allDay(start, end string, lines ...string) availability.BusyEvent {
	return availability.BusyEvent{Start: on(start), End: on(end), Lines: lines}
}

// but is an event with one change.
func but(event availability.BusyEvent, change func(*availability.BusyEvent)) availability.BusyEvent {
	change(&event)
	return event
}

// text is "start–end, start–end" in a zone.
func text(intervals []availability.Interval, zone *time.Location) string {
	var parts []string
	for _, i := range intervals {
		parts = append(parts, i.Start.In(zone).Format("01-02 15:04")+"–"+i.End.In(zone).Format("01-02 15:04"))
	}
	return strings.Join(parts, ", ")
}
