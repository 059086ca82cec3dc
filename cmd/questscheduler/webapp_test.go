package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/emulator"
	"questscheduler/internal/test/webapp"
)

// webApp is a browser with a page that stands in for the web app
// (internal/test/webapp/app.js), on the emulators of Firestore and Firebase Auth, under
// the project's own rules, with this server in place of its functions.
type webApp struct {
	*operated
	documents *raw
	people    *emulator.People
	person    emulator.Person // who sits before the page
	address   string          // of the page
	google    string          // a token of the linked Google account, that somebody else holds
	id, slot  string
	start     time.Time
	latencies []latency
}

// The Google account that the page's user links.
const (
	appUser   = "dm"
	appGoogle = "dm@calendar.example"
)

const appPage = `<!doctype html><title>The web app</title><link rel="icon" href="data:,">
<p id="ready"></p><p id="status"></p><p id="badge"></p><p id="time"></p><p id="event"></p><pre id="result"></pre>
<script>window.places = %s;</script><script type="module" src="/app.js"></script>`

// foreseen are words that the console may print: for the calls that the server refuses,
// and for an emulator that answers slowly at first.
var foreseen = []string{"400 (Bad Request)", "401 (Unauthorized)", "Could not reach Cloud Firestore backend"}

// openWebApp starts all of it. The page has its own origin, as a web app has.
func openWebApp(t *testing.T) *webApp {
	t.Helper()
	script := webapp.Bundle(t, "app.js", webapp.Browser)
	host, project := emulator.Project(t)
	a := &webApp{documents: &raw{t, host, project}, people: emulator.Auth(t)}
	a.person = a.people.Add(appUser)
	a.setRules()
	page := &bytes.Buffer{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/app.js" {
			rw.Header().Set("Content-Type", "text/javascript")
			_, _ = rw.Write(script) // a browser that is gone
			return
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = rw.Write(page.Bytes())
	}))
	t.Cleanup(server.Close)
	// The Auth emulator has one project, and each test its own project for documents.
	// Only here do the two differ, and neither emulator minds.
	a.operated = operate(t,
		"QS_STORE=firestore", "QS_FIRESTORE_ENDPOINT="+host, "QS_FIRESTORE_PROJECT="+project, "QS_DOCUMENT_HINTS=listen",
		"QS_AUTH=firebase", "QS_FIREBASE_PROJECT="+a.people.Project, "FIREBASE_AUTH_EMULATOR_HOST="+a.people.Host, "QS_APP_URL="+server.URL)
	places, err := json.Marshal(map[string]any{"project": project, "firestore": host, "auth": a.people.Host, "functions": a.ready.API})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(page, appPage, places)
	grant, err := a.demo.Google().AddUser(google.User{
		Key: appUser, Sub: "sub-" + appUser, Email: appGoogle, TimeZone: "Europe/Berlin",
	})
	if err != nil {
		t.Fatal(err)
	}
	a.address, a.google = server.URL, grant.AccessToken
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the console says:\n%s", strings.Join(a.Problems(), "\n"))
		}
	})
	t.Cleanup(a.logLatencies)
	a.open("")
	return a
}

// signsIn signs the user in on the page.
func (a *webApp) signsIn() {
	a.t.Helper()
	if who := a.does("signIn", map[string]any{"credential": a.person.Credential}); who["uid"] != a.person.UID ||
		who["email"] != a.person.Email {
		a.t.Errorf("signed in is %v, and not %s", who, a.person.UID)
	}
}

// setRules deploys the rules of this repository to the emulator's project.
func (a *webApp) setRules() {
	a.documents.t.Helper()
	body, err := json.Marshal(map[string]any{
		"rules": map[string]any{
			"files": []any{map[string]any{"name": "firestore.rules", "content": docs.Read(a.documents.t, "firestore.rules")}},
		},
	})
	if err != nil {
		a.documents.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(a.documents.t.Context(), http.MethodPut,
		"http://"+a.documents.host+"/emulator/v1/projects/"+a.documents.project+":securityRules", bytes.NewReader(body))
	if err != nil {
		a.documents.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer owner")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.documents.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		a.documents.t.Fatalf("the rules are refused: %s", response.Status)
	}
}

// open opens the page, with a poll unless pollID is "".
func (a *webApp) open(pollID string) {
	a.t.Helper()
	a.Go(a.address + "/?poll=" + pollID)
	a.Await(`document.getElementById("ready").textContent === "ready"`)
}

// outcome is what the page shows after a step.
type outcome struct {
	Number        string
	Result        map[string]any
	Code, Message string
}

// tries runs a step in the page and returns its outcome.
func (a *webApp) tries(step string, data map[string]any) outcome {
	a.t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		a.t.Fatal(err)
	}
	number := a.Text(fmt.Sprintf("app.run(%q, %s)", step, text))
	a.Await(fmt.Sprintf(`document.getElementById("result").textContent.startsWith('{"number":%s,')`, number))
	var came struct {
		Result        map[string]any
		Code, Message string
	}
	if err := json.Unmarshal([]byte(a.Text(`document.getElementById("result").textContent`)), &came); err != nil {
		a.t.Fatal(err)
	}
	return outcome{number, came.Result, came.Code, came.Message}
}

