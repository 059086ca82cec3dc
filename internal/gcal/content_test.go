package gcal_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// evening is the content of an event of two hours.
func evening() gcal.Content {
	return gcal.Content{
		Summary: "Busy", Description: "From elsewhere", Location: "Here", Transparency: "opaque", Visibility: "private",
		Start: recurrence.Moment{Time: noon, Zone: "Europe/Zurich"}, End: recurrence.Moment{Time: noon.Add(2 * time.Hour), Zone: "Europe/Zurich"},
	}
}

// days is the content of an event of two days without words.
func days() gcal.Content {
	return gcal.Content{
		Summary: "Away", Start: recurrence.Moment{Date: "2026-03-07"}, End: recurrence.Moment{Date: "2026-03-09"},
		Transparency: "transparent", Visibility: "default",
	}
}

// shown is the content of an event as Google shows it.
func shown(event gcal.Event) gcal.Content {
	d := event.Details
	return gcal.Content{
		Summary: d.Summary, Description: d.Description, Location: d.Location, Start: d.Start, End: d.End, Recurrence: d.Recurrence,
		Transparency: d.Transparency, Visibility: d.Visibility,
	}
}

func sameContent(a, b gcal.Content) bool {
	lines := slices.Equal(a.Recurrence, b.Recurrence)
	a.Recurrence, b.Recurrence = nil, nil
	return lines && a.Summary == b.Summary && a.Description == b.Description && a.Location == b.Location &&
		a.Start == b.Start && a.End == b.End && a.Transparency == b.Transparency && a.Visibility == b.Visibility
}

func (w *world) insertContent(t *testing.T, id string, content gcal.Content) gcal.Event {
	t.Helper()
	event, err := w.client.InsertContent(t.Context(), mine, id, content, map[string]string{"mark": "m"})
	if err != nil {
		t.Fatalf("insert: %v", err)
	}
	return event
}

func TestContent_IsShownAsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	series := evening()
	series.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=5", "EXDATE;TZID=Europe/Zurich:20260308T130000"}
	for name, content := range map[string]gcal.Content{"timed1": evening(), "entire": days(), "series": series} {
		answer := w.insertContent(t, name, content)
		got := w.get(t, name)
		if !sameContent(shown(answer), content) || !sameContent(shown(got), content) {
			t.Errorf("%s: inserted %+v, answered %+v, shown %+v", name, content, answer.Details, got.Details)
		}
		if got.Private["mark"] != "m" || got.Details.ICalUID == "" || !got.Details.Organized || got.Details.Kind != "default" ||
			got.Details.Status != "confirmed" || got.Details.Response != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	page, err := w.client.List(t.Context(), mine, gcal.WithDetails, "", "")
	if err != nil || len(page.Events) != 3 {
		t.Fatalf("got %+v, %v", page, err)
	}
	for _, event := range page.Events {
		if alone := w.get(t, event.ID); !sameContent(shown(alone), shown(event)) || alone.ETag != event.ETag {
			t.Errorf("listed %+v, got %+v", event.Details, alone.Details)
		}
	}
}

// Between each two sorts of event, every field is replaced, an empty one removed.
func TestPatchContent_ReplacesEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	series := evening()
	series.Recurrence = []string{"RRULE:FREQ=DAILY;COUNT=3"}
	allDaySeries := days()
	allDaySeries.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=3"}
	event := w.insertContent(t, "abcde1", evening())
	for i, content := range []gcal.Content{
		days(), evening(), series, days(), allDaySeries, series, evening(), allDaySeries, evening(),
	} {
		var err error
		event, err = w.client.PatchContent(t.Context(), mine, "abcde1", event.ETag, content)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if got := w.get(t, "abcde1"); !sameContent(shown(event), content) || !sameContent(shown(got), content) || got.Private["mark"] != "m" {
			t.Errorf("%d: wrote %+v, answered %+v, shown %+v", i, content, event.Details, got.Details)
		}
	}
}

