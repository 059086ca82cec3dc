package gcal_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

func TestGet_OfAMovedEvent_NamesItsOrganizer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	club := gcal.Ref{Account: "gm", Calendar: "club@group.calendar.test"}
	if err := w.sim.AddCalendar(google.Calendar{ID: club.Calendar, Owner: "gm"}); err != nil {
		t.Fatal(err)
	}
	event := session("abcde1")
	event.Attendees = []string{"ana@example.test"}
	w.insert(t, event)
	whose := func(ref gcal.Ref) (string, bool, rules.EventState) {
		t.Helper()
		got, err := w.client.Get(t.Context(), ref, "abcde1")
		if err != nil {
			t.Fatal(err)
		}
		return got.Organizer, got.Organized, got.EventState
	}
	if email, own, _ := whose(mine); email != mine.Calendar || !own {
		t.Errorf("its own calendar says %q, %v", email, own)
	}
	gm := w.grants["gm"].AccessToken
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"https://google.test/calendar/v3/calendars/"+mine.Calendar+"/events/abcde1/move?destination="+club.Calendar, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+gm)
	w.sim.Handler().ServeHTTP(httptest.NewRecorder(), request)
	if email, own, state := whose(club); email != club.Calendar || !own || state != rules.Present {
		t.Errorf("the calendar that it was moved to says %q, %v, %v", email, own, state)
	}
	if email, own, _ := whose(gcal.Ref{Account: "ana", Calendar: "primary"}); email != club.Calendar || own {
		t.Errorf("the guest's says %q, %v", email, own)
	}
	if _, _, state := whose(mine); state != rules.Gone {
		t.Errorf("the calendar that it left shows it as %v", state)
	}
}

// paged is a client of a server that answers an empty first page, and the text as the second one;
// without a text each page leads to the second.
func paged(t *testing.T, second string) *gcal.Client {
	t.Helper()
	return scripted(t, func(w http.ResponseWriter, r *http.Request) {
		answer := `{"items":[],"nextPageToken":"second"}`
		if second != "" && r.URL.Query().Get("pageToken") == "second" {
			answer = second
		}
		if !strings.Contains(r.URL.Query().Get("fields"), "nextPageToken") {
			answer = `{"items":[]}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	})
}

func TestLists_FirstPageEmpty_ReadsOn(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{`{"items":[{"id":"abcde1"}]}`: true, `{"items":[{"id":"abcde2"}]}`: false} {
		if got, err := paged(t, answer).Lists(t.Context(), mine, "abcde1"); err != nil || got != want {
			t.Errorf("%s: %v, %v", answer, got, err)
		}
	}
	_, err := paged(t, "").Lists(t.Context(), mine, "abcde1") // for ever
	wantKind(t, err, fault.Unavailable, "")
}

func TestLists_ReportsExistingEventsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insert(t, session("abcde1"))
	w.insert(t, session("abcde2"))
	if _, err := w.client.Delete(t.Context(), mine, "abcde2"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"abcde1": true, "abcde2": false, "neverwas": false} {
		if got, err := w.client.Lists(t.Context(), mine, id); err != nil || got != want {
			t.Errorf("%s: %v, %v", id, got, err)
		}
	}
	_, err := w.client.Lists(t.Context(), gcal.Ref{Account: "gm", Calendar: "nobodys@example.test"}, "abcde1")
	wantKind(t, err, fault.NotFound, "")
}
