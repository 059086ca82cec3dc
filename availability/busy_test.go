package availability_test

import (
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

func TestBusy(t *testing.T) {
	t.Parallel()
	type event = availability.BusyEvent
	lunch := timed(t, "2026-03-28 12:00", "2026-03-28 13:00")
	// exception is an evening of series that was moved.
	exception := func(original, start, end string) event {
		return but(timed(t, start, end), func(e *event) { e.Original = at(t, zurich, original) })
	}
	evenings := func(exceptions ...event) event {
		return but(timed(t, "2026-03-27 20:00", "2026-03-27 22:00", "RRULE:FREQ=DAILY;COUNT=4"), func(e *event) { e.Exceptions = exceptions })
	}
	for name, c := range map[string]struct {
		events        []event
		zone          string // of the calendar, and of what is wanted; "": Zurich
		from, to      string // "": 28 to 30 March, when summer time begins in Zurich
		want, unknown string
	}{
		"nothing":  {},
		"an event": {events: []event{lunch}, want: "03-28 12:00–03-28 13:00"},
		"overlapping and touching": {
			events: []event{timed(t, "2026-03-28 13:00", "2026-03-28 14:00"), lunch, timed(t, "2026-03-28 12:30", "2026-03-28 12:45")},
			want:   "03-28 12:00–03-28 14:00",
		},
		"without length": {events: []event{timed(t, "2026-03-28 12:00", "2026-03-28 12:00")}},
		"cut at the range": {
			events: []event{timed(t, "2026-03-27 12:00", "2026-03-28 13:00"), timed(t, "2026-03-29 23:00", "2026-03-30 01:00")},
			want:   "03-28 00:00–03-28 13:00, 03-29 23:00–03-30 00:00",
		},
		"outside": {
			events: []event{timed(t, "2026-03-27 23:00", "2026-03-28 00:00"), timed(t, "2026-03-30 00:00", "2026-03-30 01:00")},
		},
		"cancelled":                {events: []event{but(lunch, func(e *event) { e.Cancelled = true })}},
		"cancelled, without times": {events: []event{{Cancelled: true}}},
		"transparent":              {events: []event{but(lunch, func(e *event) { e.Transparent = true })}},
		"declined":                 {events: []event{but(lunch, func(e *event) { e.Declined = true })}},
		"a working location":       {events: []event{but(lunch, func(e *event) { e.Kind = "workingLocation" })}},
		"a birthday":               {events: []event{but(allDay("2026-03-28", "2026-03-29"), func(e *event) { e.Kind = "birthday" })}},
		"focus time":               {events: []event{but(lunch, func(e *event) { e.Kind = "focusTime" })}, want: "03-28 12:00–03-28 13:00"},
		"all-day, 23 hours long": {
			events: []event{allDay("2026-03-29", "2026-03-30")}, to: "2026-04-01 00:00", want: "03-29 00:00–03-30 00:00",
		},
		"all-day, 25 hours long": {
			events: []event{allDay("2026-11-01", "2026-11-02")}, zone: "America/New_York", from: "2026-10-30 00:00",
			to: "2026-11-03 00:00", want: "11-01 00:00–11-02 00:00",
		},
		"all-day, 24 and a half hours": {
			events: []event{allDay("2026-04-05", "2026-04-06")}, zone: "Australia/Lord_Howe", from: "2026-04-01 00:00",
			to: "2026-04-10 00:00", want: "04-05 00:00–04-06 00:00",
		},
		"all-day, weekly": {
			events: []event{allDay("2026-03-21", "2026-03-23", "RRULE:FREQ=WEEKLY")}, to: "2026-04-06 00:00",
			want: "03-28 00:00–03-30 00:00, 04-04 00:00–04-06 00:00",
		},
		"a series over summer time": {events: []event{evenings()}, want: "03-28 20:00–03-28 22:00, 03-29 20:00–03-29 22:00"},
		"a series for New York": {
			events: []event{evenings()}, zone: "America/New_York", from: "2026-03-28 00:00", to: "2026-03-30 00:00",
			want: "03-28 15:00–03-28 17:00, 03-29 14:00–03-29 16:00",
		},
		"until a date": {
			events: []event{timed(t, "2026-03-27 20:00", "2026-03-27 22:00", "RRULE:FREQ=DAILY;UNTIL=20260328")},
			want:   "03-28 20:00–03-28 22:00",
		},
		"until an instant": {
			events: []event{timed(t, "2026-03-27 20:00", "2026-03-27 22:00", "RRULE:FREQ=DAILY;UNTIL=20260328T190000Z")},
			want:   "03-28 20:00–03-28 22:00",
		},
		"excluded": {
			events: []event{
				timed(t, "2026-03-27 20:00", "2026-03-27 22:00", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE;TZID=Europe/Zurich:20260328T200000"),
			},
			want: "03-29 20:00–03-29 22:00",
		},
		"an occurrence moved": {
			events: []event{evenings(exception("2026-03-28 20:00", "2026-03-28 08:00", "2026-03-28 09:00"))},
			want:   "03-28 08:00–03-28 09:00, 03-29 20:00–03-29 22:00",
		},
		"moved over summer time": {
			events: []event{evenings(exception("2026-03-28 20:00", "2026-03-29 18:00", "2026-03-29 20:00"))},
			want:   "03-29 18:00–03-29 22:00",
		},
		"moved out of the range": {
			events: []event{evenings(exception("2026-03-28 20:00", "2026-04-28 20:00", "2026-04-28 22:00"))},
			want:   "03-29 20:00–03-29 22:00",
		},
		"moved into the range": {
			events: []event{evenings(exception("2026-03-27 20:00", "2026-03-28 08:00", "2026-03-28 09:00"))},
			want:   "03-28 08:00–03-28 09:00, 03-28 20:00–03-28 22:00, 03-29 20:00–03-29 22:00",
		},
		"an occurrence cancelled": {
			events: []event{evenings(event{Original: at(t, "UTC", "2026-03-29 18:00"), Cancelled: true})},
			want:   "03-28 20:00–03-28 22:00",
		},
		"an occurrence declined": {
			events: []event{
				evenings(but(exception("2026-03-29 20:00", "2026-03-29 20:00", "2026-03-29 22:00"), func(e *event) { e.Declined = true })),
			},
			want: "03-28 20:00–03-28 22:00",
		},
		"one accepted of a declined series": {
			events: []event{
				but(evenings(exception("2026-03-29 20:00", "2026-03-29 20:00", "2026-03-29 22:00")), func(e *event) { e.Declined = true }),
			},
			want: "03-29 20:00–03-29 22:00",
		},
		"an occurrence that became all-day": {
			events: []event{evenings(event{Original: at(t, zurich, "2026-03-29 20:00"), Start: on("2026-03-29"), End: on("2026-03-30")})},
			want:   "03-28 20:00–03-28 22:00, 03-29 00:00–03-30 00:00",
		},
		"an all-day occurrence cancelled": {
			events: []event{
				but(
					allDay("2026-03-28", "2026-03-29", "RRULE:FREQ=DAILY"),
					func(e *event) { e.Exceptions = []event{{Original: on("2026-03-28"), Cancelled: true}} },
				),
			},
			want: "03-29 00:00–03-30 00:00",
		},
		"a deleted series, with its exceptions": {
			events: []event{
				but(evenings(exception("2026-03-28 20:00", "2026-03-28 08:00", "2026-03-28 09:00")), func(e *event) { e.Cancelled = true }),
			},
		},
		"a rule that cannot be read": {
			events: []event{lunch, timed(t, "2026-01-01 20:00", "2026-01-01 22:00", "RRULE:FREQ=SOMETIMES")},
			want:   "03-28 12:00–03-28 13:00", unknown: "03-28 00:00–03-30 00:00",
		},
		"unreadable from its start on": {
			events:  []event{timed(t, "2026-03-29 20:00", "2026-03-29 22:00", "RRULE:FREQ=SECONDLY")},
			unknown: "03-29 20:00–03-30 00:00",
		},
		"unreadable, but later": {events: []event{timed(t, "2026-04-29 20:00", "2026-04-29 22:00", "RRULE:FREQ=SECONDLY")}},
		"unreadable, but transparent": {
			events: []event{but(timed(t, "2026-01-01 20:00", "2026-01-01 22:00", "RRULE:FREQ=SOMETIMES"), func(e *event) { e.Transparent = true })},
		},
		"unreadable, with an exception": {
			events: []event{
				but(timed(t, "2026-01-01 20:00", "2026-01-01 22:00", "RRULE:FREQ=SOMETIMES"), func(e *event) { e.Exceptions = []event{lunch} }),
			},
			want: "03-28 12:00–03-28 13:00", unknown: "03-28 00:00–03-30 00:00",
		},
		"a series without a zone": {
			events: []event{but(evenings(), func(e *event) { e.Start.Zone = "" })}, unknown: "03-28 00:00–03-30 00:00",
		},
		"an event without times": {events: []event{{}}, unknown: "03-28 00:00–03-30 00:00"},
		"an exception without times": {
			events: []event{evenings(event{Original: at(t, zurich, "2026-03-29 20:00")})}, want: "03-28 20:00–03-28 22:00",
			unknown: "03-28 00:00–03-30 00:00",
		},
		"two that cannot be read": {events: []event{{}, {Start: on("2026-03-29")}}, unknown: "03-28 00:00–03-30 00:00"},
		"ended before the range began": {
			events: []event{timed(t, "2025-01-01 20:00", "2025-01-01 22:00", "RRULE:FREQ=DAILY;UNTIL=20250301T000000Z")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.zone == "" {
				c.zone = zurich
			}
			if c.from == "" {
				c.from = "2026-03-28 00:00"
			}
			if c.to == "" {
				c.to = "2026-03-30 00:00"
			}
			zone := in(t, c.zone)
			got, err := availability.Busy(c.events, zone, at(t, c.zone, c.from).Time, at(t, c.zone, c.to).Time)
			if err != nil || text(got.Busy, zone) != c.want || text(got.Unknown, zone) != c.unknown {
				t.Errorf("got  %q, unknown %q, %v\nwant %q, unknown %q", text(got.Busy, zone), text(got.Unknown, zone), err, c.want, c.unknown)
			}
		})
	}
}

func TestBusy_WithoutAZoneOrARange_IsInvalid(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		zone *time.Location
		to   time.Time
	}{
		"no zone":        {nil, from.Add(time.Hour)},
		"an empty range": {time.UTC, from},
		"a reversed one": {time.UTC, from.Add(-time.Hour)},
	} {
		if got, err := availability.Busy(nil, c.zone, from, c.to); !fault.Is(err, fault.Invalid) ||
			fault.CodeOf(err) == recurrence.CodeNotExpandable {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
