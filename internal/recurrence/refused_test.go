package recurrence_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

func TestSeries_ThatCannotBeExpanded_IsRefused(t *testing.T) {
	t.Parallel()
	const zurich = "Europe/Zurich"
	daily := func(lines ...string) recurrence.Series { return timed(t, zurich, "2026-03-01 18:00", lines...) }
	allDay := func(lines ...string) recurrence.Series { return days("2026-03-01", "2026-03-02", lines...) }
	unzoned := func(zone string) recurrence.Series {
		s := daily("RRULE:FREQ=DAILY")
		s.Start.Zone = zone
		return s
	}
	for name, series := range map[string]recurrence.Series{
		"no start":                       {End: on("2026-03-02")},
		"no end":                         {Start: on("2026-03-02")},
		"a date and an instant":          {Start: on("2026-03-01"), End: at(t, zurich, "2026-03-02 00:00")},
		"the end before the start":       days("2026-03-02", "2026-03-01"),
		"a date that does not exist":     days("2026-02-30", "2026-03-05"),
		"no zone":                        unzoned(""),
		"the zone of this machine":       unzoned("Local"),
		"a zone that does not exist":     unzoned("Mars/Base"),
		"a zone that is a path of files": unzoned("../../etc/passwd"),
		"an empty line":                  daily(""),
		"words":                          daily("every day"),
		"no rule in the line":            daily("RRULE"),
		"an unknown part":                daily("RRULE:FREQ=DAILY;FOO=1"),
		"no frequency":                   daily("RRULE:COUNT=3"),
		"another start":                  daily("DTSTART:20260101T000000Z", "RRULE:FREQ=DAILY"),
		"rules to be left out":           daily("RRULE:FREQ=DAILY", "EXRULE:FREQ=WEEKLY"),
		"two rules":                      daily("RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY"),
		"two rules in a line":            daily("RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY"),
		"every second":                   daily("RRULE:FREQ=SECONDLY"),
		"every minute":                   daily("RRULE:FREQ=MINUTELY;INTERVAL=90"),
		"many times a day":               daily("RRULE:FREQ=YEARLY;BYHOUR=1,2,3,4,5;BYMINUTE=1,2,3,4,5"),
		"hours never reached":            daily("RRULE:FREQ=HOURLY;INTERVAL=24;BYHOUR=5"),
		"positions within an hour":       daily("RRULE:FREQ=HOURLY;BYSETPOS=7"),
		"an interval that overflows":     daily("RRULE:FREQ=YEARLY;INTERVAL=9223372036854775807"),
		"an interval of nothing":         daily("RRULE:FREQ=DAILY;INTERVAL=0"),
		"an interval of many noughts":    daily("RRULE:FREQ=DAILY;INTERVAL=000"),
		"two intervals, one of nothing":  daily("RRULE:FREQ=DAILY;INTERVAL=0;INTERVAL=1"),
		"a count of nothing":             daily("RRULE:FREQ=DAILY;COUNT=0"),
		"a negative interval":            daily("RRULE:FREQ=DAILY;INTERVAL=-1"),
		"a negative count":               daily("RRULE:FREQ=DAILY;COUNT=-1"),
		"Easter":                         daily("RRULE:FREQ=YEARLY;BYEASTER=-400"),
		"the 10th Monday of a month":     daily("RRULE:FREQ=MONTHLY;BYDAY=-10MO"),
		"the 53rd of a yearly month":     daily("RRULE:FREQ=YEARLY;BYMONTH=12;BYDAY=53MO"),
		"a numbered weekday of a week":   daily("RRULE:FREQ=WEEKLY;BYDAY=2MO"),
		"the same, in a month":           daily("RRULE:FREQ=WEEKLY;BYMONTH=3;BYDAY=2MO"),
		"numbered and other weekdays":    daily("RRULE:FREQ=MONTHLY;BYDAY=2MO,TU"),
		"a numbered weekday of weeks":    daily("RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=2MO"),
		"32 positions":                   daily("RRULE:FREQ=DAILY;BYSETPOS=1" + strings.Repeat(",1", 31)),
		"the zero time as an end":        daily("RRULE:FREQ=DAILY;UNTIL=00010101T000000Z"),
		"weeks without weekdays":         daily("RRULE:FREQ=YEARLY;BYWEEKNO=20"),
		"the 13th month":                 daily("RRULE:FREQ=YEARLY;BYMONTH=13"),
		"all-day at an hour":             allDay("RRULE:FREQ=DAILY;BYHOUR=3"),
		"all-day every hour":             allDay("RRULE:FREQ=HOURLY"),
		"an unreadable end":              daily("RRULE:FREQ=DAILY;UNTIL=20260230"),
		"a rule without an end":          daily("RRULE:FREQ=DAILY;BYMONTHDAY=" + strings.Repeat("1,", 400) + "1"),
		"more dates than an event has":   daily("EXDATE:" + strings.Repeat("20260301T180000,", 5000) + "20260301T180000"),
		"a period":                       daily("RDATE;VALUE=PERIOD:20260305T180000Z/PT1H"),
		"a zone of dates, unknown":       daily("RRULE:FREQ=DAILY", "EXDATE;TZID=Mars/Base:20260305T180000"),
		"a date left out of times":       daily("RRULE:FREQ=DAILY", "EXDATE;VALUE=DATE:20260305"),
		"a time left out of dates":       allDay("RRULE:FREQ=DAILY", "EXDATE:20260305T000000Z"),
		"nothing left out":               daily("RRULE:FREQ=DAILY", "EXDATE:"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := at(t, zurich, "2026-03-01 00:00").Time
			got, err := recurrence.Expand(series, recurrence.Range{Zone: in(t, zurich), From: from, To: from.AddDate(0, 0, 30)}, 1000)
			if fault.CodeOf(err) != recurrence.CodeNotExpandable || got != nil {
				t.Errorf("expanded to %v, %v", got, err)
			}
			if _, _, err := recurrence.End(series); fault.CodeOf(err) != recurrence.CodeNotExpandable {
				t.Errorf("the end's error is %v", err)
			}
		})
	}
}

