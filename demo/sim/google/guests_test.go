package google_test

import (
	"strings"
	"testing"

	"google.golang.org/api/calendar/v3"
)

// invite inserts an event of gm's with ana, ben and someone from elsewhere.
func (w *world) invite(id string) *calendar.Event {
	w.t.Helper()
	e := timed(id, 6)
	e.ExtendedProperties = &calendar.EventExtendedProperties{Private: map[string]string{"poll": "p1"}, Shared: map[string]string{"team": "t1"}}
	for _, email := range []string{"gm@example.test", "Ana@example.test", "ben@example.test", "x@elsewhere.test"} {
		e.Attendees = append(e.Attendees, &calendar.EventAttendee{Email: email})
	}
	return w.insert("gm", e)
}

func (w *world) get(key, id string) *calendar.Event {
	w.t.Helper()
	return must(w.as(key).Events.Get("primary", id).Do())(w.t)
}

// responses writes the attendees of an event as "name status", in order.
func responses(e *calendar.Event) string {
	var list []string
	for _, a := range e.Attendees {
		name, _, _ := strings.Cut(strings.ToLower(a.Email), "@")
		list = append(list, name+" "+a.ResponseStatus)
	}
	return strings.Join(list, ", ")
}

func TestGuests_Copies_HaveTheSameID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.watch("ana", "anas", "https://app.test/push")
	e := w.invite("qs0feast")
	got := w.get("ana", "qs0feast")
	if got.Start.DateTime != "2026-03-06T13:00:00-05:00" || got.ICalUID != e.ICalUID || got.Summary != e.Summary {
		t.Errorf("copy: start %s, iCalUID %s, summary %s", got.Start.DateTime, got.ICalUID, got.Summary)
	}
	if got.Organizer.Email != "gm@example.test" || got.Organizer.Self || got.Creator.Self {
		t.Errorf("organizer %+v, creator %+v", got.Organizer, got.Creator)
	}
	for _, a := range got.Attendees {
		if want := a.Email == "Ana@example.test"; a.Self != want || a.Organizer != (a.Email == "gm@example.test") {
			t.Errorf("attendee %+v", a)
		}
	}
	if p := got.ExtendedProperties; len(p.Private) != 0 || p.Shared["team"] != "t1" {
		t.Errorf("properties %+v: the private ones are the organiser's", p)
	}
	if pending := w.sim.PendingPushes(); len(pending) != 2 || pending[1].State != "exists" {
		t.Errorf("pushes to ana's channel: %+v", pending)
	}

	t.Log("what the organiser changes, everyone sees; who is no longer invited sees it cancelled")
	patch := &calendar.Event{Summary: "Moved", Attendees: []*calendar.EventAttendee{e.Attendees[0], e.Attendees[1]}}
	if _, err := w.as("gm").Events.Patch("primary", "qs0feast", patch).Do(); err != nil {
		t.Fatal(err)
	}
	if got := w.get("ana", "qs0feast"); got.Summary != "Moved" || len(got.Attendees) != 2 {
		t.Errorf("ana sees %q with %s", got.Summary, responses(got))
	}
	if got := w.get("ben", "qs0feast"); got.Status != "cancelled" {
		t.Errorf("ben's copy is %s", got.Status)
	}
	patch.Attendees = append(patch.Attendees, e.Attendees[2])
	if _, err := w.as("gm").Events.Patch("primary", "qs0feast", patch).Do(); err != nil {
		t.Fatal(err)
	}
	if got := w.get("ben", "qs0feast"); got.Status != "confirmed" || got.Summary != "Moved" {
		t.Errorf("ben, invited again, sees %q %s", got.Summary, got.Status)
	}
	if err := w.as("gm").Events.Delete("primary", "qs0feast").Do(); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"ana", "ben"} {
		if got := w.get(key, "qs0feast"); got.Status != "cancelled" {
			t.Errorf("%s's copy is %s", key, got.Status)
		}
	}
}

