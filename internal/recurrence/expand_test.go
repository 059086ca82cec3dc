package recurrence_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/recurrence"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	const zurich, york, howe = "Europe/Zurich", "America/New_York", "Australia/Lord_Howe"
	for name, c := range map[string]struct {
		series   recurrence.Series
		zone     string // of the calendar, and of what is wanted
		from, to string
		want     string
	}{
		"a single event": {timed(t, "", "2026-03-01 12:00"), "UTC", "2026-03-01 00:00", "2026-03-02 00:00", "03-01 12:00–03-01 13:00"},
		"daily over the start of summer time": {
			timed(t, zurich, "2026-03-27 09:00", "RRULE:FREQ=DAILY"), zurich, "2026-03-28 00:00", "2026-03-31 00:00",
			"03-28 09:00–03-28 10:00, 03-29 09:00–03-29 10:00, 03-30 09:00–03-30 10:00",
		},
		"daily within the hour that is skipped": {
			timed(t, zurich, "2026-03-27 02:30", "RRULE:FREQ=DAILY"), zurich, "2026-03-28 00:00", "2026-03-31 00:00",
			"03-28 02:30–03-28 03:30, 03-29 03:30–03-29 04:30, 03-30 02:30–03-30 03:30",
		},
		"daily within the hour that comes twice, read in UTC": {
			timed(t, zurich, "2026-10-24 02:30", "RRULE:FREQ=DAILY"), "UTC", "2026-10-24 00:00", "2026-10-27 00:00",
			"10-24 00:30–10-24 01:30, 10-25 00:30–10-25 01:30, 10-26 01:30–10-26 02:30",
		},
		"weekly in New York, for a calendar in Zurich": { // whose clocks change three weeks later
			timed(t, york, "2026-03-02 09:00", "RRULE:FREQ=WEEKLY"), zurich, "2026-03-02 00:00", "2026-04-06 00:00",
			"03-02 15:00–03-02 16:00, 03-09 14:00–03-09 15:00, 03-16 14:00–03-16 15:00, 03-23 14:00–03-23 15:00, 03-30 15:00–03-30 16:00",
		},
		"weekly over the end of summer time in New York": {
			timed(t, york, "2026-10-26 09:00", "RRULE:FREQ=WEEKLY;COUNT=2"), "UTC", "2026-10-01 00:00", "2026-12-01 00:00",
			"10-26 13:00–10-26 14:00, 11-02 14:00–11-02 15:00",
		},
		"daily with half an hour of summer": {
			timed(t, howe, "2026-04-04 09:00", "RRULE:FREQ=DAILY;COUNT=2"), "UTC", "2026-04-01 00:00", "2026-05-01 00:00",
			"04-03 22:00–04-03 23:00, 04-04 22:30–04-04 23:30",
		},
		"several days all-day over the start of summer time": {
			days("2026-03-28", "2026-03-30", "RRULE:FREQ=WEEKLY;COUNT=2"), zurich, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-28 00:00–03-30 00:00, 04-04 00:00–04-06 00:00",
		},
		"all-day over the end of summer time": {
			days("2026-10-24", "2026-10-25", "RRULE:FREQ=DAILY;COUNT=3"), howe, "2026-10-01 00:00", "2026-11-01 00:00",
			"10-24 00:00–10-25 00:00, 10-25 00:00–10-26 00:00, 10-26 00:00–10-27 00:00",
		},
		"all-day far west and far east": {
			days("2026-03-01", "2026-03-02", "RRULE:FREQ=DAILY"), "Pacific/Kiritimati", "2026-03-04 00:00", "2026-03-05 12:00",
			"03-04 00:00–03-05 00:00, 03-05 00:00–03-06 00:00",
		},
		"begun before the range": {
			timed(t, zurich, "2026-03-01 23:30", "RRULE:FREQ=DAILY"), zurich, "2026-03-05 00:00", "2026-03-05 23:30", "03-04 23:30–03-05 00:30",
		},
		"touching the range is not within it": {
			timed(t, zurich, "2026-03-01 23:00", "RRULE:FREQ=WEEKLY"), zurich, "2026-03-02 00:00", "2026-03-08 23:00", "",
		},
		"without length, at the range's start": {
			recurrence.Series{Start: at(t, zurich, "2026-03-01 12:00"), End: at(t, zurich, "2026-03-01 12:00"), Lines: []string{"RRULE:FREQ=DAILY"}},
			zurich, "2026-03-02 12:00", "2026-03-03 12:00", "03-02 12:00–03-02 12:00",
		},
		"until an instant, included": {
			timed(t, zurich, "2026-03-27 09:00", "RRULE:FREQ=DAILY;UNTIL=20260329T070000Z"), zurich, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-27 09:00–03-27 10:00, 03-28 09:00–03-28 10:00, 03-29 09:00–03-29 10:00",
		},
		"until an instant before the last": {
			timed(t, zurich, "2026-03-27 09:00", "RRULE:FREQ=DAILY;UNTIL=20260329T065959Z"), zurich, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-27 09:00–03-27 10:00, 03-28 09:00–03-28 10:00",
		},
		"until a wall time": {
			timed(t, york, "2026-03-07 20:00", "RRULE:FREQ=DAILY;UNTIL=20260308T200000"), york, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-07 20:00–03-07 21:00, 03-08 20:00–03-08 21:00",
		},
		"until a date, whose day is included": {
			timed(t, york, "2026-03-07 23:30", "RRULE:FREQ=DAILY;UNTIL=20260308"), york, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-07 23:30–03-08 00:30, 03-08 23:30–03-09 00:30",
		},
		"all-day until a date": {
			days("2026-03-27", "2026-03-28", "RRULE:FREQ=DAILY;UNTIL=20260328"), york, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-27 00:00–03-28 00:00, 03-28 00:00–03-29 00:00",
		},
		"all-day until an instant": {
			days("2026-03-27", "2026-03-28", "RRULE:FREQ=DAILY;UNTIL=20260328T215959Z"), york, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-27 00:00–03-28 00:00, 03-28 00:00–03-29 00:00",
		},
		"a count": {
			timed(t, zurich, "2026-03-02 18:00", "RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO,WE"), zurich, "2026-03-03 00:00", "2026-05-01 00:00",
			"03-04 18:00–03-04 19:00, 03-09 18:00–03-09 19:00",
		},
		"a start that the rule omits does not count": {
			timed(t, zurich, "2026-03-05 18:00", "RRULE:FREQ=WEEKLY;COUNT=1;BYDAY=WE"), zurich, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-05 18:00–03-05 19:00, 03-11 18:00–03-11 19:00",
		},
		"excluded in another zone, in UTC and by wall time": {
			timed(t, zurich, "2026-03-02 18:00", "RRULE:FREQ=DAILY;COUNT=5", "EXDATE;TZID=\"America/New_York\":20260302T120000",
				"EXDATE:20260303T170000Z,20260304T180000"),
			zurich, "2026-03-01 00:00", "2026-05-01 00:00", "03-05 18:00–03-05 19:00, 03-06 18:00–03-06 19:00",
		},
		"excluded dates and further dates": {
			days("2026-03-02", "2026-03-03", "RRULE:FREQ=DAILY;COUNT=2", "EXDATE;TZID=America/New_York;VALUE=DATE:20260303",
				"RDATE;VALUE=DATE:20260310,20260302"),
			zurich, "2026-03-01 00:00", "2026-05-01 00:00", "03-02 00:00–03-03 00:00, 03-10 00:00–03-11 00:00",
		},
		"further dates alone": {
			timed(t, zurich, "2026-03-02 18:00", "RDATE;TZID=Europe/Zurich:20260405T180000", "EXDATE:20260302T170000Z"),
			zurich, "2026-03-01 00:00", "2026-05-01 00:00", "04-05 18:00–04-05 19:00",
		},
		"hourly over the start of summer time": { // 02:00 and 03:00 are one instant
			timed(t, zurich, "2026-03-29 00:00", "RRULE:FREQ=HOURLY"), zurich, "2026-03-29 01:00", "2026-03-29 05:00",
			"03-29 01:00–03-29 03:00, 03-29 03:00–03-29 04:00, 03-29 04:00–03-29 05:00",
		},
		"the last weekday of the month": {
			timed(t, zurich, "2026-01-30 18:00", "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"), zurich, "2026-02-01 00:00",
			"2026-04-01 00:00",
			"02-27 18:00–02-27 19:00, 03-31 18:00–03-31 19:00",
		},
		"a leap day": {
			days("2024-02-29", "2024-03-01", "RRULE:FREQ=YEARLY"), zurich, "2025-01-01 00:00", "2032-12-31 00:00",
			"02-29 00:00–03-01 00:00, 02-29 00:00–03-01 00:00",
		},
		"a start between two seconds": {
			recurrence.Series{
				Start: recurrence.Moment{Time: time.Date(2026, 3, 2, 18, 0, 0, 5e8, time.UTC), Zone: "UTC"},
				End:   at(t, "UTC", "2026-03-02 19:00"), Lines: []string{"RRULE:FREQ=DAILY;COUNT=1"},
			},
			"UTC", "2026-03-01 00:00", "2026-05-01 00:00", "03-02 18:00–03-02 18:59",
		},
		"in lower case": {
			timed(t, zurich, "2026-03-02 18:00", "rrule:freq=daily;count=1"), zurich, "2026-03-01 00:00", "2026-05-01 00:00",
			"03-02 18:00–03-02 19:00",
		},
		"a rule that never fits leaves the start": {
			timed(t, zurich, "2026-03-02 18:00", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"), zurich, "2026-03-01 00:00",
			"2027-03-01 00:00", "03-02 18:00–03-02 19:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := in(t, c.zone)
			within := recurrence.Range{Zone: zone, From: at(t, c.zone, c.from).Time, To: at(t, c.zone, c.to).Time}
			got, err := recurrence.Expand(c.series, within, 100)
			if err != nil || text(got, zone) != c.want {
				t.Errorf("got  %s, %v\nwant %s", text(got, zone), err, c.want)
			}
		})
	}
}

