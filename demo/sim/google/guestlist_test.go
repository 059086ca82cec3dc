package google_test

import (
	"encoding/json"
	"testing"

	"google.golang.org/api/calendar/v3"
)

// guests are attendees by name and response; without one they have not answered.
func guests(responses ...[2]string) (list []*calendar.EventAttendee) {
	for _, one := range responses {
		list = append(list, &calendar.EventAttendee{Email: one[0] + "@example.test", ResponseStatus: one[1]})
	}
	return list
}

func (w *world) patchAttendees(key, id string, list []*calendar.EventAttendee) error {
	_, err := w.as(key).Events.Patch("primary", id, &calendar.Event{Attendees: list}).Do()
	return err
}

func (w *world) wantResponses(id string, want map[string]string) {
	w.t.Helper()
	for key, text := range want {
		if got := responses(w.get(key, id)); got != text {
			w.t.Errorf("%s sees %s, want %s", key, got, text)
		}
	}
}

func TestGuests_WrittenWithoutResponses_HaveNotAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("qs0feast", 6)
	e.Attendees = guests([2]string{"gm", "accepted"}, [2]string{"ana"}, [2]string{"ben", "tentative"})
	w.insert("gm", e)
	e.Attendees[1].ResponseStatus = "declined"
	if err := w.patchAttendees("ana", "qs0feast", e.Attendees); err != nil {
		t.Fatal(err)
	}
	const answered = "gm accepted, ana declined, ben tentative"
	w.wantResponses("qs0feast", map[string]string{"gm": answered, "ana": answered, "ben": answered})
	if err := w.patchAttendees("gm", "qs0feast",
		guests([2]string{"gm", "accepted"}, [2]string{"ANA"}, [2]string{"ben", "tentative"})); err != nil {
		t.Fatal(err)
	}
	const lost = "gm accepted, ana needsAction, ben tentative"
	w.wantResponses("qs0feast", map[string]string{"gm": lost, "ana": lost, "ben": lost})
}

func TestGuests_AnswerForAnother_IsForbidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("qs0feast", 6)
	e.Attendees = guests([2]string{"gm", "accepted"}, [2]string{"ana"}, [2]string{"ben"})
	w.insert("gm", e)
	wantError(t,
		w.patchAttendees("ana", "qs0feast", guests([2]string{"gm", "accepted"}, [2]string{"ana"}, [2]string{"ben", "declined"})),
		403, "forbiddenForNonOrganizer")
	w.wantResponses("qs0feast", map[string]string{"gm": "gm accepted, ana needsAction, ben needsAction"})
}

func TestGuests_AddAndRemoveOthers_AsTheEventAllows(t *testing.T) {
	t.Parallel()
	no := false
	for name, tc := range map[string]struct {
		event         calendar.Event
		adds, removes bool
	}{
		"unless it says otherwise": {calendar.Event{}, true, false},
		"no invitations":           {calendar.Event{GuestsCanInviteOthers: &no}, false, false},
		"may modify":               {calendar.Event{GuestsCanModify: true, GuestsCanInviteOthers: &no}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			e := timed("qs0feast", 6)
			e.Attendees = guests([2]string{"gm"}, [2]string{"ana"})
			e.GuestsCanModify, e.GuestsCanInviteOthers = tc.event.GuestsCanModify, tc.event.GuestsCanInviteOthers
			w.insert("gm", e)
			check := func(err error, allowed bool) {
				t.Helper()
				if !allowed {
					wantError(t, err, 403, "forbiddenForNonOrganizer")
				} else if err != nil {
					t.Error(err)
				}
			}
			check(w.patchAttendees("ana", "qs0feast", guests([2]string{"gm"}, [2]string{"ana"}, [2]string{"ben"})), tc.adds)
			if tc.adds {
				const all = "gm needsAction, ana needsAction, ben needsAction"
				w.wantResponses("qs0feast", map[string]string{"gm": all, "ana": all, "ben": all})
			}
			check(w.patchAttendees("ana", "qs0feast", guests([2]string{"ana"})), tc.removes)
			want := "gm needsAction, ana needsAction"
			switch {
			case tc.removes:
				want = "ana needsAction"
			case tc.adds:
				want += ", ben needsAction"
			}
			w.wantResponses("qs0feast", map[string]string{"gm": want, "ana": want})
		})
	}
}

