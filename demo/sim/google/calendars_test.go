package google_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

func entryOf(t *testing.T, w *world, key, id string) *calendar.CalendarListEntry {
	t.Helper()
	for _, entry := range must(w.as(key).CalendarList.List().Do())(t).Items {
		if entry.Id == id {
			return entry
		}
	}
	return nil
}

func TestCalendars_InsertedOne_IsListedUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.grants["gm"] = must(w.sim.NewGrant("gm", google.ScopeCalendar))(t)
	made := must(w.as("gm").Calendars.Insert(&calendar.Calendar{Summary: "Busy", Description: "mark", TimeZone: "Asia/Kathmandu"}).Do())(t)
	entry := entryOf(t, w, "gm", made.Id)
	if entry == nil || entry.Summary != "Busy" || entry.Description != "mark" || entry.TimeZone != "Asia/Kathmandu" ||
		entry.AccessRole != "owner" {
		t.Fatalf("listed as %+v", entry)
	}
	if entryOf(t, w, "ana", made.Id) != nil {
		t.Error("ana sees it")
	}
	must(w.as("gm").Events.Insert(made.Id, timed("qs0event", 6)).Do())(t)
	if err := w.as("gm").Calendars.Delete(made.Id).Do(); err != nil {
		t.Fatal(err)
	}
	if entry := entryOf(t, w, "gm", made.Id); entry != nil {
		t.Errorf("still listed: %+v", entry)
	}
	_, err := w.as("gm").Events.List(made.Id).Do()
	wantError(t, err, 404, "notFound")
	again := must(w.as("gm").Calendars.Insert(&calendar.Calendar{Summary: "Busy", Description: "mark"}).Do())(t)
	if again.Id == made.Id || again.TimeZone != "UTC" {
		t.Errorf("made again as %+v", again)
	}
}

// calendar.app.created reaches what the same client made, and nothing else.
func TestAppCreated_ReachesOwnCalendarsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	if err := w.sim.AddCalendar(google.Calendar{ID: "hers@group.calendar.test", Summary: "Hers", Owner: "gm"}); err != nil {
		t.Fatal(err)
	}
	w.grants["gm"] = must(w.sim.NewGrant("gm", google.ScopeAppCreated))(t)
	made := must(w.as("gm").Calendars.Insert(&calendar.Calendar{Summary: "Busy"}).Do())(t)
	event := must(w.as("gm").Events.Insert(made.Id, timed("qs0event", 6)).Do())(t)
	must(w.as("gm").Events.Patch(made.Id, event.Id, &calendar.Event{Summary: "changed"}).Do())(t)
	must(w.as("gm").Events.List(made.Id).Do())(t)
	must(w.as("gm").CalendarList.Get(made.Id).Do())(t)
	for _, id := range []string{"primary", "hers@group.calendar.test"} {
		_, listed := w.as("gm").Events.List(id).Do()
		_, inserted := w.as("gm").Events.Insert(id, timed("qs0event", 6)).Do()
		wantError(t, listed, 404, "notFound")
		wantError(t, inserted, 404, "notFound")
		wantError(t, w.as("gm").Calendars.Delete(id).Do(), 404, "notFound")
	}
	_, err := w.as("gm").CalendarList.List().Do()
	wantError(t, err, 403, "insufficientPermissions")
	w.grants["gm"] = must(w.sim.NewGrant("gm", google.ScopeEvents))(t)
	must(w.as("gm").Events.List(made.Id).Do())(t)
	_, err = w.as("gm").Calendars.Insert(&calendar.Calendar{Summary: "Busy"}).Do()
	wantError(t, err, 403, "insufficientPermissions")
}

// sameTime compares instants, whatever the zone of the calendar that shows them.
func sameTime(t *testing.T, a, b *calendar.EventDateTime) bool {
	t.Helper()
	return must(time.Parse(time.RFC3339, a.DateTime))(t).Equal(must(time.Parse(time.RFC3339, b.DateTime))(t))
}

func TestDuplicate_CopiesPropertiesUnderAnotherID(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	event := timed("qs0event", 6)
	event.ExtendedProperties = &calendar.EventExtendedProperties{Private: map[string]string{"mark": "m"}}
	event.Attendees = []*calendar.EventAttendee{{Email: "ana@example.test"}}
	original := w.insert("gm", event)
	for _, to := range []string{"", "club@group.calendar.test"} {
		_, _, text := w.curl("", "POST", "/_sim/calendars/gm@example.test/duplicate", `{"event":"qs0event","to":"`+to+`"}`)
		id, _, _ := strings.Cut(strings.SplitAfter(text, `"event":"`)[1], `"`)
		calendarID := "gm@example.test"
		if to != "" {
			calendarID = to
		}
		copied := must(w.as("gm").Events.Get(calendarID, id).Do())(t)
		if copied.Id == original.Id || copied.ICalUID == original.ICalUID || copied.Summary != original.Summary || len(copied.Attendees) > 0 ||
			!sameTime(t, copied.Start, original.Start) || copied.ExtendedProperties.Private["mark"] != "m" {
			t.Errorf("to %q: %+v", to, copied)
		}
	}
	if status, _, _ := w.curl("", "POST", "/_sim/calendars/gm@example.test/duplicate", `{"event":"never0there"}`); status != 404 {
		t.Errorf("one that there is not: %d", status)
	}
}

func TestSeries_WithAnotherEnd_KeepsExceptionsThatStillTakePlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.weekly("qs0series")
	const kept, gone = "qs0series_20260320T180000Z", "qs0series_20260327T180000Z"
	for _, id := range []string{kept, gone} {
		must(w.as("gm").Events.Patch("primary", id, &calendar.Event{Summary: "own"}).Do())(t)
	}
	shorter := &calendar.Event{Recurrence: []string{"RRULE:FREQ=WEEKLY;UNTIL=20260322T000000Z"}}
	must(w.as("gm").Events.Patch("primary", "qs0series", shorter).Do())(t)
	if got := w.get("gm", kept); got.Status != "confirmed" || got.Summary != "own" {
		t.Errorf("the one within: %+v", got)
	}
	if got := w.get("gm", gone); got.Status != "cancelled" {
		t.Errorf("the one beyond: %+v", got)
	}
}

// All copies of a meeting, and of its exceptions, have one iCalUID.
func TestICalUID_IsTheSameInEveryCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	series := w.weekly("qs0series")
	must(w.as("gm").Events.Patch("primary", series.Id,
		&calendar.Event{Attendees: []*calendar.EventAttendee{{Email: "ana@example.test"}}}).Do())(t)
	const one = "qs0series_20260320T180000Z"
	must(w.as("gm").Events.Patch("primary", one, &calendar.Event{Summary: "own"}).Do())(t)
	for _, key := range []string{"gm", "ana"} {
		for _, id := range []string{"qs0series", one, "qs0series_20260403T170000Z"} {
			if got := w.get(key, id); got.ICalUID != series.ICalUID {
				t.Errorf("%s's %s has %s, want %s", key, id, got.ICalUID, series.ICalUID)
			}
		}
	}
}
