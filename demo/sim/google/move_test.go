package google_test

import (
	"testing"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

const club = "club@group.calendar.test"

// newClub is a world in which gm has a second calendar, which ana may write and
// ben may read.
func newClub(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, testOptions())
	if err := w.sim.AddCalendar(google.Calendar{ID: club, Summary: "Club", TimeZone: "Asia/Tokyo", Owner: "gm"}); err != nil {
		t.Fatal(err)
	}
	for key, role := range map[string]google.Role{"ana": google.Writer, "ben": google.Reader} {
		if err := w.sim.Share(club, key, role); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) move(key, from, id, to string) (*calendar.Event, error) {
	w.t.Helper()
	return w.as(key).Events.Move(from, id, to).Do()
}

func TestMove_IsADeletionInTheOldCalendar_AndKeepsTheID(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	e := w.insert("gm", timed("", 6))
	_, mine := w.list("gm", nil)
	clubs := must(w.as("gm").Events.List(club).Do())(t).NextSyncToken

	moved := must(w.move("gm", "primary", e.Id, club))(t)
	if moved.Id != e.Id || moved.ICalUID != e.ICalUID || moved.Organizer.Email != club || !moved.Organizer.Self {
		t.Errorf("moved: id %s, iCalUID %s, organizer %+v", moved.Id, moved.ICalUID, moved.Organizer)
	}
	if moved.Start.DateTime != "2026-03-07T03:00:00+09:00" || moved.Created != e.Created || moved.Creator.Email != "gm@example.test" {
		t.Errorf("moved: start %s, created %s, creator %+v", moved.Start.DateTime, moved.Created, moved.Creator)
	}
	if items, _ := w.since("gm", mine); states(items) != e.Id+" cancelled" {
		t.Errorf("the old calendar's delta: %s", states(items))
	}
	if delta := must(w.as("gm").Events.List(club).SyncToken(clubs).Do())(t); states(delta.Items) != e.Id+" confirmed" {
		t.Errorf("the new calendar's delta: %s", states(delta.Items))
	}
	if left := w.get("gm", e.Id); left.Status != "cancelled" || left.Start != nil {
		t.Errorf("left behind: %+v", left)
	}

	t.Log("what was left behind is gone for good, but the event can come back")
	wantError(t, w.as("gm").Events.Delete("primary", e.Id).Do(), 410, "deleted")
	_, err := w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Status: "confirmed"}).Do()
	wantError(t, err, 403, "forbidden")
	_, err = w.as("gm").Events.Insert("primary", timed(e.Id, 7)).Do()
	wantError(t, err, 409, "duplicate")
	if back := must(w.move("gm", club, e.Id, "primary"))(t); back.Status != "confirmed" || back.Organizer.Email != "gm@example.test" {
		t.Errorf("moved back: %+v", back)
	}
}

func TestMove_Guests_FollowTheNewOrganizer(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	w.invite("qs0feast")
	must(w.move("gm", "primary", "qs0feast", club))(t)
	for _, key := range []string{"gm", "ana", "ben"} {
		if got := w.get(key, "qs0feast"); got.Status != "confirmed" || got.Organizer.Email != club || got.Organizer.Self {
			t.Errorf("%s: status %s, organizer %+v", key, got.Status, got.Organizer)
		}
	}
	patched := must(w.as("gm").Events.Patch(club, "qs0feast", &calendar.Event{Summary: "Moved"}).Do())(t)
	if len(patched.Attendees) != 4 {
		t.Errorf("attendees %s", responses(patched))
	}
	if got := w.get("ana", "qs0feast"); got.Summary != "Moved" {
		t.Errorf("ana's copy: %q", got.Summary)
	}

	t.Log("a guest who is given the event becomes its organizer")
	if err := w.sim.Share("ben@example.test", "gm", google.Writer); err != nil {
		t.Fatal(err)
	}
	if got := must(w.move("gm", club, "qs0feast", "ben@example.test"))(t); got.Organizer.Email != "ben@example.test" {
		t.Errorf("organizer %+v", got.Organizer)
	}
	if got := w.get("ben", "qs0feast"); !got.Organizer.Self || got.Summary != "Moved" {
		t.Errorf("ben's: organizer %+v, %q", got.Organizer, got.Summary)
	}
}

func TestMove_Refuses(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	e, theirs := w.insert("gm", timed("qs0mine", 6)), w.invite("qs0feast")
	shared := must(w.as("gm").Events.Insert(club, timed("qs0club", 6)).Do())(t)
	must(w.as("gm").Events.Insert(club, timed("qs0mine", 6)).Do())(t)
	focus := timed("qs0focus", 7)
	focus.EventType = "focusTime"
	w.insert("gm", focus)
	for name, tc := range map[string]struct {
		key, from, id, to string
		status            int
		reason            string
	}{
		"an id that is taken there":               {"gm", "primary", e.Id, club, 409, "duplicate"},
		"a reader of the destination":             {"ben", "primary", theirs.Id, club, 403, "requiredAccessLevel"},
		"a reader of the source":                  {"ben", club, shared.Id, "primary", 403, "requiredAccessLevel"},
		"a guest":                                 {"ana", "primary", theirs.Id, club, 403, "forbiddenForNonOrganizer"},
		"a destination that is not there":         {"gm", "primary", e.Id, "nobody@example.test", 404, "notFound"},
		"a destination the caller may not see":    {"gm", "primary", e.Id, "ana@example.test", 404, "notFound"},
		"no destination":                          {"gm", "primary", e.Id, "", 400, "required"},
		"the calendar it is in":                   {"gm", "primary", e.Id, "gm@example.test", 400, "invalid"},
		"an event of a type that cannot be moved": {"gm", "primary", "qs0focus", club, 400, "eventTypeRestriction"},
		"an event that is not there":              {"gm", "primary", "never0there", club, 404, "notFound"},
	} {
		_, err := w.move(tc.key, tc.from, tc.id, tc.to)
		t.Log(name)
		wantError(t, err, tc.status, tc.reason)
	}
	if err := w.as("gm").Events.Delete(club, shared.Id).Do(); err != nil {
		t.Fatal(err)
	}
	_, err := w.move("gm", club, shared.Id, "primary")
	wantError(t, err, 403, "forbidden")
}