func TestContent_WithoutTimesOfOneSort_IsInvalid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	for name, content := range map[string]gcal.Content{
		"none": {}, "no end": {Start: evening().Start}, "a day and a time": {Start: days().Start, End: evening().End},
	} {
		_, inserted := w.client.InsertContent(t.Context(), mine, "abcde1", content, nil)
		_, patched := w.client.PatchContent(t.Context(), mine, "abcde1", "", content)
		if !fault.Is(inserted, fault.Invalid) || !fault.Is(patched, fault.Invalid) {
			t.Errorf("%s: %v, %v", name, inserted, patched)
		}
	}
}

func TestContent_OfAnEventThatChanged_IsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	stale := w.insertContent(t, "abcde1", evening()).ETag
	moved, err := w.client.PatchContent(t.Context(), mine, "abcde1", "", days())
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.client.PatchContent(t.Context(), mine, "abcde1", stale, evening())
	wantKind(t, err, fault.Conflict, gcal.CodeStale)
	deleted, err := w.client.DeleteQuietly(t.Context(), mine, "abcde1", stale)
	wantKind(t, err, fault.Conflict, gcal.CodeStale)
	if deleted {
		t.Error("a changed event was deleted")
	}
	if got := w.get(t, "abcde1"); got.ETag != moved.ETag || !sameContent(shown(got), days()) {
		t.Errorf("got %+v", got)
	}
	for _, want := range []bool{true, false} {
		if deleted, err := w.client.DeleteQuietly(t.Context(), mine, "abcde1", ""); err != nil || deleted != want {
			t.Errorf("deleted %t, %v, want %t", deleted, err, want)
		}
	}
}

func TestInsertContent_AfterALostAnswer_IsADuplicateOfOurOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	if err := w.sim.Control().Plant(control.Rule{Match: "events.insert", LostAnswer: true, Times: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.InsertContent(t.Context(), mine, "abcde1", evening(), map[string]string{"mark": "m"})
	wantKind(t, err, fault.Unavailable, "")
	_, err = w.client.InsertContent(t.Context(), mine, "abcde1", evening(), map[string]string{"mark": "m"})
	wantKind(t, err, fault.Conflict, gcal.CodeDuplicate)
	if got := w.get(t, "abcde1"); got.EventState != rules.Present || got.Private["mark"] != "m" || !sameContent(shown(got), evening()) {
		t.Errorf("got %+v", got)
	}
}

func TestPatchContent_OfADeletedEvent_BringsItBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insertContent(t, "abcde1", evening())
	if _, err := w.client.DeleteQuietly(t.Context(), mine, "abcde1", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.PatchContent(t.Context(), mine, "abcde1", "", days()); err != nil {
		t.Fatal(err)
	}
	if got := w.get(t, "abcde1"); got.EventState != rules.Present || !sameContent(shown(got), days()) {
		t.Errorf("got %+v", got)
	}
}

// A mirror never has reminders; a person's own event has those of its calendar, or keeps
// what the person set.
func TestContent_ThatKeepsReminders_LeavesThem(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 4)
	client := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- string(body)
		fmt.Fprint(w, `{"id":"abcde1","start":{"date":"2026-03-05"},"end":{"date":"2026-03-06"}}`)
	})
	for _, keeps := range []bool{false, true} {
		content := days()
		content.KeepsReminders = keeps
		_, inserted := client.InsertContent(t.Context(), mine, "abcde1", content, nil)
		_, patched := client.PatchContent(t.Context(), mine, "abcde1", "", content)
		if inserted != nil || patched != nil {
			t.Fatalf("got %v, %v", inserted, patched)
		}
		for range 2 {
			if body := <-bodies; strings.Contains(body, `"reminders"`) == keeps {
				t.Errorf("keeping reminders is %t, sent is %s", keeps, body)
			}
		}
	}
}
