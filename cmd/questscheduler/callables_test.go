package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// call calls a function as a member of the party, as the web app does.
func (o *outside) call(who, path string, data any) (answer, error) {
	return o.try("POST", o.ready.API+path, "Bearer "+o.ready.Users[who].Token, map[string]any{"data": data})
}

// result is the result of a function called as the game master.
func (o *outside) result(name string, data any) map[string]any {
	o.t.Helper()
	got, err := o.call("gm", "/"+name, data)
	if err != nil {
		o.t.Fatal(err)
	}
	result, ok := got.body["result"].(map[string]any)
	if got.status != http.StatusOK || !ok || len(got.body) != 1 {
		o.t.Fatalf("%s answers %d: %v", name, got.status, got.body)
	}
	return result
}

// slotsOf are the ids of a poll's slots.
func (o *outside) slotsOf(id string) (ids []string) {
	o.t.Helper()
	poll, err := o.poll(id)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, slot := range list(poll["slots"]) {
		ids = append(ids, fmt.Sprint(slot["id"]))
	}
	return ids
}

// TestCallables_FinaliseAndDelete runs the life of a poll by the app's own calls.
func TestCallables_FinaliseAndDelete(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	pollID := o.ready.Polls["open"]
	slots := o.slotsOf(pollID)
	ask := map[string]any{
		"schedulerId": pollID, "slotId": slots[0], "calendarId": nil, "title": "By the app", "description": "Bring dice",
		"durationMinutes": 90.25, "attendees": []string{"gm@party.example", "ana@party.example", "Ana@party.example"},
		"createCalendarEvent": true,
	}
	first := o.result("googleCalendarFinalizePoll", ask)
	again := o.result("googleCalendarFinalizePoll", ask) // the answer was lost on its way, say
	if first["calendarId"] != "gm@party.example" || first["eventId"] == nil || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Fatalf("it gives %v, and then %v", first, again)
	}
	events := o.events("By the app")
	if len(events) != 1 || len(list(events[0]["attendees"])) != 2 || events[0]["description"] != "Bring dice" {
		t.Fatalf("the events are %v", events)
	}
	begin, end := instant(t, at(events[0], "start", "dateTime")), instant(t, at(events[0], "end", "dateTime"))
	if end.Sub(begin).Minutes() != 90.25 {
		t.Errorf("it is from %s to %s", begin, end)
	}

	ask["slotId"] = slots[1] // another time: the older event goes, by default
	second := o.result("googleCalendarFinalizePoll", ask)
	eventually(t, "one event", func() error {
		if events := o.events("By the app"); len(events) != 1 || events[0]["id"] != second["eventId"] {
			return fmt.Errorf("there are %v", events)
		}
		return nil
	})
	for _, deleted := range []bool{true, false} {
		if got := o.result("googleCalendarDeleteEvent", map[string]any{"schedulerId": pollID}); got["deleted"] != deleted {
			t.Errorf("deleted is %v, want %t", got, deleted)
		}
	}
	poll, err := o.poll(pollID)
	if err == nil {
		err = expect(poll, map[string]any{"status": "FINALIZED", "google_event_id": nil, "google_calendar_id": "gm@party.example"})
	}
	if err != nil {
		t.Error(err)
	}
	eventually(t, "no event", func() error {
		if events := o.events("By the app"); len(events) != 0 {
			return fmt.Errorf("there are %v", events)
		}
		return nil
	})
}