func TestGuests_WhoSeeNoOther_AnswerAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	no := false
	e := timed("qs0feast", 6)
	e.Attendees, e.GuestsCanSeeOtherGuests = guests([2]string{"gm"}, [2]string{"ana"}, [2]string{"ben"}), &no
	w.insert("gm", e)
	const own = "ana needsAction"
	w.wantResponses("qs0feast", map[string]string{"ana": own, "gm": "gm needsAction, ana needsAction, ben needsAction"})
	items, _ := w.list("ana", nil)
	if shown := w.get("ana", "qs0feast"); !shown.AttendeesOmitted || !items[0].AttendeesOmitted || responses(items[0]) != own {
		t.Errorf("omitted: %t, and in the listing %t with %s", shown.AttendeesOmitted, items[0].AttendeesOmitted, responses(items[0]))
	}
	if w.get("gm", "qs0feast").AttendeesOmitted {
		t.Error("the organizer sees a cut list")
	}
	if err := w.patchAttendees("ana", "qs0feast", guests([2]string{"ana", "accepted"})); err != nil {
		t.Fatal(err)
	}
	w.wantResponses("qs0feast", map[string]string{"gm": "gm needsAction, ana accepted, ben needsAction", "ben": "ben needsAction"})
	if _, err := w.as("gm").Events.Patch("primary", "qs0feast", &calendar.Event{GuestsCanModify: true}).Do(); err != nil {
		t.Fatal(err)
	}
	w.wantResponses("qs0feast", map[string]string{"ben": "gm needsAction, ana accepted, ben needsAction"})
}

// A list that was read with maxAttendees and is written back removes everybody else.
func TestGuests_CutListWrittenBack_RemovesTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("qs0feast", 6)
	e.Attendees = guests([2]string{"gm"}, [2]string{"ana"}, [2]string{"ben"})
	w.insert("gm", e)
	cut := must(w.as("gm").Events.Get("primary", "qs0feast").MaxAttendees(1).Do())(t)
	if !cut.AttendeesOmitted || responses(cut) != "gm needsAction" {
		t.Fatalf("cut: %t, %s", cut.AttendeesOmitted, responses(cut))
	}
	if err := w.patchAttendees("gm", "qs0feast", cut.Attendees); err != nil {
		t.Fatal(err)
	}
	w.wantResponses("qs0feast", map[string]string{"gm": "gm needsAction"})
	if got := w.get("ana", "qs0feast").Status; got != "cancelled" {
		t.Errorf("ana's copy is %s", got)
	}
}

// Every copy has an etag of its own, which each change of the guests changes.
func TestGuests_StaleETag_Is412InEveryCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("qs0feast", 6)
	e.Attendees, e.GuestsCanModify = guests([2]string{"gm"}, [2]string{"ana"}, [2]string{"ben"}), true
	w.insert("gm", e)
	before := map[string]string{}
	for _, key := range []string{"gm", "ana"} {
		before[key] = w.get(key, "qs0feast").Etag
	}
	answered := guests([2]string{"gm"}, [2]string{"ana"}, [2]string{"ben", "declined"})
	if err := w.patchAttendees("ben", "qs0feast", answered); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(calendar.Event{Attendees: guests([2]string{"gm"}, [2]string{"ana"}, [2]string{"ben"})})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/calendar/v3/calendars/primary/events/qs0feast"
	for key, etag := range before {
		if status, _, text := w.curl(key, "PATCH", path, string(list), "If-Match", etag); status != 412 {
			t.Errorf("%s with the etag of before: %d %s", key, status, text)
		}
	}
	w.wantResponses("qs0feast", map[string]string{"gm": "gm needsAction, ana needsAction, ben declined"})
	if status, _, text := w.curl("ana", "PATCH", path, string(list), "If-Match", w.get("ana", "qs0feast").Etag); status != 200 {
		t.Errorf("ana with the etag of now: %d %s", status, text)
	}
}