func TestExpand_BeyondABound_IsRefused(t *testing.T) {
	t.Parallel()
	from := at(t, "UTC", "2026-03-01 00:00").Time
	hourly := timed(t, "UTC", "2026-03-01 00:00", "RRULE:FREQ=HOURLY")
	ancient := timed(t, "UTC", "2010-03-01 00:00", "RRULE:FREQ=HOURLY")
	counted := timed(t, "UTC", "2010-03-01 00:00", "RRULE:FREQ=HOURLY;COUNT=1000000")
	for name, c := range map[string]struct {
		series recurrence.Series
		zone   *time.Location
		to     time.Time
		limit  int
		want   int // -1: refused
	}{
		"as many as the limit":        {hourly, time.UTC, from.Add(24 * time.Hour), 24, 24},
		"one more than the limit":     {hourly, time.UTC, from.Add(25 * time.Hour), 24, -1},
		"too many before the range":   {counted, time.UTC, from.Add(time.Hour), 24, -1},
		"many that nobody counts":     {ancient, time.UTC, from.Add(time.Hour), 24, 1},
		"centuries after the start":   {hourly, time.UTC, from.AddDate(201, 0, 0), 1 << 30, -1},
		"no zone of the calendar":     {days("2026-03-01", "2026-03-02"), nil, from.Add(time.Hour), 24, -1},
		"a range before every moment": {hourly, time.UTC, from.AddDate(-1, 0, 0), 24, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := recurrence.Expand(c.series, recurrence.Range{Zone: c.zone, From: from, To: c.to}, c.limit)
			if refused := fault.CodeOf(err) == recurrence.CodeNotExpandable; refused != (c.want < 0) ||
				!refused && (err != nil || len(got) != c.want) {
				t.Errorf("got %d, %v, want %d", len(got), err, c.want)
			}
		})
	}
}