func TestGuests_RemoveTheirCopy_DeclineAndKeepTheEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.invite("qs0feast")
	_, token := w.list("ana", nil)
	_, own := w.list("gm", nil)
	if err := w.as("ana").Events.Delete("primary", "qs0feast").Do(); err != nil {
		t.Fatal(err)
	}
	if items, _ := w.since("ana", token); states(items) != "qs0feast cancelled" {
		t.Errorf("ana's delta: %s", states(items))
	}
	items, _ := w.since("gm", own)
	if states(items) != "qs0feast confirmed" || responses(items[0]) != "gm needsAction, ana declined, ben needsAction, x needsAction" {
		t.Errorf("gm's delta: %s, %s", states(items), responses(items[0]))
	}
	if got := responses(w.get("ben", "qs0feast")); !strings.Contains(got, "ana declined") {
		t.Errorf("ben sees %s", got)
	}
	if _, err := w.as("gm").Events.Patch("primary", "qs0feast", &calendar.Event{Summary: "Moved"}).Do(); err != nil {
		t.Fatal(err)
	}
	if got := w.get("ana", "qs0feast"); got.Status != "cancelled" {
		t.Errorf("after a change ana's copy is %s", got.Status)
	}
	wantError(t, w.as("ana").Events.Delete("primary", "qs0feast").Do(), 410, "deleted")
}

func TestGuests_Writes_ChangeTheirOwnFieldsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	before := w.invite("qs0feast")

	t.Log("an answer goes to everyone")
	answer := `{"attendeesOmitted":true,"attendees":[{"email":"ana@example.test","responseStatus":"accepted"}]}`
	if status, _, text := w.curl("ana", "PATCH", "/calendar/v3/calendars/primary/events/qs0feast", answer); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	for _, key := range []string{"gm", "ana", "ben"} {
		if got := responses(w.get(key, "qs0feast")); got != "gm needsAction, ana accepted, ben needsAction, x needsAction" {
			t.Errorf("%s sees %s", key, got)
		}
	}

	t.Log("a colour is their own")
	if _, err := w.as("ana").Events.Patch("primary", "qs0feast", &calendar.Event{ColorId: "7"}).Do(); err != nil {
		t.Fatal(err)
	}
	if got := w.get("gm", "qs0feast"); got.ColorId != "" || w.get("ana", "qs0feast").ColorId != "7" {
		t.Errorf("gm's colour is %q", got.ColorId)
	}

	t.Log("the time is not, unless guests may modify")
	move := &calendar.Event{Start: timed("", 7).Start, End: timed("", 7).End}
	_, err := w.as("ana").Events.Patch("primary", "qs0feast", move).Do()
	wantError(t, err, 403, "forbiddenForNonOrganizer")
	if got := w.get("gm", "qs0feast"); got.Start.DateTime != before.Start.DateTime {
		t.Errorf("moved to %s", got.Start.DateTime)
	}
	if _, err := w.as("gm").Events.Patch("primary", "qs0feast", &calendar.Event{GuestsCanModify: true}).Do(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as("ana").Events.Patch("primary", "qs0feast", move).Do(); err != nil {
		t.Fatal(err)
	}
	own := w.get("gm", "qs0feast")
	if own.Start.DateTime != "2026-03-07T19:00:00+01:00" || own.ExtendedProperties.Private["poll"] != "p1" {
		t.Errorf("start %s, properties %+v", own.Start.DateTime, own.ExtendedProperties)
	}
	if got := w.get("ben", "qs0feast"); got.Start.DateTime != "2026-03-07T18:00:00Z" {
		t.Errorf("ben sees %s", got.Start.DateTime)
	}
	if got := w.get("ana", "qs0feast"); got.ColorId != "7" {
		t.Errorf("ana's colour is %q", got.ColorId)
	}
}

func TestGuests_OwnEventOfThatID_IsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("ana", timed("qs0feast", 20))
	w.invite("qs0feast")
	if err := w.as("gm").Events.Delete("primary", "qs0feast").Do(); err != nil {
		t.Fatal(err)
	}
	if got := w.get("ana", "qs0feast"); got.Status != "confirmed" || got.Organizer.Email != "ana@example.test" {
		t.Errorf("ana's own event: %s of %s", got.Status, got.Organizer.Email)
	}
}