// does is tries for a step that must succeed.
func (a *webApp) does(step string, data map[string]any) map[string]any {
	a.t.Helper()
	came := a.tries(step, data)
	if came.Message != "" {
		a.t.Fatalf("%s: %s %s", step, came.Code, came.Message)
	}
	return came.Result
}

// create creates a poll with one slot.
func (a *webApp) create(title string) {
	a.t.Helper()
	a.start = time.Now().UTC().Truncate(time.Hour).Add(100 * time.Hour)
	made := a.does("create", map[string]any{"title": title, "start": iso(a.start), "end": iso(a.start.Add(150 * time.Minute))})
	a.id, a.slot = fmt.Sprint(made["id"]), fmt.Sprint(made["slot"])
	a.shows("OPEN", "", "")
}

func iso(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }

// finalises chooses the slot, with an event, and returns the event's ID.
func (a *webApp) finalises() (eventID string) {
	a.t.Helper()
	made := a.does("finalise", map[string]any{"slot": a.slot, "createCalendarEvent": true})
	a.shows("FINALIZED", "", iso(a.start))
	return fmt.Sprint(made["eventId"])
}

// shows waits until the page shows a status, a badge and the winning time.
func (a *webApp) shows(status, badge, at string) {
	a.t.Helper()
	a.Await(showing(status, badge, at))
}

// showing is an expression that is true while the page shows them.
func showing(status, badge, at string) string {
	return fmt.Sprintf(`["status", "badge", "time"].map((id) => document.getElementById(id).textContent).join("|") === %q`,
		strings.Join([]string{status, badge, at}, "|"))
}

// inCalendar calls Google for an event as its owner.
func (a *webApp) inCalendar(method, eventID string, body any) answer {
	a.t.Helper()
	got, err := a.try(method, a.ready.Google+"/calendar/v3/calendars/"+appGoogle+"/events/"+eventID, "Bearer "+a.google, body)
	if err != nil || got.status >= 300 && got.status != http.StatusNotFound && got.status != http.StatusGone {
		a.t.Fatalf("%s %s: %v, %v", method, eventID, got, err)
	}
	return got
}

// moves moves the event to another time.
func (a *webApp) moves(eventID string, by time.Duration) {
	a.t.Helper()
	a.inCalendar(http.MethodPatch, eventID, map[string]any{
		"start": map[string]any{"dateTime": a.start.Add(by).Format(time.RFC3339)},
		"end":   map[string]any{"dateTime": a.start.Add(by + 150*time.Minute).Format(time.RFC3339)},
	})
}

// links runs the consent flow from the app's settings and back.
func (a *webApp) links() {
	a.t.Helper()
	a.Text(`app.run("link")`)
	a.Await(`document.querySelector('input[name="user"]')`)
	a.Text(`(document.querySelector('input[name="user"][value="` + appUser +
		`"]').checked = true, document.querySelector('button[value="allow"]').click())`)
	a.Await(`location.pathname === "/settings" && new URLSearchParams(location.search).get("calendar") === "linked"`)
	a.open(a.id)
}