// TestCallables_FinaliseWithoutAnEvent: the older event is deleted.
func TestCallables_FinaliseWithoutAnEvent(t *testing.T) {
	t.Parallel()
	for name, deletes := range map[string]bool{"deletes the older event": true, "releases the older event": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &outside{t, startDemo(t, t.TempDir())}
			pollID := o.ready.Polls["linked"]
			before, err := o.poll(pollID)
			if err != nil {
				t.Fatal(err)
			}
			ask := map[string]any{"schedulerId": pollID, "slotId": o.slotsOf(pollID)[0], "createCalendarEvent": false}
			if !deletes {
				ask["deleteOldEvent"] = false
			}
			if got := o.result("googleCalendarFinalizePoll", ask); fmt.Sprint(got) != "map[calendarId:<nil> eventId:<nil>]" {
				t.Errorf("it gives %v", got)
			}
			eventually(t, "the older event", func() error {
				got, err := o.event("GET", fmt.Sprint(before["google_event_id"]), nil)
				if err == nil && (got.body["status"] == "cancelled") != deletes {
					err = fmt.Errorf("it is %v", got.body["status"])
				}
				return err
			})
			poll, err := o.poll(pollID)
			if err == nil {
				err = expect(poll, map[string]any{"status": "FINALIZED", "google_event_id": nil})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCallables_LinkAGoogleAccount: the returned address needs no token and leads back
// to the app's settings.
func TestCallables_LinkAGoogleAccount(t *testing.T) {
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, "the app at "+r.URL.Path) }))
	t.Cleanup(app.Close)
	o := &outside{t, startDemo(t, t.TempDir(), "QS_APP_URL="+app.URL)}
	b := newBrowser(t)
	start := fmt.Sprint(o.result("googleCalendarStartAuth", nil)["authUrl"])
	_, text := b.visit(start, "cross-site", nil)
	if !strings.Contains(text, "Go on to Google") {
		t.Fatalf("it says %s", text)
	}
	at, text := b.visit(start, "same-origin", nil)
	if !strings.HasPrefix(at.String(), o.ready.Google+"/o/oauth2/v2/auth?") {
		t.Fatalf("it leads to %s: %s", at, text)
	}
	at, text = b.visit(at.String(), "same-origin", url.Values{"user": {"spare"}, "decision": {"allow"}})
	if text != "the app at /settings" || at.Query().Get("calendar") != "linked" {
		t.Fatalf("it ends at %s: %s", at, text)
	}
	items := list(o.result("googleCalendarListCalendars", nil)["items"])
	primary := 0
	for _, item := range items {
		if len(item) != 3 || item["id"] == "" || item["summary"] == nil {
			t.Errorf("a calendar is %v", item)
		}
		if item["primary"] == true {
			primary++
		}
	}
	if len(items) != 3 || primary != 1 {
		t.Errorf("the calendars are %v", items)
	}
	for _, path := range []string{"/googleCalendarOAuthCallback", "/demo-project/us-central1/googleCalendarOAuthCallback"} {
		at, text = b.visit(o.ready.API+path+"?state=forged&code=x", "cross-site", nil)
		if !strings.Contains(text, "Link failed. Please try again.") {
			t.Errorf("%s says %s", at, text)
		}
		if got, err := o.try("GET", o.ready.API+path+"?state=forged&code=x", "", nil, "Accept",
			"application/json"); err != nil || got.status != http.StatusBadRequest {
			t.Errorf("%s answers %v, %v", path, got, err)
		}
	}
}