func TestExpand_Originals_AreTheKeysOfExceptions(t *testing.T) {
	t.Parallel()
	from, to := at(t, "UTC", "2026-03-28 00:00").Time, at(t, "UTC", "2026-04-01 00:00").Time
	for _, c := range []struct {
		series recurrence.Series
		want   string
	}{
		{
			timed(t, "Europe/Zurich", "2026-03-28 20:00", "RRULE:FREQ=DAILY;COUNT=2"),
			"[2026-03-28T19:00:00Z Europe/Zurich 2026-03-29T18:00:00Z Europe/Zurich]",
		},
		{days("2026-03-28", "2026-03-29", "RRULE:FREQ=DAILY;COUNT=2"), "[2026-03-28  2026-03-29 ]"},
	} {
		got, err := recurrence.Expand(c.series, recurrence.Range{Zone: in(t, "Europe/Zurich"), From: from, To: to}, 10)
		var keys []string
		for _, o := range got {
			keys = append(keys, o.Original.String()+" "+o.Original.Zone)
		}
		if err != nil || fmt.Sprint(keys) != c.want {
			t.Errorf("got %v, %v, want %s", keys, err, c.want)
		}
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	const zurich = "Europe/Zurich"
	for name, c := range map[string]struct {
		series recurrence.Series
		want   string // "": every occurrence is excluded
	}{
		"a single event":       {timed(t, "", "2026-03-02 18:00"), "2026-03-02T19:00:00Z"},
		"a single day":         {days("2026-03-02", "2026-03-04"), "2026-03-04T00:00:00Z"},
		"a count":              {timed(t, zurich, "2026-03-28 18:00", "RRULE:FREQ=DAILY;COUNT=2"), "2026-03-29T17:00:00Z"},
		"until an instant":     {timed(t, zurich, "2026-03-28 18:00", "RRULE:FREQ=DAILY;UNTIL=20260330T120000Z"), "2026-03-29T17:00:00Z"},
		"all-day until a date": {days("2026-03-01", "2026-03-02", "RRULE:FREQ=WEEKLY;UNTIL=20260320"), "2026-03-16T00:00:00Z"},
		"the last is excluded": {
			days("2026-03-01", "2026-03-02", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20260303"), "2026-03-03T00:00:00Z",
		},
		"all are excluded": {days("2026-03-01", "2026-03-02", "RRULE:FREQ=DAILY;COUNT=1", "EXDATE;VALUE=DATE:20260301"), ""},
		"a further date": {
			days("2026-03-01", "2026-03-02", "RRULE:FREQ=DAILY;COUNT=3", "RDATE;VALUE=DATE:20270301"), "2027-03-02T00:00:00Z",
		},
		"for ever":              {timed(t, zurich, "2026-03-28 18:00", "RRULE:FREQ=DAILY"), "endless"},
		"until the year 9999":   {timed(t, zurich, "2026-03-28 18:00", "RRULE:FREQ=DAILY;UNTIL=99991231T235959Z"), "endless"},
		"weekly to year 9999":   {timed(t, zurich, "2026-03-28 18:00", "RRULE:FREQ=WEEKLY;UNTIL=99991231T235959Z"), "endless"},
		"a count without reach": {timed(t, zurich, "2026-03-28 18:00", "RRULE:FREQ=HOURLY;COUNT=2000000000"), "endless"},
		"never fits": {
			timed(t, "UTC", "2026-03-28 18:00", "RRULE:FREQ=DAILY;COUNT=9;BYMONTH=2;BYMONTHDAY=30"), "2026-03-28T19:00:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last, endless, err := recurrence.End(c.series)
			got := ""
			if endless {
				got = "endless"
			}
			if !last.IsZero() {
				got += last.UTC().Format(time.RFC3339)
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
