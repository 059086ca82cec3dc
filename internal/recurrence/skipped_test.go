package recurrence_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

// TestExpand_HoursFarFromTheStart_KeepTheirPhase compares with hours that are counted from
// the start, in a zone without changes of clocks.
func TestExpand_HoursFarFromTheStart_KeepTheirPhase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		interval, length := rapid.IntRange(1, 100).Draw(t, "interval"), rapid.IntRange(0, 200).Draw(t, "hours")
		start := time.Date(2001, 1, 1, 9, 30, 0, 0, time.UTC)
		from := start.Add(time.Duration(rapid.IntRange(0, 20*365*24).Draw(t, "from")) * time.Hour)
		to := from.Add(200 * time.Hour)
		series := recurrence.Series{
			Start: recurrence.Moment{Time: start, Zone: "UTC"},
			End:   recurrence.Moment{Time: start.Add(time.Duration(length) * time.Hour), Zone: "UTC"},
			Lines: []string{fmt.Sprintf("RRULE:FREQ=HOURLY;INTERVAL=%d", interval)},
		}
		want := 0
		step := time.Duration(interval) * time.Hour
		for at := start; at.Before(to); at = at.Add(step) {
			if end := at.Add(time.Duration(length) * time.Hour); end.After(from) || !at.Before(from) {
				want++
			}
		}
		got, err := recurrence.Expand(series, recurrence.Range{Zone: time.UTC, From: from, To: to}, 1000)
		if err != nil || len(got) != want || want > 0 && got[0].Start.Sub(start)%step != 0 {
			t.Fatalf("%d occurrences, %v; want %d", len(got), err, want)
		}
	})
}

// TestWalk_OfSeveralSeries_SharesTheirStarts: 100 days of two series that began long before.
func TestWalk_OfSeveralSeries_SharesTheirStarts(t *testing.T) {
	t.Parallel()
	from := at(t, "UTC", "2026-03-01 00:00").Time
	series := timed(t, "UTC", "2010-03-01 12:00", "RRULE:FREQ=DAILY")
	left, visited := 250, 0
	walk := func() error {
		within := recurrence.Range{Zone: time.UTC, From: from, To: from.AddDate(0, 0, 100)}
		return recurrence.Walk(series, within, &left, func(recurrence.Occurrence) bool {
			visited++
			return true
		})
	}
	if err := walk(); err != nil || visited != 100 || left < 130 {
		t.Fatalf("the first visits %d and leaves %d starts: %v", visited, left, err)
	}
	if err := walk(); err != nil || visited != 200 || left < 10 {
		t.Fatalf("the second visits %d and leaves %d starts: %v", visited-100, left, err)
	}
	if err := walk(); fault.CodeOf(err) != recurrence.CodeNotExpandable || left >= 0 {
		t.Errorf("without starts, the third is %v and leaves %d", err, left)
	}
}
