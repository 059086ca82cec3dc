package mirrors_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"questscheduler/internal/gcal"
	"questscheduler/mirrors"
)

func TestDelete_AnEventWithoutMirrors_IsNoError(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(home, "Dentist", thursday)
	w.sync(home)
	known := w.canonical(home)
	w.must(w.events().Delete(w.ctx, gm, known[0].ID, nil, cause))
	w.wantTitles(home)
}

func TestChange_OfTheTitle_KeepsTheStatus(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	start, end := at(thursday), at("2026-03-05T10:00:00Z")
	_, err := w.full.InsertContent(w.ctx, refTo(work), "event77", gcal.Content{
		Summary: "Maybe", Start: start, End: end, Transparency: "opaque", Visibility: "default", Status: "tentative",
	}, nil)
	w.must(err)
	w.sync(work)
	title := "Perhaps"
	shown, err := w.events().Change(w.ctx, gm, w.canonical(work)[0].ID, mirrors.Change{Title: &title}, cause)
	w.must(err)
	if shown.Title != title || shown.Status != "tentative" {
		t.Errorf("it is %q and %s", shown.Title, shown.Status)
	}
}

func TestChange_OfTheTitle_KeepsTheReminders(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "Stand-up", thursday)
	const reminders = `"reminders":{"overrides":[{"method":"popup","minutes":7}],"useDefault":false}`
	w.call(http.MethodPatch, `{`+reminders+`}`)
	w.sync(work)
	title := "Sit-down"
	_, err := w.events().Change(w.ctx, gm, w.canonical(work)[0].ID, mirrors.Change{Title: &title}, cause)
	w.must(err)
	if shown := w.call(http.MethodGet, ""); !strings.Contains(shown, title) || !strings.Contains(shown, `"minutes":7`) {
		t.Errorf("the event is %s", shown)
	}
}

// Who makes an event over REST is reminded of it as of those that they make in the calendar.
func TestCreate_AnEvent_HasTheRemindersOfItsCalendar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	if shown := w.callAbout(made.EventID, http.MethodGet, ""); strings.Contains(shown, `"useDefault":false`) {
		t.Errorf("the event is %s", shown)
	}
}

// call calls the calendar of work, as another program of its owner, about its first event.
func (w *world) call(method, body string) string {
	w.Helper()
	return w.callAbout("event1", method, body)
}

func (w *world) callAbout(eventID, method, body string) string {
	w.Helper()
	request := httptest.NewRequest(method, "/calendar/v3/calendars/"+refTo(work).Calendar+"/events/"+eventID, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+w.grants[work].AccessToken)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.google.Handler().ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		w.Fatalf("%s: %d %s", method, answer.Code, answer.Body)
	}
	return answer.Body.String()
}