// TestWebApp_InABrowser runs everything that the web app and this server do together,
// as a user sees it.
func TestWebApp_InABrowser(t *testing.T) {
	t.Parallel()
	a := openWebApp(t)

	if came := a.tries("calendars", nil); came.Code != "functions/unauthenticated" {
		t.Errorf("before anybody is signed in: %+v", came)
	}
	a.signsIn()
	a.create("Without a calendar")
	a.does("vote", map[string]any{"slot": a.slot})
	if came := a.tries(
		"finalise", map[string]any{"slot": a.slot, "createCalendarEvent": true},
	); came.Code != "functions/failed-precondition" || !strings.HasPrefix(came.Message, "Google Calendar not linked") {
		t.Errorf("without an account: %+v", came)
	}
	if made := a.does(
		"finalise", map[string]any{"slot": a.slot, "createCalendarEvent": false},
	); made["eventId"] != nil || made["calendarId"] != nil {
		t.Errorf("without an event it gives %v", made)
	}
	a.shows("FINALIZED", "", iso(a.start))

	a.links()
	if items := list(a.does("calendars", nil)["items"]); len(items) != 1 || items[0]["id"] != appGoogle || items[0]["primary"] != true {
		t.Errorf("the calendars are %v", items)
	}

	a.create("With a calendar")
	event := a.finalises()
	a.settles("the event is moved", func() { a.moves(event, 25*time.Hour) }, agreedState{
		event, true, true, map[string]any{"status": "FINALIZED", "calendarSync.state": "RESCHEDULED", "googleEventId": event},
		showing("FINALIZED", "Rescheduled", iso(a.start.Add(25*time.Hour))),
	})
	a.settles("the event is moved back", func() { a.moves(event, 0) }, agreedState{
		event, true, true,
		map[string]any{"status": "FINALIZED", "calendarSync.state": "OK", "calendarSync.rescheduled": nil, "googleEventId": event},
		showing("FINALIZED", "", iso(a.start)),
	})
	a.settles("the event is deleted, and may come back", func() { a.inCalendar(http.MethodDelete, event, nil) }, agreedState{
		event, false, true, map[string]any{"status": "CANCELLED", "calendarSync.state": "CANCELLED", "googleEventId": nil},
		showing("CANCELLED", "Cancelled", iso(a.start)),
	})

	for _, problem := range a.Problems() {
		if !slices.ContainsFunc(foreseen, func(words string) bool { return strings.Contains(problem, words) }) {
			t.Errorf("the console says %s", problem)
		}
	}
	for _, asked := range a.Hosts() {
		if host, _, err := net.SplitHostPort(asked); err != nil || host != "127.0.0.1" {
			t.Errorf("the page asks %s", asked)
		}
	}
}

// TestWebApp_DirectWrites_LeavePollEventAndIndexAgreeing: only the app writes, and the
// server listens for the document changes.
func TestWebApp_DirectWrites_LeavePollEventAndIndexAgreeing(t *testing.T) {
	t.Parallel()
	a := openWebApp(t)
	a.signsIn()
	a.create("The first")
	a.links()
	for _, row := range []struct {
		name string
		do   func(event string)
	}{
		{"cancel and restore", func(event string) {
			a.settles("the app cancels", func() { a.does("cancel", nil) },
				agreedState{event, false, false, isCancelled, showing("CANCELLED", "Cancelled", iso(a.start))})
			a.settles("the app restores", func() { a.does("restore", nil) },
				agreedState{event, false, false, isRestored, showing("FINALIZED", "", iso(a.start))})
		}},
		{"reopen, keeping the event", func(event string) {
			a.settles("the app reopens, and keeps the event", func() { a.does("reopen", map[string]any{"deleteEvent": false}) },
				agreedState{event, true, false, isReopened, showing("OPEN", "", "")})
			var again string
			a.settles("the app finalises again, and the older event goes", func() { again = a.finalises() },
				agreedState{
					event, false, false, map[string]any{"status": "FINALIZED", "calendarSync.state": "OK"},
					showing("FINALIZED", "", iso(a.start)),
				})
			if linked := a.documents.poll(a.id)["googleEventId"]; linked != again {
				t.Errorf("the poll has the event %v, and not %s", linked, again)
			}
		}},
		{"reopen what was moved, and delete its event", func(event string) {
			a.moves(event, 3*time.Hour)
			a.shows("FINALIZED", "Rescheduled", iso(a.start.Add(3*time.Hour)))
			a.settles("the app reopens, and deletes the event", func() {
				if came := a.does("reopen", map[string]any{"deleteEvent": true}); came["deleted"] != true {
					t.Errorf("deleted: %v", came)
				}
			}, agreedState{event, false, false, isReopened, showing("OPEN", "", "")})
		}},
		{"edit what is reopened", func(event string) {
			a.does("reopen", map[string]any{"deleteEvent": true})
			a.settles("the app edits", func() { a.does("edit", map[string]any{"title": "Another title"}) },
				agreedState{
					event, false, false, map[string]any{"title": "Another title", "status": "OPEN", "calendarSync.state": nil},
					showing("OPEN", "", ""),
				})
			a.finalises()
		}},
		{"delete", func(event string) {
			a.settles("the app deletes", func() { a.does("remove", nil) },
				agreedState{event, false, false, nil, showing("gone", "", "")})
		}},
	} {
		a.create(row.name)
		row.do(a.finalises())
	}
}
