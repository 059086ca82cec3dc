package google_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

func TestInsert_Answer_IsTheEventAsGoogleKeepsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("", 6)
	e.Description = "Bring <dice> & \"snacks\""
	e.ExtendedProperties = &calendar.EventExtendedProperties{Private: map[string]string{"poll": "p1"}}
	got := w.insert("gm", e)

	if len(got.Id) != 26 || got.ICalUID != got.Id+"@google.com" || got.Etag == "" || got.HtmlLink == "" {
		t.Errorf("id %q, iCalUID %q, etag %q, link %q", got.Id, got.ICalUID, got.Etag, got.HtmlLink)
	}
	if got.Status != "confirmed" || got.EventType != "default" || got.Sequence != 0 {
		t.Errorf("status %q, type %q, sequence %d", got.Status, got.EventType, got.Sequence)
	}
	if got.Start.DateTime != "2026-03-06T19:00:00+01:00" || got.Start.TimeZone != "Europe/Zurich" {
		t.Errorf("start %+v", got.Start)
	}
	if got.Organizer.Email != "gm@example.test" || !got.Organizer.Self || !got.Creator.Self {
		t.Errorf("organizer %+v, creator %+v", got.Organizer, got.Creator)
	}
	if got.Description != e.Description || got.ExtendedProperties.Private["poll"] != "p1" {
		t.Errorf("description %q, properties %+v", got.Description, got.ExtendedProperties)
	}
	if got.Created != "2026-03-01T12:00:00.000Z" || got.Updated != got.Created {
		t.Errorf("created %s, updated %s", got.Created, got.Updated)
	}
	again := must(w.as("gm").Events.Get("gm@example.test", got.Id).Do())(t)
	if again.Etag != got.Etag || again.ServerResponse.Header.Get("ETag") != got.Etag {
		t.Errorf("get: etag %q and header %q, want %q", again.Etag, again.ServerResponse.Header.Get("ETag"), got.Etag)
	}
}

