package rules_test

import (
	"testing"
	"time"

	"questscheduler/rules"
)

func TestFingerprint_SameMomentInAnotherOffset_IsEqual(t *testing.T) {
	t.Parallel()
	for _, start := range []string{
		"2026-03-02T10:00:00Z", "2026-03-02T11:00:00+01:00", "2026-03-02T00:15:00-09:45", "2026-03-03T00:00:00+14:00",
	} {
		if got := on(start, time.Hour); got != ten {
			t.Errorf("%s for an hour is %s, want %s", start, got, ten)
		}
	}
	berlin := time.FixedZone("CET", 3600)
	if got := rules.Timed(ten.StartTime().In(berlin), ten.EndTime()); got != ten {
		t.Errorf("start in one zone and end in another: %s, want %s", got, ten)
	}
}

func TestFingerprint_OtherTimes_Differ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b rules.Fingerprint
	}{
		{"by their start", ten, on("2026-03-02T10:00:00.001Z", time.Hour-time.Millisecond)},
		{"by their end", ten, on("2026-03-02T10:00:00Z", time.Hour+time.Millisecond)},
		{"by whole days or hours of the same moments", allDay, timedDay},
		{"by the date", allDay, days("2026-03-03", "2026-03-04")},
		{"by the last date", allDay, days("2026-03-02", "2026-03-04")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.a == c.b || c.a.String() == c.b.String() {
				t.Errorf("%s and %s are the same", c.a, c.b)
			}
		})
	}
}

func TestFingerprint_SubMilliseconds_AreCut(t *testing.T) {
	t.Parallel()
	start := ten.StartTime().Add(999 * time.Microsecond)
	if got := rules.Timed(start, ten.EndTime()); got != ten {
		t.Errorf("got %s, want %s", got, ten)
	}
}

func TestFingerprint_AllDay_IsItsDates(t *testing.T) {
	t.Parallel()
	if !allDay.AllDay || allDay.StartTime() != at("2026-03-02T00:00:00Z") || allDay.EndTime() != at("2026-03-03T00:00:00Z") {
		t.Errorf("got %+v", allDay)
	}
	for _, c := range []struct{ start, end string }{
		{"2026-02-30", "2026-03-03"}, {"2026-03-02", "2026-13-01"}, {"", "2026-03-03"}, {"2026-03-02", ""},
		{"2026-03-02T00:00:00Z", "2026-03-03"}, {"2.3.2026", "3.3.2026"},
	} {
		if f, err := rules.Days(c.start, c.end); err == nil || !f.IsZero() {
			t.Errorf("Days(%q, %q) = %s, %v; want an error", c.start, c.end, f, err)
		}
	}
}

func TestFingerprint_AsText_ParsesBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		f    rules.Fingerprint
		text string
	}{
		{"instants with milliseconds", ten, "2026-03-02T10:00:00.000Z|2026-03-02T11:00:00.000Z|false"},
		{"dates", allDay, "2026-03-02|2026-03-03|true"},
		{"the same moments with hours", timedDay, "2026-03-02T00:00:00.000Z|2026-03-03T00:00:00.000Z|false"},
		{"none", rules.Fingerprint{}, ""},
		{"the first day of the epoch, which is not none", days("1970-01-01", "1970-01-01"), "1970-01-01|1970-01-01|true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.f.String(); got != c.text {
				t.Errorf("text = %q, want %q", got, c.text)
			}
			if got, err := rules.ParseFingerprint(c.text); err != nil || got != c.f {
				t.Errorf("read back: %+v, %v; want %+v", got, err, c.f)
			}
			if got, want := c.f.IsZero(), c.text == ""; got != want {
				t.Errorf("IsZero = %t, want %t", got, want)
			}
		})
	}
}

func TestParseFingerprint_AnyOffsetAndPrecision_IsRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|false",
		"2026-03-02T11:00:00.000+01:00|2026-03-02T06:00:00-05:00|false",
		"2026-03-02T10:00:00.000999Z|2026-03-02T11:00:00.0000001Z|false",
	} {
		if got, err := rules.ParseFingerprint(text); err != nil || got != ten {
			t.Errorf("%q is read as %s, %v; want %s", text, got, err, ten)
		}
	}
}

func TestParseFingerprint_FirstAndLastYear_AreRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0000-01-01T00:00:00.000Z|0000-01-01T01:00:00.000Z|false", "9999-12-31T22:00:00.000Z|9999-12-31T23:59:59.999Z|false",
	} {
		if got, err := rules.ParseFingerprint(text); err != nil || got.String() != text {
			t.Errorf("%q is read as %s, %v", text, got, err)
		}
	}
}

func TestParseFingerprint_OtherText_FailsWithoutQuotingIt(t *testing.T) {
	t.Parallel()
	const sentence = "a fingerprint is start|end|allDay"
	for _, text := range []string{
		" ", "|", "||", "|||", "||false", "||true", "secret",
		"2026-03-02T10:00:00Z|2026-03-02T11:00:00Z",
		"2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|",
		"2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|FALSE",
		"2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|true",
		"2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|false|",
		"2026-03-02|2026-03-03|false",
		"2026-03-02|secret|true",
		"secret|2026-03-02T11:00:00Z|false",
		"2026-03-02T10:00:00Z|secret|false",
		"2026-03-02T10:00:00|2026-03-02T11:00:00|false",
		"0000-01-01T00:00:00+01:00|2026-03-02T11:00:00Z|false",
		"2026-03-02T10:00:00Z|9999-12-31T23:59:59-01:00|false",
	} {
		f, err := rules.ParseFingerprint(text)
		if err == nil || !f.IsZero() {
			t.Errorf("%q is read as %s, %v; want an error", text, f, err)
		} else if err.Error() != sentence {
			t.Errorf("%q: the error is %q, want %q", text, err, sentence)
		}
	}
}

// FuzzParseFingerprint: whatever is accepted comes back the same from its own
// text, and that text is the only one String gives it.
func FuzzParseFingerprint(f *testing.F) {
	for _, seed := range []string{
		"", "||false", "2026-03-02T10:00:00.000Z|2026-03-02T11:00:00.000Z|false", "2026-03-02|2026-03-03|true",
		"2026-03-02T10:00:00+01:00|2026-03-02T11:00:00-23:59|false", "2026-03-02T10:00:00,5Z|2026-03-02T11:00:00.123456789Z|false",
		"1970-01-01T00:00:00Z|1970-01-01T00:00:00Z|false", "1970-01-01|1970-01-01|true", "1969-12-31T23:59:59.9999Z|1970-01-01T00:00:00Z|false",
		"0000-01-01T00:00:00+00:01|9999-12-31T23:59:59.9999-00:01|false", "0000-01-01|9999-12-31|true", "2026-03-03|2026-03-02|true",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := rules.ParseFingerprint(text)
		if err != nil {
			if !first.IsZero() {
				t.Fatalf("%q is refused (%v) and read as %+v", text, err, first)
			}
			return
		}
		written := first.String()
		second, err := rules.ParseFingerprint(written)
		if err != nil || second != first || second.String() != written {
			t.Fatalf("%q is read as %+v, written as %q, and read again as %+v, %v", text, first, written, second, err)
		}
		if first.IsZero() != (written == "") {
			t.Fatalf("%q is read as %+v, zero %t, written as %q", text, first, first.IsZero(), written)
		}
	})
}
