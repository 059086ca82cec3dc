package recurrence_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

func TestMoment_Instant_OfADate_IsWhenItBegins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, date, want string }{
		{"Europe/Zurich", "2026-03-29", "2026-03-28T23:00:00Z"},
		{"Europe/Zurich", "2026-03-30", "2026-03-29T22:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"}, // midnight is skipped
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},    // midnight comes twice
		{"Pacific/Kiritimati", "2026-03-01", "2026-02-28T10:00:00Z"},
	} {
		if got := on(c.date).Instant(in(t, c.zone)).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %s begins at %s, want %s", c.date, c.zone, got, c.want)
		}
	}
	timed := at(t, "Asia/Tokyo", "2026-03-01 12:00")
	if !timed.Instant(in(t, "Europe/Zurich")).Equal(timed.Time) {
		t.Error("the calendar's zone moved an instant")
	}
	if !on("2026-02-30").Instant(time.UTC).IsZero() {
		t.Error("a date that does not exist has an instant")
	}
}

func TestMoment_Key_IsStableAcrossZones(t *testing.T) {
	t.Parallel()
	zurich, tokyo := at(t, "Europe/Zurich", "2026-03-01 13:00"), at(t, "Asia/Tokyo", "2026-03-01 21:00")
	for _, c := range []struct {
		moment recurrence.Moment
		key    string
	}{
		{zurich, "2026-03-01T12:00:00Z"}, {tokyo, "2026-03-01T12:00:00Z"},
		{on("2026-03-01"), "2026-03-01"}, {recurrence.Moment{}, ""},
	} {
		if got := c.moment.String(); got != c.key {
			t.Errorf("the key of %+v is %q, want %q", c.moment, got, c.key)
		}
		parsed, err := recurrence.Parse(c.key)
		if err != nil || !parsed.Equal(c.moment) || parsed.IsZero() != c.moment.IsZero() || parsed.AllDay() != c.moment.AllDay() {
			t.Errorf("%q is parsed as %+v, %v", c.key, parsed, err)
		}
	}
	if on("2026-03-01").Equal(at(t, "UTC", "2026-03-01 00:00")) || on("2026-03-01").Equal(on("2026-03-02")) {
		t.Error("a date equals an instant or another date")
	}
}

func TestParse_OfAnotherText_IsInvalid(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"tomorrow", "2026-02-30", "2026-03-01T12:00", "20260301"} {
		if got, err := recurrence.Parse(key); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is parsed as %+v, %v", key, got, err)
		}
	}
}
