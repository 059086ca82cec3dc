package google_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

// connections are those of tests. Each httptest.Server that closes ends the idle ones of
// http.DefaultTransport, which other tests use at the same time.
var connections = http.DefaultTransport.(*http.Transport).Clone()

// described is a transport that holds every answer of the Calendar and Sheets APIs,
// success or error, against Google's description of it.
type described struct{ t *testing.T }

// RoundTrip implements http.RoundTripper.
func (d described) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := connections.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	if path, load := describedBy(req.URL.EscapedPath()); load != nil {
		desc, err := load()
		if err != nil {
			return nil, err
		}
		if wrong := desc.breach(req, path, resp, text); wrong != "" {
			d.t.Errorf("%s %s: %s; the answer: %s", req.Method, req.URL, wrong, text)
		}
	}
	return resp, nil
}

// describedBy is the description of a request's API, with the path as that has it; nil if
// the request is of neither API.
func describedBy(path string) (string, func() (*description, error)) {
	if below, ok := strings.CutPrefix(path, "/calendar/v3/"); ok {
		return below, loadDescription
	}
	if strings.HasPrefix(path, "/v4/") {
		return path[1:], loadSheets // whose paths have the version
	}
	return path, nil
}

// breach says in what an answer breaks the description, "" where in nothing.
func (d *description) breach(req *http.Request, path string, resp *http.Response, text []byte) string {
	if resp.StatusCode == http.StatusNotModified {
		if len(text) > 0 || resp.Header.Get("ETag") == "" {
			return "a 304 has an etag, and no body"
		}
		return ""
	}
	if resp.StatusCode >= 300 && strings.HasPrefix(path, "v4/") {
		return d.breachOfStatus(resp, text)
	}
	if resp.StatusCode >= 300 {
		return d.breachOfError(resp, text)
	}
	m := d.method(req.Method, path)
	if m == nil {
		return "Google has no such method"
	}
	for name := range req.URL.Query() {
		if m.Parameters[name] == nil && d.Parameters[name] == nil {
			return m.ID + " has no parameter " + name
		}
	}
	if m.Response == nil {
		if resp.StatusCode != http.StatusNoContent || len(text) > 0 {
			return m.ID + " answers with a body"
		}
		return ""
	}
	var answer any
	if err := json.Unmarshal(text, &answer); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Sprintf("%d, %v", resp.StatusCode, err)
	}
	return d.check(m.Response.Ref, m.Response, answer)
}

