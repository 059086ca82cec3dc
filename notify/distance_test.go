package notify

import (
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

func TestDistance_InWords(t *testing.T) {
	t.Parallel()
	const tuesday, allDay = "2027-02-02T18:00:00Z|2027-02-02T21:00:00Z|false", "2027-02-03|2027-02-04|true"
	const beforeSpring = "2027-03-27T18:00:00Z|2027-03-27T21:00:00Z|false" // a Saturday, 19:00 in Berlin
	for _, row := range []struct{ name, zone, old, now, want string }{
		{"later", "Europe/Berlin", tuesday, "2027-02-02T20:00:00Z|2027-02-02T23:00:00Z|false", "2 hours later, same day"},
		{"earlier", "Europe/Berlin", tuesday, "2027-02-02T16:29:00Z|2027-02-02T19:29:00Z|false", "1 hour 31 minutes earlier, same day"},
		{"a minute", "Europe/Berlin", tuesday, "2027-02-02T18:01:00Z|2027-02-02T21:01:00Z|false", "1 minute later, same day"},
		{"seconds", "Europe/Berlin", tuesday, "2027-02-02T18:00:30Z|2027-02-02T21:00:30Z|false", "less than a minute later, same day"},
		{"a day later", "Europe/Berlin", tuesday, "2027-02-03T18:00:00Z|2027-02-03T21:00:00Z|false", "a day later, at the same time"},
		{"a day earlier", "Europe/Berlin", tuesday, "2027-02-01T18:00:00Z|2027-02-01T21:00:00Z|false", "a day earlier, at the same time"},
		{"3 days later", "Europe/Berlin", tuesday, "2027-02-05T18:00:00Z|2027-02-05T21:00:00Z|false", "3 days later, at the same time"},
		{"a week later", "Europe/Berlin", tuesday, "2027-02-09T18:00:00Z|2027-02-09T21:00:00Z|false", "a week later, at the same time"},
		{"2 weeks earlier", "Europe/Berlin", tuesday, "2027-01-19T18:00:00Z|2027-01-19T21:00:00Z|false", "2 weeks earlier, at the same time"},
		{"past midnight", "Europe/Berlin", tuesday, "2027-02-02T23:00:00Z|2027-02-03T02:00:00Z|false", "5 hours later, the next day"},
		{"the same in New York", "America/New_York", tuesday, "2027-02-02T23:00:00Z|2027-02-03T02:00:00Z|false", "5 hours later, same day"},
		{"back over midnight", "Europe/Berlin", tuesday, "2027-02-01T20:00:00Z|2027-02-01T23:00:00Z|false", "22 hours earlier, the day before"},
		{
			"later on another day", "Europe/Berlin", tuesday, "2027-02-03T19:30:00Z|2027-02-03T22:30:00Z|false",
			"a day later, and 1 hour 30 minutes later in the day",
		},
		{
			"earlier on another day", "Europe/Berlin", tuesday, "2027-02-05T16:00:00Z|2027-02-05T19:00:00Z|false",
			"3 days later, and 2 hours earlier in the day",
		},
		{"longer", "Europe/Berlin", tuesday, "2027-02-02T18:00:00Z|2027-02-02T21:30:00Z|false", "30 minutes longer"},
		{"shorter", "Europe/Berlin", tuesday, "2027-02-02T18:00:00Z|2027-02-02T20:00:00Z|false", "1 hour shorter"},
		{
			"later and longer", "Europe/Berlin", tuesday, "2027-02-02T20:00:00Z|2027-02-02T23:30:00Z|false",
			"2 hours later, same day, and 30 minutes longer",
		},
		{
			"the start alone", "Europe/Berlin", tuesday, "2027-02-02T19:00:00Z|2027-02-02T21:00:00Z|false",
			"1 hour later, same day, and 1 hour shorter",
		},
		{"now all day", "Europe/Berlin", tuesday, "2027-02-02|2027-02-03|true", "now all day"},
		{"all day tomorrow", "Europe/Berlin", tuesday, allDay, "a day later, now all day"},
		{"all day, from a zone with another date", "Pacific/Auckland", tuesday, allDay, "now all day"},
		{"no longer all day", "Europe/Berlin", allDay, "2027-02-03T18:00:00Z|2027-02-03T21:00:00Z|false", "no longer all day"},
		{"no longer all day, the day before", "Europe/Berlin", allDay, tuesday, "a day earlier, no longer all day"},
		{"all day, moved", "Europe/Berlin", allDay, "2027-02-05|2027-02-06|true", "2 days later"},
		{"all day, longer", "Europe/Berlin", allDay, "2027-02-03|2027-02-05|true", "a day longer"},
		{"all day, from the day before", "Europe/Berlin", allDay, "2027-02-02|2027-02-04|true", "a day earlier, and a day longer"},
		{"clocks go forward", "Europe/Berlin", beforeSpring, "2027-03-28T17:00:00Z|2027-03-28T20:00:00Z|false", "a day later, at the same time"},
		{
			"clocks go forward, the same instant of the day", "Europe/Berlin", beforeSpring,
			"2027-03-28T18:00:00Z|2027-03-28T21:00:00Z|false", "a day later, and 1 hour later in the day",
		},
		{
			"clocks go back", "America/New_York", "2027-11-06T23:00:00Z|2027-11-07T02:00:00Z|false",
			"2027-11-08T00:00:00Z|2027-11-08T03:00:00Z|false", "a day later, at the same time",
		},
		{"all day across a change", "Europe/Berlin", "2027-03-27|2027-03-28|true", "2027-03-29|2027-03-30|true", "2 days later"},
		{
			"within the hour that comes twice", "Europe/Berlin", "2027-10-31T00:30:00Z|2027-10-31T03:00:00Z|false",
			"2027-10-31T01:30:00Z|2027-10-31T04:00:00Z|false", "1 hour later, same day",
		},
		{
			"backwards on the clock in it", "Europe/Berlin", "2027-10-31T00:30:00Z|2027-10-31T03:00:00Z|false",
			"2027-10-31T01:10:00Z|2027-10-31T03:40:00Z|false", "40 minutes later, same day",
		},
		{"nothing", "Europe/Berlin", tuesday, tuesday, ""},
		{"the old time is not known", "Europe/Berlin", "", tuesday, ""},
		{"the new time is not known", "Europe/Berlin", tuesday, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var times [2]rules.Fingerprint
			for i, text := range []string{row.old, row.now} {
				var err error
				times[i], err = rules.ParseFingerprint(text)
				if err != nil {
					t.Fatal(err)
				}
			}
			zone, err := poll.Zone(row.zone)
			if err != nil {
				t.Fatal(err)
			}
			if got := English.distance(between(times[0], times[1], zone)); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
