package google_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

// raw is a call of gm's whose answer need not be as Google describes it.
func (w *world) raw(path string) (status int, text string) {
	w.t.Helper()
	status, _, text = w.send(http.DefaultTransport, "gm", http.MethodGet, "/calendar/v3/calendars/primary/events"+path, "")
	return status, text
}

func TestMalformed_UntilRemoved_IsInGetAndList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 2)
	_, token := w.list("gm", nil)
	must(w.as("gm").Events.Patch("primary", "qs00001", &calendar.Event{Summary: "new"}).Do())(t)
	const mask = "id,updated,start,recurrence"
	at := map[string]string{
		"/qs00001?fields=" + mask:                        `{%}`,
		"?fields=items(" + mask + ")&syncToken=" + token: `{"items":[{%}]}`,
	}
	for fields, want := range map[string]string{
		`{"recurrence": "RRULE:FREQ=DAILY"}`:          `"id":"qs00001","updated":"2026-03-01T12:00:00.000Z","start":S,"recurrence":"RRULE:FREQ=DAILY"`,
		`{"start": "tomorrow"}`:                       `"id":"qs00001","updated":"2026-03-01T12:00:00.000Z","start":"tomorrow"`,
		`{"start": 7, "id": [ 1 ]}`:                   `"id":[1],"updated":"2026-03-01T12:00:00.000Z","start":7`,
		`{"updated": null}`:                           `"id":"qs00001","start":S`,
		`{"start": {"dateTime": true}, "summary": 1}`: `"id":"qs00001","updated":"2026-03-01T12:00:00.000Z","start":{"dateTime":true}`,
		`{}`: `"id":"qs00001","updated":"2026-03-01T12:00:00.000Z","start":S`,
	} {
		w.control("malformed", `{"calendar": "gm@example.test", "event": "qs00001", "fields": `+fields+`}`)
		want = strings.ReplaceAll(want, "S", `{"dateTime":"2026-03-02T19:00:00+01:00","timeZone":"Europe/Zurich"}`)
		for path, shape := range at {
			if status, text := w.raw(path); status != 200 || text != strings.Replace(shape, "%", want, 1) {
				t.Errorf("%s %s: %d %s", fields, path, status, text)
			}
		}
		if _, text := w.raw("?fields=items(id,updated)"); !strings.Contains(text, `{"id":"qs00000","updated":"2026-03-01T12:00:00.000Z"}`) {
			t.Errorf("the other event: %s", text)
		}
	}
}

func TestMalformed_DeletedEvent_IsMalformedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("gm", timed("qs0gone", 6))
	if err := w.as("gm").Events.Delete("primary", "qs0gone").Do(); err != nil {
		t.Fatal(err)
	}
	wrong := google.Malformed{Calendar: "gm@example.test", Event: "qs0gone",
		Fields: map[string]json.RawMessage{"status": json.RawMessage(`7`), "recurrence": json.RawMessage(`"weekly"`)}}
	if err := w.sim.Malform(wrong); err != nil {
		t.Fatal(err)
	}
	if _, text := w.raw("/qs0gone?fields=id,status,recurrence"); text != `{"id":"qs0gone","status":7,"recurrence":"weekly"}` {
		t.Error(text)
	}
	if _, text := w.raw("/qs0gone?fields=id"); text != `{"id":"qs0gone"}` {
		t.Error(text)
	}
	w.sim.ClearMalformed()
	if _, text := w.raw("/qs0gone?fields=id,status,recurrence"); text != `{"id":"qs0gone","status":"cancelled"}` {
		t.Error(text)
	}
}

func TestMalformed_OverHTTP_IsListedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("gm", timed("qs0mine", 6))
	const mine = `{"calendar":"gm@example.test","event":"qs0mine","fields":{"start":1}}`
	for _, step := range []struct {
		verb, body string
		status     int
		want       string
	}{
		{"GET", "", 200, `{"malformed":[]}`},
		{"POST", mine, 200, `{"malformed":[` + mine + `]}`},
		{"GET", "", 200, `{"malformed":[` + mine + `]}`},
		{"POST", `{"calendar":"gm@example.test","event":"qs0mine"}`, 200, `{"malformed":[]}`},
		{"POST", mine, 200, `{"malformed":[` + mine + `]}`},
		{"POST", `{"calendar":"gm@example.test","event":"qs0mine","fields":{"starts":1}}`, 400, "starts"},
		{"POST", `{"calendar":"gm@example.test","event":"qs0none","fields":{"start":1}}`, 400, "no such event"},
		{"POST", `{"calendar":"primary","event":"qs0mine","fields":{"start":1}}`, 400, "calendar's id"},
		{"GET", "", 200, `{"malformed":[` + mine + `]}`},
		{"DELETE", "", 200, `{"malformed":[]}`},
	} {
		status, _, text := w.curl("", step.verb, "/_sim/malformed", step.body)
		if status != step.status || !strings.Contains(text, step.want) {
			t.Errorf("%s %s: %d %s, want %d %s", step.verb, step.body, status, text, step.status, step.want)
		}
	}
}
