package google_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/api/calendar/v3"
)

func TestSeries_WithoutATimeZone_IsRefused(t *testing.T) {
	t.Parallel()
	const (
		weekly = `"recurrence":["RRULE:FREQ=WEEKLY;COUNT=5"]`
		start  = `"start":{"dateTime":"2026-03-06T19:00:00+01:00"%s}`
		end    = `"end":{"dateTime":"2026-03-06T20:00:00+01:00"%s}`
		zone   = `,"timeZone":"Europe/Zurich"`
		null   = `,"timeZone":null`
		days   = `"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}`
	)
	times := func(ofStart, ofEnd string) string { return fmt.Sprintf(start+","+end, ofStart, ofEnd) }
	for name, tc := range map[string]struct {
		verb, id, body string
		wrong          string // the side that lacks it; "": none
	}{
		"insert of a series with both":            {"POST", "", `{` + weekly + `,` + times(zone, zone) + `}`, ""},
		"insert of a series without":              {"POST", "", `{` + weekly + `,` + times("", "") + `}`, "start"},
		"insert of a series with a start's alone": {"POST", "", `{` + weekly + `,` + times(zone, "") + `}`, "end"},
		"insert of a series with an end's alone":  {"POST", "", `{` + weekly + `,` + times("", zone) + `}`, "start"},
		"insert of a series of days":              {"POST", "", `{` + weekly + `,` + days + `}`, ""},
		"insert of a single event without":        {"POST", "", `{` + times("", "") + `}`, ""},
		"update to a series without":              {"PUT", "qs0one", `{` + weekly + `,` + times("", "") + `}`, "start"},
		"update of a series without":              {"PUT", "qs0series", `{` + weekly + `,` + times(zone, "") + `}`, "end"},
		"update of a series to a single event":    {"PUT", "qs0series", `{` + times("", "") + `}`, ""},
		"patch of a series that keeps its own":    {"PATCH", "qs0series", `{` + times("", "") + `}`, ""},
		"patch of a series that takes it away":    {"PATCH", "qs0series", `{` + times(zone, null) + `}`, "end"},
		"patch to a series of what shows one":     {"PATCH", "qs0one", `{` + weekly + `}`, ""},
		"patch of a series of days to hours": {
			"PATCH", "qs0date",
			`{"start":{"date":null,"dateTime":"2026-03-06T19:00:00+01:00"},"end":{"date":null,"dateTime":"2026-03-06T20:00:00+01:00"}}`,
			"start",
		},
		"patch of an instance": {"PATCH", "qs0series_20260320T180000Z", `{` + times(null, null) + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			w.insert("gm", timed("qs0one", 6))
			w.weekly("qs0series")
			w.insert("gm", &calendar.Event{Id: "qs0date", Recurrence: []string{"RRULE:FREQ=DAILY;COUNT=2"},
				Start: &calendar.EventDateTime{Date: "2026-03-06"}, End: &calendar.EventDateTime{Date: "2026-03-07"}})
			path := "/calendar/v3/calendars/primary/events"
			if tc.id != "" {
				path += "/" + tc.id
			}
			status, _, text := w.curl("gm", tc.verb, path, tc.body)
			switch {
			case tc.wrong == "" && status != 200:
				t.Errorf("%d %s", status, text)
			case tc.wrong != "" && (status != 400 || reasonOf(t, text) != "required" || !strings.Contains(text, tc.wrong+" time")):
				t.Errorf("%d %s, want 400 required for the %s", status, text, tc.wrong)
			}
		})
	}
}

// properties are n extended properties with keys and values of these lengths.
func properties(n, key, value int) map[string]string {
	list := map[string]string{}
	for i := range n {
		list[fmt.Sprintf("%0*d", key, i)] = strings.Repeat("v", value)
	}
	return list
}

func TestExtendedProperties_BeyondALimit_AreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		private, shared map[string]string
		refused         bool
	}{
		"the longest key and value":     {properties(1, 44, 1024), properties(1, 44, 1024), false},
		"counted in characters":         {map[string]string{strings.Repeat("ö", 44): strings.Repeat("ö", 1024)}, nil, false},
		"a longer private key":          {properties(1, 45, 1), nil, true},
		"a longer shared key":           {nil, properties(1, 45, 1), true},
		"a longer private value":        {properties(1, 1, 1025), nil, true},
		"a longer shared value":         {nil, properties(1, 1, 1025), true},
		"the most":                      {properties(200, 3, 1), properties(100, 3, 1), false},
		"one more":                      {properties(200, 3, 1), properties(101, 3, 1), true},
		"the most bytes":                {properties(16, 24, 1000), properties(16, 24, 1000), false},
		"one byte more":                 {properties(16, 24, 1000), properties(16, 24, 1001), true},
		"bytes of characters beyond it": {nil, map[string]string{"a": strings.Repeat("€", 1024)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			given := &calendar.EventExtendedProperties{Private: tc.private, Shared: tc.shared}
			wants := func(err error) {
				t.Helper()
				if tc.refused {
					wantError(t, err, 400, "invalid")
				} else if err != nil {
					t.Error(err)
				}
			}
			inserted := timed("qs0one", 6)
			inserted.ExtendedProperties = given
			wants(failure(w.as("gm").Events.Insert("primary", inserted).Do()))
			w.insert("gm", timed("qs0other", 6))
			wants(failure(w.as("gm").Events.Patch("primary", "qs0other", &calendar.Event{ExtendedProperties: given}).Do()))
			updated := timed("qs0other", 6)
			updated.ExtendedProperties = given
			wants(failure(w.as("gm").Events.Update("primary", "qs0other", updated).Do()))
		})
	}
}

func TestExtendedProperties_OfAPatch_AddUpWithThoseOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("qs0one", 6)
	e.ExtendedProperties = &calendar.EventExtendedProperties{Private: properties(300, 3, 1)}
	w.insert("gm", e)
	patch := func(private string) error {
		status, _, text := w.curl("gm", "PATCH", "/calendar/v3/calendars/primary/events/qs0one", `{"extendedProperties":{"private":`+private+`}}`)
		if status != 200 {
			return fmt.Errorf("%d %s", status, text)
		}
		return nil
	}
	if err := patch(`{"another":"1"}`); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("one more: %v", err)
	}
	if err := patch(`{"another":"1","000":null}`); err != nil {
		t.Errorf("one in another's place: %v", err)
	}
}