func TestInsert_ClientsID_IsKeptAndStaysTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	if got := w.insert("gm", timed("qs0abc", 6)); got.Id != "qs0abc" {
		t.Fatalf("id %q", got.Id)
	}
	insert := func(key, id string) error {
		_, err := w.as(key).Events.Insert("primary", timed(id, 7)).Do()
		return err
	}
	wantError(t, insert("gm", "qs0abc"), 409, "duplicate")
	if err := w.as("gm").Events.Delete("primary", "qs0abc").Do(); err != nil {
		t.Fatal(err)
	}
	wantError(t, insert("gm", "qs0abc"), 409, "duplicate")
	if err := insert("ana", "qs0abc"); err != nil {
		t.Errorf("the same id in another calendar: %v", err)
	}
	for _, id := range []string{"abcd", "UPPER0", "with-hyphen", "wxyz0", strings.Repeat("a", 1025)} {
		wantError(t, insert("gm", id), 400, "invalid")
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body       string
		start, end string // as answered; "" where refused
		reason     string
	}{
		"an offset": {
			`{"start":{"dateTime":"2026-03-06T18:00:00Z"},"end":{"dateTime":"2026-03-06T14:00:00-05:00"}}`,
			"2026-03-06T19:00:00+01:00", "2026-03-06T20:00:00+01:00", "",
		},
		"wall time with a zone": {
			`{"start":{"dateTime":"2026-03-06T19:00:00","timeZone":"America/New_York"},"end":{"dateTime":"2026-03-06T20:00:00","timeZone":"America/New_York"}}`,
			"2026-03-07T01:00:00+01:00", "2026-03-07T02:00:00+01:00", "",
		},
		"wall time after the clocks changed": {
			`{"start":{"dateTime":"2026-03-29T19:00:00","timeZone":"Europe/Zurich"},"end":{"dateTime":"2026-03-29T20:00:00","timeZone":"Europe/Zurich"}}`,
			"2026-03-29T19:00:00+02:00", "2026-03-29T20:00:00+02:00", "",
		},
		"wall times that clocks skip": {
			`{"start":{"dateTime":"2026-03-29T02:30:00","timeZone":"Europe/Zurich"},"end":{"dateTime":"2026-03-29T03:45:00","timeZone":"Europe/Zurich"}}`,
			"2026-03-29T03:30:00+02:00", "2026-03-29T03:45:00+02:00", "",
		},
		"wall times that clocks show twice": {
			`{"start":{"dateTime":"2026-10-25T02:30:00","timeZone":"Europe/Zurich"},"end":{"dateTime":"2026-10-25T03:00:00","timeZone":"Europe/Zurich"}}`,
			"2026-10-25T02:30:00+02:00", "2026-10-25T03:00:00+01:00", "",
		},
		"fractions are cut": {
			`{"start":{"dateTime":"2026-03-06T19:00:00.999+01:00"},"end":{"dateTime":"2026-03-06T20:00:00.5+01:00"}}`,
			"2026-03-06T19:00:00+01:00", "2026-03-06T20:00:00+01:00", "",
		},
		"all day": {`{"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`, "2026-03-06", "2026-03-07", ""},
		"wall time without a zone": {
			`{"start":{"dateTime":"2026-03-06T19:00:00"},"end":{"dateTime":"2026-03-06T20:00:00"}}`, "", "", "required",
		},
		"an unknown zone": {
			`{"start":{"dateTime":"2026-03-06T19:00:00","timeZone":"Mars/Base"},"end":{"dateTime":"2026-03-06T20:00:00Z"}}`, "", "",
			"invalid",
		},
		"no end": {`{"start":{"date":"2026-03-06"}}`, "", "", "required"},
		"date and dateTime at once": {
			`{"start":{"date":"2026-03-06","dateTime":"2026-03-06T19:00:00Z"},"end":{"date":"2026-03-07"}}`, "", "", "invalid",
		},
		"a date and an instant": {`{"start":{"date":"2026-03-06"},"end":{"dateTime":"2026-03-06T19:00:00Z"}}`, "", "", "invalid"},
		"the end before the start": {
			`{"start":{"dateTime":"2026-03-06T19:00:00Z"},"end":{"dateTime":"2026-03-06T18:00:00Z"}}`, "", "", "timeRangeEmpty",
		},
		"a day that is none": {`{"start":{"date":"2026-02-30"},"end":{"date":"2026-03-07"}}`, "", "", "invalid"},
		"rubbish":            {`{"start":{"dateTime":"soon"},"end":{"dateTime":"later"}}`, "", "", "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			status, _, text := w.curl("gm", "POST", "/calendar/v3/calendars/primary/events", tc.body)
			if tc.reason != "" {
				if status != 400 || !strings.Contains(text, `"reason":"`+tc.reason+`"`) {
					t.Errorf("got %d %s, want %s", status, text, tc.reason)
				}
				return
			}
			if status != 200 || !strings.Contains(text, `"`+tc.start+`"`) || !strings.Contains(text, `"`+tc.end+`"`) {
				t.Errorf("got %d %s, want %s to %s", status, text, tc.start, tc.end)
			}
		})
	}
}

func TestTimes_RequestedZone_IsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.insert("gm", timed("", 6))
	got := must(w.as("gm").Events.Get("primary", e.Id).TimeZone("Asia/Tokyo").Do())(t)
	if got.Start.DateTime != "2026-03-07T03:00:00+09:00" {
		t.Errorf("get: %s", got.Start.DateTime)
	}
	page := must(w.as("gm").Events.List("primary").TimeZone("Asia/Tokyo").Do())(t)
	if page.TimeZone != "Asia/Tokyo" || page.Items[0].Start.DateTime != got.Start.DateTime {
		t.Errorf("list: %s, %s", page.TimeZone, page.Items[0].Start.DateTime)
	}
}

