package notify

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

func TestTimes_InTexts_AreInThePollsZone(t *testing.T) {
	t.Parallel()
	read := func(text string) rules.Fingerprint {
		f, err := rules.ParseFingerprint(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	winter := read("2027-02-02T18:00:00Z|2027-02-02T21:00:00Z|false")
	summer := read("2027-07-02T23:30:00Z|2027-07-03T01:00:00Z|false")
	for _, row := range []struct {
		at            rules.Fingerprint
		zone          string
		inApp, onCord string
	}{
		{winter, "Europe/Berlin", "Tuesday, 2 February 2027, 19:00 (Europe/Berlin)", "<t:1801591200:F>"},
		{summer, "Europe/Berlin", "Saturday, 3 July 2027, 01:30 (Europe/Berlin)", "<t:1814571000:F>"},
		{summer, "America/New_York", "Friday, 2 July 2027, 19:30 (America/New_York)", "<t:1814571000:F>"},
		{winter, "", "Tuesday, 2 February 2027, 18:00 (UTC)", "<t:1801591200:F>"},
		{winter, "Local", "Tuesday, 2 February 2027, 18:00 (UTC)", "<t:1801591200:F>"},
		{winter, "../../etc/passwd", "Tuesday, 2 February 2027, 18:00 (UTC)", "<t:1801591200:F>"},
		{read("2027-02-03|2027-02-04|true"), "Europe/Berlin", "Wednesday, 3 February 2027", "Wednesday, 3 February 2027"},
		{
			read("2027-02-03|2027-02-05|true"), "", "Wednesday, 3 February 2027 – Thursday, 4 February 2027",
			"Wednesday, 3 February 2027 – Thursday, 4 February 2027",
		},
		{rules.Fingerprint{}, "", "", ""},
	} {
		if got := English.sessionTime(row.at, false, English.inAppTime(zoneOf(poll.Poll{Timezone: row.zone}))); got != row.inApp {
			t.Errorf("%v in %q: got %q, want %q", row.at, row.zone, got, row.inApp)
		}
		if got := English.sessionTime(row.at, false, English.discordTime); got != row.onCord {
			t.Errorf("%v on Discord: got %q, want %q", row.at, got, row.onCord)
		}
	}
}

func TestLanguages_EveryText_IsFilled(t *testing.T) {
	t.Parallel()
	for tag, language := range languages {
		wantFilled(t, tag, reflect.ValueOf(*language))
		for _, notice := range []rules.Notice{rules.NoticeRescheduled, rules.NoticeRestored, rules.NoticeCancelled, rules.NoticeOnAgain} {
			words, ok := language.Notices[notice]
			if !ok {
				t.Errorf("%s: no texts of %s", tag, notice)
			}
			for _, texts := range [][]string{words.Body, words.Message} {
				if last := fill(texts[len(texts)-1], "{title}", ""); fillFirst([]string{last}, "{time}", "x", "{old}", "x", "{distance}", "x") != last {
					t.Errorf("%s: the last text of %s needs more than the title: %q", tag, notice, last)
				}
			}
		}
		var codes []string
		for _, known := range refusals {
			if known.Code != "" {
				codes = append(codes, known.Code)
			}
		}
		slices.Sort(codes)
		if texts := slices.Sorted(maps.Keys(language.Refusals)); !slices.Equal(texts, codes) {
			t.Errorf("%s: refusals %q, and texts of %q", tag, codes, texts)
		}
	}
}

// wantFilled fails for each empty text, list and function below a value.
func wantFilled(t *testing.T, at string, value reflect.Value) {
	t.Helper()
	if value.IsZero() || value.Kind() != reflect.Struct && value.Kind() != reflect.Func && value.Len() == 0 {
		t.Errorf("%s is empty", at)
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		for field, inner := range value.Fields() {
			wantFilled(t, at+"."+field.Name, inner)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			wantFilled(t, at+"."+key.String(), value.MapIndex(key))
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			wantFilled(t, at, value.Index(i))
		}
	}
}