// An exception has guests of its own, and each guest a copy of it under the same id.
func TestGuests_OfAnException_AreItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("qs0feast", 6)
	e.Recurrence, e.Attendees = []string{"RRULE:FREQ=DAILY;COUNT=3"}, guests([2]string{"gm"}, [2]string{"ana"})
	e.Start.TimeZone, e.End.TimeZone = "Europe/Zurich", "Europe/Zurich"
	w.insert("gm", e)
	second := must(w.as("gm").Events.Instances("primary", "qs0feast").Do())(t).Items[1]
	if responses(second) != "gm needsAction, ana needsAction" {
		t.Fatalf("an instance begins with %s", responses(second))
	}
	if err := w.patchAttendees("gm", second.Id, append(second.Attendees, guests([2]string{"ben"})...)); err != nil {
		t.Fatal(err)
	}
	const three = "gm needsAction, ana needsAction, ben needsAction"
	w.wantResponses(second.Id, map[string]string{"gm": three, "ana": three, "ben": three})
	for _, key := range []string{"ana", "ben"} {
		shown := w.get(key, second.Id)
		if shown.RecurringEventId != "qs0feast" || shown.OriginalStartTime.DateTime == "" || shown.ICalUID != "qs0feast@google.com" {
			t.Errorf("%s: instance of %s at %+v with iCalUID %s", key, shown.RecurringEventId, shown.OriginalStartTime, shown.ICalUID)
		}
	}
	if _, err := w.as("ben").Events.Get("primary", "qs0feast").Do(); err == nil {
		t.Error("ben, invited to one date, sees the series")
	}

	t.Log("a guest who is invited to the series later is no guest of the exception, and a guest's answer to it leaves the series alone")
	if err := w.patchAttendees("gm", "qs0feast", guests([2]string{"gm", "accepted"}, [2]string{"ana"}, [2]string{"cleo"})); err != nil {
		t.Fatal(err)
	}
	w.wantResponses(second.Id, map[string]string{"gm": three, "ben": three})
	if err := w.as("ana").Events.Delete("primary", second.Id).Do(); err != nil {
		t.Fatal(err)
	}
	w.wantResponses(second.Id, map[string]string{"gm": "gm needsAction, ana declined, ben needsAction"})
	w.wantResponses("qs0feast", map[string]string{
		"gm": "gm accepted, ana needsAction, cleo needsAction", "ana": "gm accepted, ana needsAction, cleo needsAction",
	})
}

// What is added to an attendee beside the response stays as long as it is written back.
func TestGuests_OtherFields_AreKeptWithTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("qs0feast", 6)
	e.Attendees = []*calendar.EventAttendee{
		{Email: "gm@example.test"},
		{Email: "Ana@Example.test", DisplayName: "Ana", Comment: "late", Optional: true, AdditionalGuests: 2},
		{Email: "room1@resource.test", Resource: true},
	}
	w.insert("gm", e)
	list := w.get("gm", "qs0feast").Attendees
	if !list[0].Organizer || !list[0].Self || !list[2].Resource {
		t.Errorf("organizer and self: %+v, room: %+v", list[0], list[2])
	}
	if err := w.patchAttendees("gm", "qs0feast", append(list, guests([2]string{"ben"})...)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"gm", "ana", "ben"} {
		got := w.get(key, "qs0feast").Attendees
		if ana := got[1]; len(got) != 4 || ana.Email != "Ana@Example.test" || ana.DisplayName != "Ana" || ana.Comment != "late" ||
			!ana.Optional || ana.AdditionalGuests != 2 || ana.Self != (key == "ana") || !got[2].Resource {
			t.Errorf("%s sees %+v and %+v", key, ana, got[2])
		}
	}
}