func TestPatch_Fields_AreMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("", 6)
	e.Description, e.Location = "old", "attic"
	e.ExtendedProperties = &calendar.EventExtendedProperties{
		Private: map[string]string{"a": "1", "b": "2"}, Shared: map[string]string{"c": "3"},
	}
	e.Recurrence = []string{"RRULE:FREQ=WEEKLY"}
	e.Start.TimeZone, e.End.TimeZone = "Europe/Zurich", "Europe/Zurich"
	e = w.insert("gm", e)

	patch := &calendar.Event{
		Start:              &calendar.EventDateTime{DateTime: "2026-03-08T10:00:00"},
		End:                &calendar.EventDateTime{DateTime: "2026-03-08T12:00:00Z"},
		ExtendedProperties: &calendar.EventExtendedProperties{Private: map[string]string{"b": "changed"}},
		NullFields:         []string{"Description", "Recurrence"},
	}
	w.advance(1500 * time.Millisecond)
	got := must(w.as("gm").Events.Patch("primary", e.Id, patch).Do())(t)
	if got.Start.DateTime != "2026-03-08T10:00:00+01:00" || got.End.DateTime != "2026-03-08T13:00:00+01:00" {
		t.Errorf("start %+v, end %+v: wall time is read in the zone the event had", got.Start, got.End)
	}
	if got.Description != "" || got.Recurrence != nil || got.Location != "attic" || got.Summary != e.Summary {
		t.Errorf("description %q, recurrence %v, location %q", got.Description, got.Recurrence, got.Location)
	}
	p := got.ExtendedProperties
	if p.Private["a"] != "1" || p.Private["b"] != "changed" || p.Shared["c"] != "3" {
		t.Errorf("properties %+v", p)
	}
	if got.Sequence != 1 || got.Etag == e.Etag || got.Updated != "2026-03-01T12:00:01.500Z" || got.Created != e.Created {
		t.Errorf("sequence %d, etag %s, created %s, updated %s", got.Sequence, got.Etag, got.Created, got.Updated)
	}
	got = must(w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Summary: "New title"}).Do())(t)
	if got.Sequence != 1 || got.Start.DateTime != "2026-03-08T10:00:00+01:00" {
		t.Errorf("a new title: sequence %d, start %s", got.Sequence, got.Start.DateTime)
	}
}

func TestPatch_TimedToAllDayAndBack_NullsTheOtherField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.insert("gm", timed("", 6))
	path := "/calendar/v3/calendars/primary/events/" + e.Id
	if status, _, text := w.curl("gm", "PATCH", path, `{"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`); status != 400 {
		t.Errorf("without nulls: %d %s", status, text)
	}
	status, _, text := w.curl("gm", "PATCH", path,
		`{"start":{"date":"2026-03-06","dateTime":null,"timeZone":null},"end":{"date":"2026-03-07","dateTime":null}}`)
	if status != 200 || !strings.Contains(text, `"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}`) {
		t.Errorf("to all day: %d %s", status, text)
	}
	status, _, text = w.curl("gm", "PATCH", path,
		`{"start":{"date":null,"dateTime":"2026-03-06T19:00:00+01:00"},"end":{"date":null,"dateTime":"2026-03-06T20:00:00+01:00"}}`)
	if status != 200 || !strings.Contains(text, `"start":{"dateTime":"2026-03-06T19:00:00+01:00","timeZone":"Europe/Zurich"}`) {
		t.Errorf("and back: %d %s", status, text)
	}
}

func TestUpdate_WritableFields_AreReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("", 6)
	e.Description = "old"
	e = w.insert("gm", e)
	got := must(w.as("gm").Events.Update("primary", e.Id, timed("", 7)).Do())(t)
	if got.Description != "" || got.Start.DateTime != "2026-03-07T19:00:00+01:00" || got.Id != e.Id ||
		got.ICalUID != e.ICalUID || got.Sequence != 1 {
		t.Errorf("got %+v", got)
	}
	_, err := w.as("gm").Events.Update("primary", e.Id, &calendar.Event{Summary: "no times"}).Do()
	wantError(t, err, 400, "required")
	stale := timed("", 8)
	stale.ForceSendFields = []string{"Sequence"}
	_, err = w.as("gm").Events.Update("primary", e.Id, stale).Do()
	wantError(t, err, 400, "invalid")
}

func TestIfMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.insert("gm", timed("", 6))
	now := must(w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Summary: "newer"}).Do())(t)

	patch := w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Summary: "lost"})
	patch.Header().Set("If-Match", e.Etag)
	_, err := patch.Do()
	wantError(t, err, 412, "conditionNotMet")
	update := w.as("gm").Events.Update("primary", e.Id, timed("", 7))
	update.Header().Set("If-Match", e.Etag)
	_, err = update.Do()
	wantError(t, err, 412, "conditionNotMet")
	del := w.as("gm").Events.Delete("primary", e.Id)
	del.Header().Set("If-Match", e.Etag)
	wantError(t, del.Do(), 412, "conditionNotMet")

	patch = w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Summary: "won"})
	patch.Header().Set("If-Match", now.Etag)
	if got := must(patch.Do())(t); got.Summary != "won" {
		t.Errorf("summary %q", got.Summary)
	}
}

func TestDelete_Event_LeavesATombstoneWithOnlyItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.insert("gm", timed("qs0abc", 6))
	if err := w.as("gm").Events.Delete("primary", e.Id).SendUpdates("all").Do(); err != nil {
		t.Fatal(err)
	}
	status, _, text := w.curl("gm", "GET", "/calendar/v3/calendars/primary/events/qs0abc?fields=id,status,start,updated", "")
	if status != 200 || text != `{"id":"qs0abc","status":"cancelled"}` {
		t.Errorf("get: %d %s", status, text)
	}
	wantError(t, w.as("gm").Events.Delete("primary", e.Id).Do(), 410, "deleted")
	_, err := w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Summary: "back"}).Do()
	wantError(t, err, 403, "forbidden")
	_, err = w.as("gm").Events.Update("primary", e.Id, timed("", 7)).Do()
	wantError(t, err, 403, "forbidden")
	wantError(t, w.as("gm").Events.Delete("primary", "never0there").Do(), 404, "notFound")
}

func TestPatch_StatusCancelled_IsADeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.insert("gm", timed("", 6))
	got := must(w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Status: "cancelled"}).Do())(t)
	if got.Status != "cancelled" || got.Start != nil {
		t.Errorf("got %+v", got)
	}
	wantError(t, w.as("gm").Events.Delete("primary", e.Id).Do(), 410, "deleted")
}

