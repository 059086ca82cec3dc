package recurrence_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

// What is at a bound is expanded; one more is refused.
func TestSeries_AtABound_IsExpanded(t *testing.T) {
	t.Parallel()
	const zurich = "Europe/Zurich"
	const excluded = "EXDATE:20260302T180000Z"
	rule := func(text string) recurrence.Series { return timed(t, zurich, "2026-03-01 18:00", text) }
	minutes := func(n int) string {
		var list []string
		for m := range n {
			list = append(list, fmt.Sprint(m))
		}
		return strings.Join(list, ",")
	}
	// A list that repeats a value means the same as the value alone.
	repeated := func(text, value string, length int) string {
		for len(text)+len(value) <= length {
			text += value
		}
		return text
	}
	for _, c := range []struct {
		name   string
		series recurrence.Series
		fits   bool
	}{
		{"24 times a day", rule("RRULE:FREQ=DAILY;BYHOUR=1,2;BYMINUTE=" + minutes(12)), true},
		{"26 times a day", rule("RRULE:FREQ=DAILY;BYHOUR=1,2;BYMINUTE=" + minutes(13)), false},
		{"the 5th Monday of months", rule("RRULE:FREQ=MONTHLY;BYDAY=5MO"), true},
		{"the 6th Monday of months", rule("RRULE:FREQ=MONTHLY;BYDAY=6MO"), false},
		{"the 5th Monday of a yearly month", rule("RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=5MO"), true},
		{"the 6th Monday of a yearly month", rule("RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=6MO"), false},
		{"the 53rd Monday of years", rule("RRULE:FREQ=YEARLY;BYDAY=53MO"), true},
		{"the 54th Monday of years", rule("RRULE:FREQ=YEARLY;BYDAY=54MO"), false},
		{"a weekday of weeks of the year", rule("RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO"), true},
		{"a weekday of weeks of a month", rule("RRULE:FREQ=MONTHLY;BYWEEKNO=20;BYDAY=MO"), false},
		{"an interval of 10000", rule("RRULE:FREQ=DAILY;INTERVAL=10000"), true},
		{"an interval of 10001", rule("RRULE:FREQ=DAILY;INTERVAL=10001"), false},
		{"a rule of 512 bytes", rule("RRULE:" + repeated("FREQ=YEARLY;BYMONTH=03", ",3", 512)), true},
		{"a rule of 514 bytes", rule("RRULE:" + repeated("FREQ=YEARLY;BYMONTH=03", ",3", 514)), false},
		{"65536 bytes of lines", timed(t, zurich, "2026-03-01 18:00", repeated(excluded, ",20260302T180000Z", 65490), excluded, excluded), true},
		{
			"more than 65536 bytes of lines",
			timed(t, zurich, "2026-03-01 18:00", repeated(excluded, ",20260302T180000Z", 65490), excluded, excluded, excluded),
			false,
		},
		{"31 positions", rule("RRULE:FREQ=DAILY;BYSETPOS=1" + strings.Repeat(",1", 30)), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := recurrence.End(c.series)
			if fits := err == nil; fits != c.fits || !fits && (!fault.Is(err, fault.Invalid) || err.Error() == "") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEnd_OfARuleWithUntil_IsItsLastOccurrence(t *testing.T) {
	t.Parallel()
	utc := func(text string) time.Time { return at(t, "UTC", text).Time }
	for _, c := range []struct {
		name    string
		series  recurrence.Series
		last    time.Time
		endless bool
	}{
		{"until a moment", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;UNTIL=20260303T180000Z"), utc("2026-03-03 19:00"), false},
		{
			"until a moment before the next", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;UNTIL=20260303T175959Z"),
			utc("2026-03-02 19:00"), false,
		},
		{"until a date, all of it", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;UNTIL=20260303"), utc("2026-03-03 19:00"), false},
		{"whole days until a date", days("2026-03-01", "2026-03-02", "RRULE:FREQ=DAILY;UNTIL=20260303"), utc("2026-03-04 00:00"), false},
		{"once a year without one", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=YEARLY"), time.Time{}, true},
		{"without one", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY"), time.Time{}, true},
		{"until centuries later", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=YEARLY;UNTIL=22270301T000000Z"), time.Time{}, true},
		{"with a count", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;COUNT=2"), utc("2026-03-02 19:00"), false},
		{"more occurrences than are counted", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=HOURLY;COUNT=20000"), time.Time{}, true},
		{
			"more occurrences than are counted, until a moment", timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=HOURLY;UNTIL=20500101T000000Z"),
			utc("2050-01-01 01:00"), false,
		},
		{
			"none in the year before its end",
			timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;UNTIL=20320101T000000Z"),
			utc("2028-02-29 19:00"), false,
		},
		{
			"none but a date in the year before its end",
			timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;INTERVAL=800;UNTIL=20320101T000000Z", "RDATE:20310601T180000Z"),
			utc("2031-06-01 19:00"), false,
		},
		{
			"whose last one is excluded",
			timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=WEEKLY;UNTIL=20300101T000000Z", "EXDATE:20291230T180000Z"),
			utc("2029-12-23 19:00"), false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			last, endless, err := recurrence.End(c.series)
			if err != nil || !last.Equal(c.last) || endless != c.endless {
				t.Errorf("got %v, endless %t, %v", last, endless, err)
			}
		})
	}
}

// Each start costs one, those of dates too; the occurrences are unknown without enough.
func TestWalk_Starts_AreCountedAndBounded(t *testing.T) {
	t.Parallel()
	from := at(t, "UTC", "2026-03-01 00:00").Time
	single := timed(t, "UTC", "2026-03-01 18:00")
	dates := timed(t, "UTC", "2026-03-01 18:00", "RDATE:20260302T180000Z,20260303T180000Z")
	daily := timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;COUNT=3")
	hourly := timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=HOURLY")
	for name, row := range map[string]struct {
		series             recurrence.Series
		starts, days, most int
		left, visited      int
		isRefused          bool
	}{
		"a single event":             {single, 1, 30, 9, 0, 1, false},
		"a single event, none left":  {single, 0, 30, 9, -1, 0, true},
		"three dates":                {dates, 3, 30, 9, 0, 3, false},
		"three dates, two left":      {dates, 2, 30, 9, -1, 0, true},
		"three dates, two are taken": {dates, 9, 30, 2, 6, 2, true},
		"a rule and its end":         {daily, 5, 30, 9, 0, 3, false},
		"a rule, one less":           {daily, 4, 30, 9, -1, 3, true},
		"a rule, two are taken":      {daily, 9, 30, 2, 6, 2, true},
		"a rule, more than any may":  {hourly, 300_000, 20 * 366, 300_000, 199_999, 100_000, true},
	} {
		starts, visited := row.starts, 0
		within := recurrence.Range{Zone: time.UTC, From: from, To: from.AddDate(0, 0, row.days)}
		err := recurrence.Walk(row.series, within, &starts, func(recurrence.Occurrence) bool {
			visited++
			return visited < row.most
		})
		if (err != nil) != row.isRefused || starts != row.left || visited != row.visited {
			t.Errorf("%s: %v, %d starts left, %d visited", name, err, starts, visited)
		}
	}
}

func TestExpand_UnreadableRule_NamesItsCause(t *testing.T) {
	t.Parallel()
	_, _, err := recurrence.End(timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=NEVER"))
	if errors.Unwrap(err) == nil {
		t.Errorf("%v has no cause", err)
	}
}

// The range ends the work even where the rule ends later, and the rule's end where the
// range does.
func TestExpand_UntilAndRange_TheEarlierEnds(t *testing.T) {
	t.Parallel()
	from := at(t, "UTC", "2026-03-01 00:00").Time
	series := timed(t, "UTC", "2026-03-01 18:00", "RRULE:FREQ=DAILY;UNTIL=20260305T180000Z")
	for days, want := range map[int]int{2: 2, 4: 4, 5: 5, 30: 5} {
		within := recurrence.Range{Zone: time.UTC, From: from, To: from.AddDate(0, 0, days)}
		got, err := recurrence.Expand(series, within, 10)
		if err != nil || len(got) != want {
			t.Errorf("%d days: %d occurrences, %v; want %d", days, len(got), err, want)
		}
	}
}

func TestMoment_EqualAndZero_CompareDateAndInstant(t *testing.T) {
	t.Parallel()
	noon := at(t, "UTC", "2026-03-01 12:00")
	dated := on("2026-03-01")
	withTime := dated
	withTime.Time = noon.Time // of a date, the other fields do not count
	for _, c := range []struct {
		name  string
		a, b  recurrence.Moment
		equal bool
	}{
		{"the same instant", noon, at(t, "UTC", "2026-03-01 12:00"), true},
		{"two instants", noon, at(t, "UTC", "2026-03-01 13:00"), false},
		{"the same date", dated, withTime, true},
		{"a date and nothing", dated, recurrence.Moment{}, false},
	} {
		if got := c.a.Equal(c.b); got != c.equal {
			t.Errorf("%s: equal is %t", c.name, got)
		}
	}
	if noon.IsZero() || dated.IsZero() || !(recurrence.Moment{}).IsZero() {
		t.Error("a moment that is set is zero, or one that is not is not")
	}
}
