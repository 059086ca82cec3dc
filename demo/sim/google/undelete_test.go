package google_test

import (
	"testing"

	"google.golang.org/api/calendar/v3"
)

func TestUndelete_Status_RestoresTheEventAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.invite("qs0feast")
	_, token := w.list("ana", nil)
	if err := w.as("gm").Events.Delete("primary", e.Id).Do(); err != nil {
		t.Fatal(err)
	}
	stale := w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Status: "confirmed"})
	stale.Header().Set("If-Match", e.Etag)
	_, err := stale.Do()
	wantError(t, err, 412, "conditionNotMet")

	got := must(w.as("gm").Events.Patch("primary", e.Id, &calendar.Event{Status: "confirmed"}).Do())(t)
	if got.Status != "confirmed" || got.Start.DateTime != e.Start.DateTime || got.Summary != e.Summary || got.Created != e.Created {
		t.Errorf("got %+v, want it as it was", got)
	}
	if items, _ := w.since("ana", token); states(items) != "qs0feast confirmed" {
		t.Errorf("ana's delta: %s", states(items))
	}

	t.Log("update does it too, with what it says")
	if err := w.as("gm").Events.Delete("primary", e.Id).Do(); err != nil {
		t.Fatal(err)
	}
	other := timed(e.Id, 9)
	other.Status, other.Sequence = "tentative", 4
	if got := must(w.as("gm").Events.Update("primary", e.Id, other).Do())(t); got.Status != "tentative" ||
		got.Start.DateTime != other.Start.DateTime {
		t.Errorf("got %+v", got)
	}
}

func TestUndelete_Guest_RestoresTheCopyThatTheyRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := w.invite("qs0feast")
	if err := w.as("ana").Events.Delete("primary", e.Id).Do(); err != nil {
		t.Fatal(err)
	}
	back := must(w.as("ana").Events.Patch("primary", e.Id, &calendar.Event{Status: "confirmed"}).Do())(t)
	if back.Status != "confirmed" || responses(back) != responses(w.get("gm", e.Id)) {
		t.Errorf("copy: %s %s", back.Status, responses(back))
	}
	if err := w.as("gm").Events.Delete("primary", e.Id).Do(); err != nil {
		t.Fatal(err)
	}
	_, err := w.as("ana").Events.Patch("primary", e.Id, &calendar.Event{Status: "confirmed"}).Do()
	wantError(t, err, 403, "forbidden")
}

func TestUndelete_InstanceOfDeletedSeries_IsForbidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.weekly("qs0series")
	const id = "qs0series_20260320T180000Z"
	revive := func() error {
		_, err := w.as("gm").Events.Patch("primary", id, &calendar.Event{Status: "confirmed", Summary: "Moved"}).Do()
		return err
	}
	if err := w.as("gm").Events.Delete("primary", id).Do(); err != nil {
		t.Fatal(err)
	}
	if err := revive(); err != nil {
		t.Errorf("while the series lives: %v", err)
	}
	if err := w.as("gm").Events.Delete("primary", "qs0series").Do(); err != nil {
		t.Fatal(err)
	}
	wantError(t, revive(), 403, "forbidden")
	if items, _ := w.list("gm", nil); len(items) != 0 {
		t.Errorf("left: %s", states(items))
	}
}