func TestWrites_BadRequests_ChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.insert("gm", timed("", 6))
	const events = "/calendar/v3/calendars/primary/events"
	for name, tc := range map[string]struct {
		key, method, path, body string
		status                  int
		reason                  string
	}{
		"no token":                  {"", "GET", events, "", 401, "required"},
		"rubbish as a body":         {"gm", "POST", events, "rubbish", 400, "parseError"},
		"null as a body":            {"gm", "POST", events, "null", 400, "parseError"},
		"no body":                   {"gm", "POST", events, "", 400, "required"},
		"a body above the limit":    {"gm", "POST", events, `{"summary":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "uploadTooLarge"},
		"a field of the wrong type": {"gm", "PATCH", events + "/" + e.Id, `{"summary":7}`, 400, "invalid"},
		"an unknown status":         {"gm", "PATCH", events + "/" + e.Id, `{"status":"maybe"}`, 400, "invalid"},
		"another event type":        {"gm", "PATCH", events + "/" + e.Id, `{"eventType":"focusTime"}`, 400, "invalid"},
		"an event type of Google's own": {
			"gm", "POST", events, `{"eventType":"fromGmail","start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`, 400,
			"invalid",
		},
		"an attendee without an e-mail": {"gm", "PATCH", events + "/" + e.Id, `{"attendees":[{"displayName":"x"}]}`, 400, "required"},
		"an attendee who is no address": {"gm", "PATCH", events + "/" + e.Id, `{"attendees":[{"email":"x"}]}`, 400, "invalid"},
		"a response that is none": {
			"gm", "PATCH", events + "/" + e.Id, `{"attendees":[{"email":"a@b","responseStatus":"yes"}]}`, 400, "invalid",
		},
		"sendUpdates that is none":     {"gm", "PATCH", events + "/" + e.Id + "?sendUpdates=some", `{}`, 400, "invalidParameter"},
		"a calendar that is not there": {"gm", "GET", "/calendar/v3/calendars/nobody%40example.test/events", "", 404, "notFound"},
		"someone else's calendar":      {"ana", "GET", "/calendar/v3/calendars/gm%40example.test/events", "", 404, "notFound"},
		"an event that is not there":   {"gm", "GET", events + "/never0there", "", 404, "notFound"},
		"a method that is not there":   {"gm", "POST", events + "/quickAdd", "", 404, "notFound"},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, text := w.curl(tc.key, tc.method, tc.path, tc.body)
			if status != tc.status || !strings.Contains(text, `"reason":"`+tc.reason+`"`) ||
				!strings.HasPrefix(header.Get("Content-Type"), "application/json") {
				t.Errorf("got %d %s, want %d %s", status, text, tc.status, tc.reason)
			}
		})
	}
	if got := must(w.as("gm").Events.Get("primary", e.Id).Do())(t); got.Etag != e.Etag {
		t.Error("the event has changed")
	}
	if items, _ := w.list("gm", nil); len(items) != 1 {
		t.Errorf("%d events, want the one", len(items))
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	const team = "team@group.calendar.test"
	if err := w.sim.AddCalendar(google.Calendar{ID: team, Summary: "Team", Owner: "gm"}); err != nil {
		t.Fatal(err)
	}
	if err := w.sim.Share(team, "ana", google.Reader); err != nil {
		t.Fatal(err)
	}
	e := must(w.as("gm").Events.Insert(team, timed("", 6)).Do())(t)
	if e.Organizer.Email != team || !e.Organizer.Self || e.Creator.Email != "gm@example.test" {
		t.Errorf("organizer %+v, creator %+v", e.Organizer, e.Creator)
	}
	page := must(w.as("ana").Events.List(team).Do())(t)
	if page.AccessRole != "reader" || len(page.Items) != 1 {
		t.Errorf("reader: role %q, %d events", page.AccessRole, len(page.Items))
	}
	wantError(t, w.as("ana").Events.Delete(team, e.Id).Do(), 403, "requiredAccessLevel")

	_, err := w.as("ana").Events.List(team).SyncToken(page.NextSyncToken).Do()
	if err != nil {
		t.Errorf("the token of before: %v", err)
	}
	if err := w.sim.Share(team, "ana", google.Writer); err != nil {
		t.Fatal(err)
	}
	_, err = w.as("ana").Events.List(team).SyncToken(page.NextSyncToken).Do()
	wantError(t, err, 410, "fullSyncRequired")
	if err := w.as("ana").Events.Delete(team, e.Id).Do(); err != nil {
		t.Errorf("writer: %v", err)
	}

	list := must(w.as("ana").CalendarList.List().Do())(t)
	if len(list.Items) != 2 || !list.Items[0].Primary || list.Items[0].Id != "ana@example.test" || list.Items[1].AccessRole != "writer" {
		t.Errorf("calendars %+v", list.Items)
	}
	list = must(w.as("ana").CalendarList.List().MinAccessRole("owner").Do())(t)
	if len(list.Items) != 1 {
		t.Errorf("%d calendars owned", len(list.Items))
	}
	first := must(w.as("ana").CalendarList.List().MaxResults(1).Do())(t)
	second := must(w.as("ana").CalendarList.List().MaxResults(1).PageToken(first.NextPageToken).Do())(t)
	if len(second.Items) != 1 || second.Items[0].Id != team || second.NextPageToken != "" {
		t.Errorf("second page %+v", second)
	}
	entry := must(w.as("ana").CalendarList.Get("primary").Do())(t)
	if entry.Id != "ana@example.test" || entry.TimeZone != "America/New_York" {
		t.Errorf("primary %+v", entry)
	}
	if err := w.sim.Share(team, "ana", google.NoAccess); err != nil {
		t.Fatal(err)
	}
	_, err = w.as("ana").Events.Get(team, e.Id).Do()
	wantError(t, err, http.StatusNotFound, "notFound")
}

func TestAddGmailEvent_Added_IsInTheDelta(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	_, token := w.list("gm", nil)
	id := must(w.sim.AddGmailEvent("gm@example.test", "Flight", epoch, epoch.Add(time.Hour)))(t)
	items, _ := w.since("gm", token)
	if len(items) != 1 || items[0].Id != id || items[0].EventType != "fromGmail" || !items[0].Locked || items[0].Start == nil {
		t.Errorf("delta %+v", items)
	}
	if _, err := w.sim.AddGmailEvent("nobody@example.test", "x", epoch, epoch); err == nil {
		t.Error("an event in no calendar")
	}
}
