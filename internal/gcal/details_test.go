package gcal_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"google.golang.org/api/calendar/v3"
	"google.golang.org/api/option"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

// person is Google's own client, as one of the people.
func (w *world) person(t *testing.T, key string) *calendar.Service {
	t.Helper()
	client := &http.Client{Transport: bearer{w.grants[key].AccessToken, control.Transport(w.sim.Handler())}}
	service, err := calendar.NewService(t.Context(), option.WithEndpoint("http://google.test/calendar/v3/"), option.WithHTTPClient(client))
	if err != nil {
		t.Fatal(err)
	}
	return service
}

type bearer struct {
	token string
	inner http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+b.token)
	return b.inner.RoundTrip(request)
}

func TestDetails_AreReadFromWhatPeopleMake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	date := func(day string) *calendar.EventDateTime { return &calendar.EventDateTime{Date: "2026-03-" + day} }
	attendees := []*calendar.EventAttendee{{Email: "gm@example.test"}}
	for i := range 5 {
		attendees = append(attendees, &calendar.EventAttendee{Email: fmt.Sprintf("guest%d@example.test", i)})
	}
	ana := w.person(t, "ana")
	for _, id := range []string{"accepted", "declined", "needsaction"} {
		if _, err := ana.Events.Insert("primary", &calendar.Event{
			Id: map[string]string{"accepted": "qs0a", "declined": "qs0d", "needsaction": "qs0n"}[id] + "0", Start: date("05"),
			End: date("06"), Attendees: attendees,
		}).Do(); err != nil {
			t.Fatal(err)
		}
	}
	gm := w.person(t, "gm")
	for id, answer := range map[string]string{"qs0a0": "accepted", "qs0d0": "declined"} {
		all := slices.Clone(attendees)
		all[0] = &calendar.EventAttendee{Email: "gm@example.test", ResponseStatus: answer}
		if _, err := gm.Events.Patch("primary", id, &calendar.Event{Attendees: all}).Do(); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"workingLocation", "birthday", "focusTime", "outOfOffice"} {
		event := &calendar.Event{
			Start: date("07"), End: date("08"), EventType: kind, Visibility: "private", Transparency: "transparent", Summary: kind,
		}
		if _, err := gm.Events.Insert("primary", event).Do(); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	events, _ := listWide(t, w, "")
	for _, event := range events {
		alone := w.get(t, event.ID).Details
		if alone.Response != event.Details.Response || alone.Kind != event.Details.Kind || alone.Organized != event.Details.Organized {
			t.Errorf("listed as %+v, got as %+v", event.Details, alone)
		}
		d := event.Details
		got[event.ID+d.Summary] = fmt.Sprint(d.Kind, " ", d.Response, " ", d.Organized, " ", d.Visibility, " ", d.Transparency, " ", d.Status)
		if d.Kind != "default" {
			delete(got, event.ID+d.Summary)
			got[d.Kind] = fmt.Sprint(d.Visibility, " ", d.Transparency, " ", d.Organized)
		}
	}
	for name, want := range map[string]string{
		"qs0a0": "default accepted false default opaque confirmed", "qs0d0": "default declined false default opaque confirmed",
		"qs0n0": "default needsAction false default opaque confirmed", "workingLocation": "private transparent true",
		"birthday": "private transparent true", "focusTime": "private transparent true", "outOfOffice": "private transparent true",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// The sync tokens of the two listings are not interchangeable, which Google says with the
// code that asks for a full one.
func TestList_WithATokenOfAnotherMask_AsksForFullListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insert(t, session("abcde1"))
	_, narrow, _ := listAll(t, w.client, mine, "")
	_, err := w.client.List(t.Context(), mine, gcal.WithDetails, narrow, "")
	wantKind(t, err, fault.Conflict, gcal.CodeSyncTokenExpired)
	_, wide := listWide(t, w, "")
	if changed, _ := listWide(t, w, wide); len(changed) != 0 {
		t.Errorf("nothing changed, and it lists %+v", changed)
	}
}

func TestList_WithDetails_ShowsTheOwnAnswerAlone(t *testing.T) {
	t.Parallel()
	var asked url.Values
	client := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query()
		fmt.Fprint(w, `{"nextSyncToken":"s"}`)
	})
	if _, err := client.List(t.Context(), mine, gcal.WithDetails, "", ""); err != nil {
		t.Fatal(err)
	}
	if asked.Get("maxResults") != "250" || asked.Get("maxAttendees") != "1" || asked.Get("singleEvents") != "false" {
		t.Errorf("asked %v", asked)
	}
}

// Google shows the zone of a time with it; where it does not, the calendar's counts in
// every answer alike.
func TestDetails_WithoutAZone_HaveTheCalendars(t *testing.T) {
	t.Parallel()
	client := answering(
		t,
		`{"id":"abcde1","start":{"dateTime":"2026-03-01T13:00:00+01:00"},"end":{"dateTime":"2026-03-01T14:00:00+01:00","timeZone":"Asia/Tokyo"}}`,
	)
	page, err := client.List(t.Context(), mine, gcal.WithDetails, "", "")
	if err != nil {
		t.Fatal(err)
	}
	alone, err := client.Get(t.Context(), mine, "abcde1")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*gcal.Details{page.Events[0].Details, alone.Details} {
		if d.Start.Zone != "Europe/Zurich" || d.End.Zone != "Asia/Tokyo" || !d.Start.Time.Equal(noon) {
			t.Errorf("got %+v to %+v", d.Start, d.End)
		}
	}
}