// breachOfError holds an error answer against the shape that all of Google's
// older APIs have; the description is silent about it.
func (d *description) breachOfError(resp *http.Response, text []byte) string {
	var answer struct {
		Error struct {
			Errors []struct {
				Domain, Reason, Message, LocationType, Location string
			}
			Code    int
			Message string
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&answer); err != nil {
		return err.Error()
	}
	e := answer.Error
	if e.Code != resp.StatusCode || e.Message == "" || len(e.Errors) != 1 {
		return "code, message or errors"
	}
	if one := e.Errors[0]; one.Domain == "" || one.Reason == "" || one.Message == "" || (one.Location == "") != (one.LocationType == "") {
		return "domain, reason, message or location"
	}
	return ""
}

// breachOfStatus holds an error answer against google.rpc.Status, as the newer APIs show it.
func (d *description) breachOfStatus(resp *http.Response, text []byte) string {
	var answer struct {
		Error struct {
			Code            int
			Message, Status string
			Details         []struct {
				Type           string `json:"@type"`
				Reason, Domain string
			}
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&answer); err != nil {
		return err.Error()
	}
	if e := answer.Error; e.Code != resp.StatusCode || e.Message == "" || e.Status == "" || e.Status != strings.ToUpper(e.Status) {
		return "code, message or status"
	}
	return ""
}

func TestDescription_FieldsOfMasks_AreKnown(t *testing.T) {
	t.Parallel()
	desc, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, testOptions())
	for name := range desc.Schemas["Event"].Properties {
		if status, _, text := w.curl("gm", "GET", "/calendar/v3/calendars/primary/events?fields=items/"+name, ""); status != http.StatusOK {
			t.Errorf("fields=items/%s: %d %s", name, status, text)
		}
	}
}

// samples are for each method a call that succeeds and one that fails, both
// gm's. "{id}" is an event of gm's own.
var samples = map[string]struct {
	path, body       string
	badPath, badBody string
	status           int // of the bad one
}{
	"events.list": {"calendars/primary/events", "", "calendars/primary/events?maxResults=0", "", 400},
	"events.get":  {"calendars/primary/events/{id}", "", "calendars/primary/events/never0there", "", 404},
	"events.insert": {
		"calendars/primary/events", `{"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`, "calendars/primary/events",
		`{"id":"{id}","start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`, 409,
	},
	"events.patch": {"calendars/primary/events/{id}", `{"summary":"new"}`, "calendars/primary/events/qs0gone", `{"summary":"new"}`, 403},
	"events.update": {
		"calendars/primary/events/{id}", `{"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`,
		"calendars/primary/events/{id}", `{}`, 400,
	},
	"events.delete":    {"calendars/primary/events/{id}", "", "calendars/primary/events/qs0gone", "", 410},
	"events.instances": {"calendars/primary/events/qs0series/instances", "", "calendars/primary/events/{id}/instances", "", 400},
	"events.move": {
		"calendars/primary/events/{id}/move?destination=club%40group.calendar.test", "", "calendars/primary/events/{id}/move",
		"", 400,
	},
	"events.watch": {
		"calendars/primary/events/watch", `{"id":"two","type":"web_hook","address":"https://app.test/push","token":"t"}`,
		"calendars/primary/events/watch", `{"id":"one","type":"web_hook","address":"https://app.test/push"}`, 400,
	},
	"channels.stop":   {"channels/stop", `{"id":"one","resourceId":"{resource}"}`, "channels/stop", `{"id":"one","resourceId":"x"}`, 404},
	"calendars.clear": {"calendars/primary/clear", "", "calendars/club%40group.calendar.test/clear", "", 400},
	"calendars.insert": {
		"calendars", `{"summary":"External Busy","description":"mark","timeZone":"Europe/Zurich"}`, "calendars",
		`{"description":"mark"}`, 400,
	},
	"calendars.delete": {"calendars/club%40group.calendar.test", "", "calendars/primary", "", 400},
	"freebusy.query": {"freeBusy",
		`{"timeMin":"2026-03-01T00:00:00Z","timeMax":"2026-03-31T00:00:00Z","items":[{"id":"primary"},{"id":"nobody@example.test"}]}`,
		"freeBusy", `{"timeMin":"2026-03-01T00:00:00Z","timeMax":"2026-06-30T00:00:00Z","items":[{"id":"primary"}]}`, 400},
	"calendarList.list": {"users/me/calendarList", "", "users/me/calendarList?maxResults=0", "", 400},
	"calendarList.get":  {"users/me/calendarList/primary", "", "users/me/calendarList/nobody%40example.test", "", 404},
}

func TestDescription_EveryMethod_AnswersAsDescribed(t *testing.T) {
	t.Parallel()
	desc, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range google.Methods() {
		t.Run(method.Name, func(t *testing.T) {
			t.Parallel()
			m := desc.method(method.Verb, method.Path)
			if m == nil || m.ID != "calendar."+method.Name {
				t.Fatalf("%s %s is not the description's", method.Verb, method.Path)
			}
			for _, scope := range method.Scopes {
				if !slices.Contains(m.Scopes, scope) {
					t.Errorf("%s does not allow it", scope)
				}
			}
			sample, ok := samples[method.Name]
			if !ok {
				t.Fatal("add a sample of a call that succeeds and of one that fails")
			}
			w := newClub(t)
			w.grants["gm"] = must(w.sim.NewGrant("gm", google.ScopeCalendar))(t) // which every method takes
			e := w.invite("qs0feast")
			w.weekly("qs0series")
			w.insert("gm", timed("qs0gone", 7))
			if err := w.as("gm").Events.Delete("primary", "qs0gone").Do(); err != nil {
				t.Fatal(err)
			}
			one := w.watch("gm", "one", "https://app.test/push")
			fill := strings.NewReplacer("{id}", e.Id, "{resource}", one.ResourceId)
			call := func(path, body string, headers ...string) int {
				status, _, _ := w.curl("gm", method.Verb, "/calendar/v3/"+fill.Replace(path), fill.Replace(body), headers...)
				return status
			}
			if status := call(sample.badPath, sample.badBody); status != sample.status {
				t.Errorf("the bad call: %d, want %d", status, sample.status)
			}
			for _, status := range []int{400, 401, 403, 404, 409, 410, 412, 429, 500, 503} {
				w.plant(control.Rule{Match: method.Name, Status: status, Times: 1})
				if got := call(sample.path, sample.body); got != status {
					t.Errorf("planted %d: %d", status, got)
				}
			}
			if status := call(sample.path, sample.body, "Authorization", "Bearer x"); status != 401 {
				t.Errorf("without a token: %d", status)
			}
			if status := call(sample.path, sample.body); status >= 300 {
				t.Errorf("the good call: %d", status)
			}
		})
	}
}

func TestDescription_BrokenAnswers_AreReported(t *testing.T) {
	t.Parallel()
	desc, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	for text, breaks := range map[string]bool{
		`{"id":"x","status":"confirmed","start":{"date":"2026-03-06"}}`: false,
		`{"id":7}`:                            true,
		`{"colour":"red"}`:                    true,
		`{"start":"2026-03-06"}`:              true,
		`{"start":{"date":"6 March"}}`:        true,
		`{"updated":"yesterday"}`:             true,
		`{"attendees":{"email":"a@b"}}`:       true,
		`{"attendees":[{"email":true}]}`:      true,
		`{"sequence":"1"}`:                    true,
		`{"locked":"yes"}`:                    true,
		`{"summary":null}`:                    true,
		`["id"]`:                              true,
		`{"extendedProperties":{"own":{}}}`:   true,
		`{"reminders":{"useDefault":"true"}}`: true,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if wrong := desc.check("Event", &schema{Ref: "Event"}, value); (wrong != "") != breaks {
			t.Errorf("%s: %q", text, wrong)
		}
	}
}
