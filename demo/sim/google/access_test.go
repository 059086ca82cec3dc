package google_test

import (
	"strings"
	"testing"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

func TestSimCalendar_NamedFields_AreChanged(t *testing.T) {
	t.Parallel()
	opt := google.Options{Sequential: true, Dir: t.TempDir()}
	w := newWorld(t, opt)
	for _, step := range []struct {
		body   string
		status int
		want   string
	}{
		{`{}`, 400, "name its owner"},
		{`{"roles":{"gm":"reader"}}`, 400, "name its owner"},
		{`{"roles":{"gm":"owner","zoe":"reader"}}`, 400, "no such user"},
		{`{"roles":{"gm":"owner"}}`, 200, `{"summary":"` + club + `","time_zone":"UTC","roles":{"gm":"owner"},"push":true}`},
		{`{"summary":"Club","time_zone":"Asia/Tokyo"}`, 200, `{"summary":"Club","time_zone":"Asia/Tokyo","roles":{"gm":"owner"},"push":true}`},
		{
			`{"roles":{"ana":"writerWithoutPrivateAccess"},"push":false}`, 200,
			`"roles":{"ana":"writerWithoutPrivateAccess","gm":"owner"},"push":false}`,
		},
		{`{"roles":{"ana":"king"}}`, 400, "no such role"},
		{`{"time_zone":"Mars"}`, 400, "Europe/Zurich"},
		{`{"summary":"lost","roles":{"ana":"king"}}`, 400, "no such role"},
		{`{}`, 200, `{"summary":"Club","time_zone":"Asia/Tokyo","roles":{"ana":"writerWithoutPrivateAccess","gm":"owner"},"push":false}`},
	} {
		if status, _, text := w.curl("", "PUT", "/_sim/calendars/"+club, step.body); status != step.status || !strings.Contains(text, step.want) {
			t.Errorf("%s: %d %s, want %d %s", step.body, status, text, step.status, step.want)
		}
	}
	if status, _, text := w.curl("", "PUT", "/_sim/calendars/primary", `{"roles":{"gm":"owner"}}`); status != 400 {
		t.Errorf("%d %s", status, text)
	}
	again := newWorld(t, opt) // a restart remembers it
	if page := must(again.as("ana").Events.List(club).Do())(t); page.Summary != "Club" || page.TimeZone != "Asia/Tokyo" ||
		page.AccessRole != "writerWithoutPrivateAccess" {
		t.Errorf("after a restart: %+v", page)
	}
}

func TestSimCalendar_EveryRole_IsWhatTheCallsShow(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	for _, role := range []google.Role{google.FreeBusyReader, google.Reader, google.WriterWithoutPrivateAccess, google.Writer, google.Owner} {
		w.put(club, `{"roles":{"ben":"`+string(role)+`"}}`)
		if got := must(w.as("ben").Events.List(club).Do())(t).AccessRole; got != string(role) {
			t.Errorf("events.list says %s, want %s", got, role)
		}
		if got := must(w.as("ben").CalendarList.Get(club).Do())(t).AccessRole; got != string(role) {
			t.Errorf("calendarList.get says %s, want %s", got, role)
		}
	}
}

// put changes a calendar by its control.
func (w *world) put(cal, body string) {
	w.t.Helper()
	if status, _, text := w.curl("", "PUT", "/_sim/calendars/"+cal, body); status != 200 {
		w.t.Fatalf("%s: %d %s", body, status, text)
	}
}

func TestSimCalendar_Lost_IsNotFoundUntilGivenBack(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	e := must(w.as("gm").Events.Insert(club, timed("", 6)).Do())(t)
	token := must(w.as("ana").Events.List(club).Do())(t).NextSyncToken
	w.put(club, `{"roles":{"ana":"none"}}`)
	for name, err := range map[string]error{
		"list":   failure(w.as("ana").Events.List(club).Do()),
		"get":    failure(w.as("ana").Events.Get(club, e.Id).Do()),
		"patch":  failure(w.as("ana").Events.Patch(club, e.Id, &calendar.Event{Summary: "new"}).Do()),
		"delete": w.as("ana").Events.Delete(club, e.Id).Do(),
		"entry":  failure(w.as("ana").CalendarList.Get(club).Do()),
	} {
		t.Log(name)
		wantError(t, err, 404, "notFound")
	}
	must(w.as("gm").Events.Get(club, e.Id).Do())(t)
	w.put(club, `{"roles":{"ana":"writer"}}`)
	must(w.as("ana").Events.Patch(club, e.Id, &calendar.Event{Summary: "new"}).Do())(t)
	_, err := w.as("ana").Events.List(club).SyncToken(token).Do()
	wantError(t, err, 410, "fullSyncRequired")
}

func TestSimCalendar_WithoutPush_CannotBeWatchedUntilItHasIt(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	watch := func(id string) error {
		ch := &calendar.Channel{Id: id, Type: "web_hook", Address: "https://app.test/push"}
		return failure(w.as("gm").Events.Watch(club, ch).Do())
	}
	if err := watch("before"); err != nil {
		t.Fatal(err)
	}
	w.put(club, `{"push":false}`)
	wantError(t, watch("during"), 400, "pushNotSupportedForRequestedResource")
	if err := w.sim.SetPush(club, true); err != nil {
		t.Fatal(err)
	}
	if err := watch("after"); err != nil {
		t.Error(err)
	}
	if err := w.sim.SetPush("nobody@example.test", false); err == nil {
		t.Error("a calendar that is not there was changed")
	}
}
