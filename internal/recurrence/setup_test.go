package recurrence_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/recurrence"
)

// at is a wall time (2006-01-02 15:04) in a zone; one that clocks show twice or skip is
// written in UTC instead.
func at(t testing.TB, zone, wall string) recurrence.Moment {
	t.Helper()
	parsed, err := time.ParseInLocation("2006-01-02 15:04", wall, in(t, zone))
	if err != nil {
		t.Fatal(err)
	}
	return recurrence.Moment{Time: parsed, Zone: zone}
}

func on(date string) recurrence.Moment { return recurrence.Moment{Date: date} }

func in(t testing.TB, zone string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// timed is a series of an hour's length.
func timed(t testing.TB, zone, start string, lines ...string) recurrence.Series {
	t.Helper()
	from := at(t, zone, start)
	return recurrence.Series{Start: from, End: recurrence.Moment{Time: from.Time.Add(time.Hour), Zone: zone}, Lines: lines}
}

func days(start, end string, lines ...string) recurrence.Series {
	return recurrence.Series{Start: on(start), End: on(end), Lines: lines}
}

// text is "start–end, start–end" in a zone.
func text(occurrences []recurrence.Occurrence, zone *time.Location) string {
	var parts []string
	for _, o := range occurrences {
		parts = append(parts, o.Start.In(zone).Format("01-02 15:04")+"–"+o.End.In(zone).Format("01-02 15:04"))
	}
	return strings.Join(parts, ", ")
}

func isSorted(occurrences []recurrence.Occurrence) bool {
	return slices.IsSortedFunc(occurrences, func(a, b recurrence.Occurrence) int { return a.Start.Compare(b.Start) })
}
