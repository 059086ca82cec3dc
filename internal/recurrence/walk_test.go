package recurrence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/internal/recurrence"
)

var weekdays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// TestExpand_OfSimpleRules_AgreesWithAWalk compares with the days of the calendar, walked
// one by one, for daily and weekly rules at times that no zone skips.
func TestExpand_OfSimpleRules_AgreesWithAWalk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "UTC"}).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		day := func(n int) time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) }
		first, hour := rapid.IntRange(0, 364).Draw(t, "first day"), rapid.IntRange(4, 23).Draw(t, "hour")
		length := rapid.IntRange(0, 50).Draw(t, "hours")
		interval, count := rapid.IntRange(1, 5).Draw(t, "interval"), rapid.IntRange(0, 30).Draw(t, "count")
		weekly, allDay := rapid.Bool().Draw(t, "weekly"), rapid.Bool().Draw(t, "all-day")
		on := []int{int(day(first).Weekday())}
		if weekly {
			on = append(on, rapid.SliceOfN(rapid.IntRange(0, 6), 0, 3).Draw(t, "weekdays")...)
		}
		fits := func(n int) bool {
			if !weekly {
				return (n-first)%interval == 0
			}
			monday := func(n int) int { return n - (int(day(n).Weekday())+6)%7 }
			return (monday(n)-monday(first))/7%interval == 0 && slices.Contains(on, int(day(n).Weekday()))
		}
		begin := func(n int) time.Time {
			if allDay {
				return time.Date(2026, 1, 1+n, 0, 0, 0, 0, zone)
			}
			return time.Date(2026, 1, 1+n, hour, 0, 0, 0, zone)
		}
		end := func(n int) time.Time {
			if allDay {
				return begin(n + 1 + length/24)
			}
			return begin(n).Add(time.Duration(length) * time.Hour)
		}
		rule := fmt.Sprintf("RRULE:FREQ=DAILY;INTERVAL=%d", interval)
		if weekly {
			var names []string
			for _, d := range on {
				names = append(names, weekdays[d])
			}
			rule = fmt.Sprintf("RRULE:FREQ=WEEKLY;INTERVAL=%d;BYDAY=%s", interval, strings.Join(names, ","))
		}
		if count > 0 {
			rule += fmt.Sprintf(";COUNT=%d", count)
		}
		series := recurrence.Series{
			Start: recurrence.Moment{Time: begin(first), Zone: name}, End: recurrence.Moment{Time: end(first), Zone: name},
			Lines: []string{rule},
		}
		if allDay {
			series.Start, series.End = recurrence.Moment{Date: day(first).Format(time.DateOnly)},
				recurrence.Moment{Date: day(first + 1 + length/24).Format(time.DateOnly)}
		}
		from := begin(rapid.IntRange(0, 500).Draw(t, "from")).Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "from hours")) * time.Hour)
		to := from.Add(time.Duration(rapid.IntRange(1, 24*60).Draw(t, "range")) * time.Hour)

		var want, got []string
		for n, left := first, count; n < 700 && (count == 0 || left > 0); n++ {
			if !fits(n) {
				continue
			}
			left--
			empty := end(n).Equal(begin(n))
			if begin(n).Before(to) && (end(n).After(from) || empty && !begin(n).Before(from)) {
				want = append(want, begin(n).UTC().String()+end(n).UTC().String())
			}
		}
		occurrences, err := recurrence.Expand(series, recurrence.Range{Zone: zone, From: from, To: to}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range occurrences {
			got = append(got, o.Start.UTC().String()+o.End.UTC().String())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s from %s in [%s, %s):\ngot  %v\nwant %v", rule, series.Start, from, to, got, want)
		}
	})
}

// FuzzExpand: whatever the lines are, the work ends, and occurrences are sorted, overlap
// the range and end no later than the series.
func FuzzExpand(f *testing.F) {
	f.Add("Europe/Zurich", "2026-03-01T18:00:00Z", int64(3600), "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261231",
		"EXDATE;TZID=Europe/Zurich:20260302T190000")
	f.Add("America/New_York", "2026-03-01", int64(86400), "RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=9", "EXDATE;VALUE=DATE:20260327")
	f.Add("UTC", "0001-01-01T00:00:00Z", int64(0), "RRULE:FREQ=YEARLY;BYWEEKNO=53,-1;BYDAY=SU;WKST=SU",
		"RDATE:20260301T000000Z,20260302T000000")
	f.Add("UTC", "9999-12-31T00:00:00Z", int64(1), "RRULE:FREQ=YEARLY;BYYEARDAY=-366;BYHOUR=1,2;BYSETPOS=-1",
		"RDATE;VALUE=PERIOD:20260301T000000Z/PT1H")
	f.Add("UTC", "2024-02-29", int64(86400), "RRULE:FREQ=MONTHLY;BYMONTHDAY=-31;INTERVAL=12", "EXDATE:")
	f.Add("Australia/Lord_Howe", "2026-04-04T15:00:00Z", int64(60), "RRULE:FREQ=HOURLY;INTERVAL=5;BYMINUTE=0,30", "RRULE:FREQ=DAILY")
	f.Fuzz(func(t *testing.T, zone, start string, seconds int64, first, second string) {
		begin, err := recurrence.Parse(start)
		if err != nil {
			return
		}
		series := recurrence.Series{Start: begin, Lines: []string{first, second}}
		series.Start.Zone = zone
		series.End = recurrence.Moment{Time: begin.Time.Add(time.Duration(seconds%1e6) * time.Second), Zone: zone}
		if begin.AllDay() {
			series.End = recurrence.Moment{Date: begin.Instant(time.UTC).AddDate(0, 0, int(seconds%1000)).Format(time.DateOnly)}
		}
		from := begin.Instant(time.UTC).AddDate(1, 0, 0)
		to := from.AddDate(1, 0, 0)
		occurrences, err := recurrence.Expand(series, recurrence.Range{Zone: time.UTC, From: from, To: to}, 1000)
		if !isSorted(occurrences) || err != nil && occurrences != nil {
			t.Fatalf("got %v, %v", occurrences, err)
		}
		last, endless, endErr := recurrence.End(series)
		for _, o := range occurrences {
			if !o.Start.Before(to) || o.End.Before(from) || o.End.Before(o.Start) || endErr == nil && !endless && o.End.After(last) {
				t.Fatalf("an occurrence from %s to %s in [%s, %s); the series ends at %s", o.Start, o.End, from, to, last)
			}
		}
	})
}
