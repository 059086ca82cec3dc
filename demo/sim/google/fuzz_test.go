package google

import (
	"encoding/json"
	"testing"
	"time"
)

// What a mask is read from never makes it fail otherwise than by an error, and
// a mask that was read can be applied to anything.
func FuzzMask(f *testing.F) {
	for _, seed := range []string{"items(id,status),nextPageToken", "items/start/*", "*", "a(b(c)),a/d", "((", "a,,b", "items(id"} {
		f.Add(seed)
	}
	value := json.RawMessage(`{"id":"x","items":[{"id":"y","start":{"date":"2026-03-06"}}],"a":{"b":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMask(text)
		if err != nil {
			return
		}
		if m.check(listShape) == nil && text != "" && len(m) == 0 {
			t.Errorf("%q asks for nothing", text)
		}
		kept, err := m.applyValue(value)
		if err != nil {
			t.Fatal(err)
		}
		if raw, _ := kept.(json.RawMessage); !json.Valid(raw) {
			t.Errorf("%q leaves %s", text, raw)
		}
	})
}

// A recurrence that is taken expands into instances in growing order, each
// found by its id, or cannot be expanded at all.
func FuzzRecurrence(f *testing.F) {
	for _, seed := range []string{
		"RRULE:FREQ=DAILY;COUNT=3", "RRULE:FREQ=WEEKLY;BYDAY=MO,FR;INTERVAL=2", "RRULE:FREQ=MONTHLY;UNTIL=20270101T000000Z",
		"RRULE:FREQ=YEARLY;BYMONTH=3", "EXDATE;TZID=Europe/Zurich:20260306T190000", "RDATE;VALUE=DATE:20260310",
		"RRULE:FREQ=DAILY;INTERVAL=999999999",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, line string, allDay bool) {
		recurrence, err := json.Marshal([]string{line})
		if err != nil {
			t.Skip()
		}
		at := time.Date(2026, 3, 6, 18, 0, 0, 0, time.UTC)
		e := &event{ID: "series", Fields: map[string]json.RawMessage{"recurrence": recurrence},
			Start: moment{Instant: at, Zone: "Europe/Zurich"}, End: moment{Instant: at.Add(time.Hour), Zone: "Europe/Zurich"}}
		if allDay {
			e.Start, e.End = moment{Date: "2026-01-31"}, moment{Date: "2026-02-01"}
		}
		cal := &calendar{calendarInfo: &calendarInfo{ID: "c"}, events: map[string]*event{e.ID: e}}
		all, err := cal.instances(e, time.Time{})
		if err != nil {
			return
		}
		for i, one := range all {
			if i > 0 && one.ID <= all[i-1].ID {
				t.Fatalf("%q: %s follows %s", line, one.ID, all[i-1].ID)
			}
		}
		if len(all) > 0 && cal.find(all[len(all)-1].ID) == nil {
			t.Errorf("%q: the last instance is not found", line)
		}
	})
}

// No token that somebody makes up is more than refused.
func FuzzTokens(f *testing.F) {
	f.Add("rubbish")
	f.Add(syncToken{Calendar: "c", Since: 1 << 62}.encode())
	f.Add(pageToken{Calendar: "c", After: -5, Request: digest("")}.encode())
	f.Fuzz(func(t *testing.T, text string) {
		w := newWorld()
		cal := &calendar{calendarInfo: &calendarInfo{ID: "c"}, events: map[string]*event{}}
		w.calendars["c"] = cal
		for _, l := range []*listing{
			{max: 1, syncToken: text}, {max: 1, pageToken: text}, {max: 1, pageToken: text, singleEvents: true},
			{max: 1, pageToken: text, orderBy: "updated"},
		} {
			l.tokenLife = tooLongAgo
			if _, err := w.walk(cal, l, true); err != nil && len(err.Error()) == 0 {
				t.Error("an error without words")
			}
		}
	})
}