// TestCallables_Refusals: each row is a call and its error, at both forms of the path.
func TestCallables_Refusals(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	linked, slot := o.ready.Polls["linked"], o.slotsOf(o.ready.Polls["linked"])[0]
	private, err := o.v1("cho", "POST", "/polls", map[string]any{
		"title": "Not yours", "slots": []any{map[string]any{"start": "2030-01-01T10:00:00Z", "end": "2030-01-01T11:00:00Z"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	finalise := func(change ...any) map[string]any {
		data := map[string]any{"schedulerId": linked, "slotId": slot}
		for i := 0; i < len(change); i += 2 {
			data[fmt.Sprint(change[i])] = change[i+1]
		}
		return data
	}
	const f = "googleCalendarFinalizePoll"
	for name, row := range map[string]struct {
		who, function string
		data          any
		status        int
		says          string
		message       string // "": any
	}{
		"not signed in":      {"nobody", f, finalise(), 401, "UNAUTHENTICATED", "You are not signed in. Sign in and try again."},
		"no poll named":      {"gm", f, map[string]any{}, 400, "INVALID_ARGUMENT", "Missing schedulerId. Reload the page and try again."},
		"no arguments":       {"gm", "googleCalendarDeleteEvent", nil, 400, "INVALID_ARGUMENT", ""},
		"no slot named":      {"gm", f, finalise("slotId", nil), 400, "INVALID_ARGUMENT", "Missing slotId. Choose a time and try again."},
		"no such poll":       {"gm", f, finalise("schedulerId", "x"), 404, "NOT_FOUND", ""},
		"an id that is none": {"gm", f, finalise("schedulerId", "a/b"), 404, "NOT_FOUND", ""},
		"no such slot": {
			"gm", f, finalise("slotId", "x"), 404, "NOT_FOUND",
			"This poll has no such slot. Reload it and choose one of its slots.",
		},
		"a slot that is none":   {"gm", f, finalise("slotId", "a/b"), 404, "NOT_FOUND", ""},
		"another's poll":        {"ana", f, finalise(), 403, "PERMISSION_DENIED", "Only the creator of this poll may do that. Ask them."},
		"a stranger's poll":     {"ana", f, finalise("schedulerId", private["id"]), 404, "NOT_FOUND", ""},
		"another's event":       {"ana", "googleCalendarDeleteEvent", map[string]any{"schedulerId": linked}, 403, "PERMISSION_DENIED", ""},
		"a duration of nothing": {"gm", f, finalise("durationMinutes", 0), 400, "INVALID_ARGUMENT", ""},
		"a duration for ever":   {"gm", f, finalise("durationMinutes", 1e9), 400, "INVALID_ARGUMENT", ""},
		"a duration in words":   {"gm", f, finalise("durationMinutes", "90"), 400, "INVALID_ARGUMENT", ""},
		"a title of no text":    {"gm", f, finalise("title", 7), 400, "INVALID_ARGUMENT", ""},
		"guests of no list":     {"gm", f, finalise("attendees", "ana"), 400, "INVALID_ARGUMENT", ""},
		"a yes of no truth":     {"gm", f, finalise("createCalendarEvent", "yes"), 400, "INVALID_ARGUMENT", ""},
		"data of no object":     {"gm", f, []int{1}, 400, "INVALID_ARGUMENT", ""},
		"an unknown name":       {"gm", "somethingElse", nil, 404, "NOT_FOUND", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, before := range []string{"/", "/demo-project/us-central1/"} {
				got, err := o.call(row.who, before+row.function, row.data)
				failure, _ := got.body["error"].(map[string]any)
				if err != nil || got.status != row.status || failure["status"] != row.says || failure["message"] == "" ||
					row.message != "" && failure["message"] != row.message || len(got.body) != 1 {
					t.Errorf("%s%s answers %d %v, %v", before, row.function, got.status, got.body, err)
				}
			}
		})
	}
}

// TestCallables_WhoseCalendarIsClosed: the app recognises these two errors by their
// text.
func TestCallables_WhoseCalendarIsClosed(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	o.unlinkSecond()
	pollID := o.ready.Polls["open"]
	ask := map[string]any{"schedulerId": pollID, "slotId": o.slotsOf(pollID)[0]}
	demand := func(message string) {
		t.Helper()
		for function, data := range map[string]any{"googleCalendarFinalizePoll": ask, "googleCalendarListCalendars": nil} {
			got, err := o.call("gm", "/"+function, data)
			failure, _ := got.body["error"].(map[string]any)
			if err != nil || got.status != http.StatusBadRequest || failure["status"] != "FAILED_PRECONDITION" || failure["message"] != message {
				t.Errorf("%s answers %d %v, %v", function, got.status, got.body, err)
			}
		}
	}
	if got, err := o.try("POST", o.ready.Google+"/_sim/revoke", "", map[string]any{"user": "gm"}); err != nil || got.status >= 300 {
		t.Fatalf("%v, %v", got, err)
	}
	demand("Google Calendar authorization expired. Re-link in Settings.")
	accounts, err := o.v1("gm", "GET", "/accounts", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.v1("gm", "DELETE", fmt.Sprintf("/accounts/%v", list(accounts["accounts"])[0]["id"]), nil); err != nil {
		t.Fatal(err)
	}
	demand("Google Calendar not linked")
}

// TestCallables_FromBrowsers: pages of the allowed origins may call, and may read every
// answer.
func TestCallables_FromBrowsers(t *testing.T) {
	t.Parallel()
	const app, other = "https://app.example", "https://other.example"
	o := &outside{t, startDemo(t, t.TempDir(), "QS_APP_URL="+app)}
	for _, path := range []string{
		"/googleCalendarStartAuth", "/p-1/europe-west1/googleCalendarStartAuth", "/unknownName", "/p-1/europe-west1/unknownName",
	} {
		for origin, allowed := range map[string]string{app: app, other: ""} {
			ahead := o.ask(t, http.MethodOptions, path, "", "Origin", origin, "Access-Control-Request-Method", "POST",
				"Access-Control-Request-Headers", "authorization,content-type,x-firebase-appcheck")
			if ahead.Header.Get("Access-Control-Allow-Origin") != allowed || ahead.StatusCode != http.StatusNoContent {
				t.Errorf("%s asks for %s ahead: %d %v", origin, path, ahead.StatusCode, ahead.Header)
			}
			if allowed != "" && (ahead.Header.Get("Access-Control-Allow-Headers") != "authorization,content-type,x-firebase-appcheck" ||
				!strings.Contains(ahead.Header.Get("Access-Control-Allow-Methods"), "POST")) {
				t.Errorf("%s asks for %s ahead: %v", origin, path, ahead.Header)
			}
			for _, body := range []string{`{"data":null}`, `nonsense`} {
				if got := o.ask(t, http.MethodPost, path, body, "Origin", origin); got.Header.Get("Access-Control-Allow-Origin") != allowed {
					t.Errorf("%s calls %s: %d %v", origin, path, got.StatusCode, got.Header)
				}
			}
		}
	}
	for origin, allowed := range map[string]string{app: app, other: ""} { // /v1 is the app's own, too
		ahead := o.ask(t, http.MethodOptions, "/v1/polls", "", "Origin", origin, "Access-Control-Request-Method", "POST")
		if ahead.Header.Get("Access-Control-Allow-Origin") != allowed {
			t.Errorf("%s asks for /v1 ahead: %d %v", origin, ahead.StatusCode, ahead.Header)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		for path, status := range map[string]int{"/googleCalendarStartAuth": http.StatusBadRequest, "/unknownName": http.StatusNotFound} {
			got := o.ask(t, method, path, "", "Origin", app)
			if got.StatusCode != status || status == http.StatusBadRequest && got.Header.Get("Access-Control-Allow-Origin") != app {
				t.Errorf("%s %s answers %d %v", method, path, got.StatusCode, got.Header)
			}
		}
	}
	if got := o.ask(t, http.MethodPost, "/healthz", "{}"); got.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a route of its own answers a call with %d", got.StatusCode)
	}
}

// ask makes a request and returns its response, whose body is read and dropped.
func (o *outside) ask(t *testing.T, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, o.ready.API+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response
}

// TestCallables_NotOurs_ArePassedOn: calls of the app's own functions go upstream; ours
// never do.
func TestCallables_NotOurs_ArePassedOn(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path == "/slow" {
			panic(http.ErrAbortHandler)
		}
		rw.Header().Set("X-Of-The-Function", "kept")
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Connection", "X-Hop")
		rw.Header().Set("X-Hop", "dropped")
		if r.URL.Path == "/shares" {
			rw.Header().Set("Access-Control-Allow-Origin", "https://its.own")
		}
		rw.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(rw, `{"path": %q, "authorization": %q, "hop": %q, "forwarded": %q, "body": %q}`,
			r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Hop"), r.Header.Get("X-Forwarded-For"), body)
	}))
	t.Cleanup(upstream.Close)
	o := &outside{t, startDemo(t, t.TempDir(), "QS_CALLABLES_UPSTREAM="+upstream.URL, "QS_ALLOWED_ORIGINS=*")}
	for _, path := range []string{
		"/rollDice", "/demo-project/us-central1/rollDice", "/emitNotificationEvent", "/getRequiredEmbeddedPollFinalizeSummary",
		"/shares",
	} {
		got, err := o.try(
			"POST", o.ready.API+path, "Bearer of the app", map[string]any{"data": map[string]any{"sides": 6}}, "Connection",
			"X-Hop", "X-Hop", "1",
		)
		if err != nil || got.status != http.StatusTeapot ||
			fmt.Sprint(got.body) != fmt.Sprintf("map[authorization:Bearer of the app body:%s forwarded: hop: path:%s]",
				`{"data":{"sides":6}}`, path) {
			t.Errorf("%s answers %d %v, %v", path, got.status, got.body, err)
		}
		response := o.ask(t, http.MethodPost, path, `{"data":null}`, "Origin", "https://app.example", "Content-Type", "application/json")
		want := []string{"https://app.example"}
		if path == "/shares" {
			want = []string{"https://its.own"}
		}
		if response.Header.Get("X-Of-The-Function") != "kept" || response.Header.Get("X-Hop") != "" ||
			fmt.Sprint(response.Header.Values("Access-Control-Allow-Origin")) != fmt.Sprint(want) || response.Header.Get("Content-Security-Policy") != "" {
			t.Errorf("%s has the headers %v", path, response.Header)
		}
	}
	if got := o.result("googleCalendarListCalendars", nil); len(list(got["items"])) != 2 {
		t.Errorf("a function of ours returns %v", got)
	}
	got, err := o.call("gm", "/slow", nil)
	failure, _ := got.body["error"].(map[string]any)
	if err != nil || got.status != http.StatusServiceUnavailable || failure["status"] != "UNAVAILABLE" {
		t.Errorf("one that does not answer: %d %v, %v", got.status, got.body, err)
	}
}

// TestCallables_OfTheAppAlone_WithoutFunctionsOfItsOwn: no other poll is required, and the
// app's notices go to nobody.
func TestCallables_OfTheAppAlone_WithoutFunctionsOfItsOwn(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	if got := o.result(
		"getRequiredEmbeddedPollFinalizeSummary", map[string]any{"schedulerId": o.ready.Polls["open"]},
	); fmt.Sprint(got) != "map[requiredPolls:[]]" {
		t.Errorf("it requires other polls: %v", got)
	}
	for _, name := range []string{"emitNotificationEvent", "reconcilePendingNotifications"} {
		if got := o.result(name, map[string]any{"type": "ANY"}); len(got) != 0 {
			t.Errorf("%s gives %v", name, got)
		}
		if got, err := o.call("nobody", "/"+name, nil); err != nil || got.status != http.StatusUnauthorized {
			t.Errorf("%s answers nobody with %v, %v", name, got, err)
		}
	}
}