// Rules that never fit, or hardly ever, leave the start. TestRule_IsGenerated_NearTheLastYear
// holds what they cost.
func TestRules_ThatNeverFit_LeaveTheStart(t *testing.T) {
	t.Parallel()
	from := at(t, "UTC", "2026-03-01 00:00").Time
	for _, rule := range []string{
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31", "FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30",
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYWEEKNO=30;BYMONTH=1;BYDAY=MO",
		"FREQ=YEARLY;BYYEARDAY=1;BYMONTH=2", "FREQ=DAILY;BYSETPOS=2", "FREQ=YEARLY;INTERVAL=10000",
		"FREQ=DAILY;INTERVAL=10000;BYMONTHDAY=31;BYMONTH=4",
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;BYSETPOS=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
	} {
		series := timed(t, "UTC", "2026-03-01 12:00", "RRULE:"+rule)
		got, err := recurrence.Expand(series, recurrence.Range{Zone: time.UTC, From: from, To: from.AddDate(1, 0, 0)}, 1000)
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d occurrences, %v; want the start alone", rule, len(got), err)
		}
	}
}

// Rules of parts drawn at random are expanded within the range or refused; none panics or
// keeps the library busy.
func TestRandomRules_AreExpandedOrRefused(t *testing.T) {
	t.Parallel()
	parts := map[string][]string{
		"INTERVAL": {"1", "2", "24", "60", "9999", "10000"}, "COUNT": {"0", "1", "7", "100000"},
		"UNTIL": {"20260401", "20260401T120000", "20260401T120000Z", "99991231", "00010101T000000Z"},
		"WKST":  {"SU", "WE"}, "BYDAY": {"MO", "SU,SA", "2TU", "-1FR", "5MO,-5SU", "53MO", "-53SU", "0MO", "+1MO,TU"},
		"BYMONTH": {"1", "2", "12", "2,2,4"}, "BYMONTHDAY": {"1", "30", "31", "-31", "-1,15"}, "BYYEARDAY": {"1", "366", "-366", "60"},
		"BYWEEKNO": {"1", "53", "-1", "-53"}, "BYSETPOS": {"1", "-1", "366", "-366", "2,-2"},
		"BYHOUR": {"0", "23", "1,2,3"}, "BYMINUTE": {"0", "59,1"}, "BYSECOND": {"0", "59"},
	}
	names := slices.Sorted(maps.Keys(parts))
	rapid.Check(t, func(t *rapid.T) {
		rule := "RRULE:FREQ=" + rapid.SampledFrom([]string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"}).Draw(t, "frequency")
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID[string]).Draw(t, "names") {
			rule += ";" + name + "=" + rapid.SampledFrom(parts[name]).Draw(t, name)
		}
		start := time.Date(rapid.SampledFrom([]int{1, 1900, 1999, 2024, 2026, 9600, 9801, 9999}).Draw(t, "year"), 2,
			rapid.IntRange(1, 29).Draw(t, "day"), 2, 30, 0, 0, time.UTC)
		const zone = "America/New_York"
		series := recurrence.Series{
			Start: recurrence.Moment{Time: start, Zone: zone},
			End:   recurrence.Moment{Time: start.Add(time.Hour), Zone: zone}, Lines: []string{rule},
		}
		if rapid.Bool().Draw(t, "all-day") {
			series.Start, series.End = on(start.Format(time.DateOnly)), on(start.AddDate(0, 0, 1).Format(time.DateOnly))
		}
		if start.Year() == 9999 {
			series.End = series.Start
		}
		to := start.AddDate(2, 0, 0)
		got, err := recurrence.Expand(series, recurrence.Range{Zone: time.UTC, From: start.AddDate(0, 0, -1), To: to}, 20_000)
		if err != nil && fault.CodeOf(err) != recurrence.CodeNotExpandable ||
			err == nil && (len(got) == 0 || !isSorted(got) || !got[len(got)-1].Start.Before(to)) {
			t.Fatalf("%s from %s: %d occurrences, %v", rule, start, len(got), err)
		}
		if _, _, endErr := recurrence.End(series); (endErr == nil) != (err == nil) && !strings.Contains(err.Error(), "too many") {
			t.Fatalf("%s from %s is expanded with %v, and its end with %v", rule, start, err, endErr)
		}
	})
}
