package worldtest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// mirroring is a world whose person has work and side mirrored to home as busy time: work into
// its calendar, and side into its overlay calendar.
func mirroring(t *testing.T) *worldtest.World {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{Mirrored: []string{"work", "home", "side"}})
	edge := func(from string, target mirror.Target) mirror.Edge {
		return mirror.Edge{FromAccountID: w.MirroredAccount(from), ToAccountID: w.MirroredAccount("home"), Detail: mirror.Busy, Target: target}
	}
	if err := w.SetEdges([]mirror.Edge{edge("work", mirror.PrimaryTarget), edge("side", mirror.Overlay)}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	return w
}

// days is an event that begins on a day of March and has two days.
func days(first, after string, more map[string]any) map[string]any {
	event := map[string]any{"start": map[string]any{"date": "2026-03-" + first}, "end": map[string]any{"date": "2026-03-" + after}}
	maps.Copy(event, more)
	return event
}

// meetingSeries has work make two series with one iCalUID of which only the occurrences on the
// 18th meet.
func meetingSeries(w *worldtest.World) (first, second worldtest.Event) {
	uid := map[string]any{"iCalUID": "one@example.com", "recurrence": []string{"RRULE:FREQ=DAILY;INTERVAL=2;COUNT=2"}}
	first = w.InsertEvent("work", days("18", "20", uid))
	uid["recurrence"] = []string{"RRULE:FREQ=DAILY;COUNT=3"}
	return first, w.InsertEvent("work", days("17", "19", uid))
}

// alike has side make an event, and then work a series with its iCalUID and times. Side invites
// work, so that the event has its mirror by one edge and could have it by the other one.
func alike(w *worldtest.World) (series, event worldtest.Event) {
	uid := map[string]any{"iCalUID": "one@example.com"}
	event = w.InsertEvent("side", days("18", "20", uid))
	w.Run(20 * time.Minute)
	uid["recurrence"] = []string{"RRULE:FREQ=WEEKLY;COUNT=2"}
	series = w.InsertEvent("work", days("18", "20", uid))
	w.PatchEvent("side", event.ID, map[string]any{"attendees": []map[string]any{{"email": "work@example.com"}}})
	return series, event
}

// shown are the ids of the mirrors in a calendar of home.
func shown(w *worldtest.World, calendarID string) (ids []string) {
	all, _ := w.Occurrences("home", calendarID)
	for _, o := range all {
		if o.IsMirror() {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

const homes = "home@example.com"

func TestMirrorsOfMeetingsWithOneICalUID_AsTheyShouldBe_AgreeWithTheCalendars(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do      func(w *worldtest.World)
		own     int // mirrors in home's calendar
		overlay int // and in its overlay calendar
	}{
		"occurrences of two series meet": {func(w *worldtest.World) { meetingSeries(w) }, 5, 0},
		"and one of them is changed": {func(w *worldtest.World) {
			first, _ := meetingSeries(w)
			w.PatchEvent("work", first.ID+"_20260318", map[string]any{"summary": "This one"})
		}, 4, 0},
		"a series and an event are alike": {func(w *worldtest.World) { alike(w) }, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mirroring(t)
			c.do(w)
			w.Run(20 * time.Minute)
			own, overlay := shown(w, homes), shown(w, w.Overlay("home"))
			if len(own) != c.own || len(overlay) != c.overlay {
				t.Errorf("home shows %q, and %q in the overlay calendar", own, overlay)
			}
			if problems := w.MirrorDisagreements(true, nil); len(problems) > 0 {
				t.Error(strings.Join(problems, "\n"))
			}
		})
	}
}

func TestMirrorsOfMeetingsWithOneICalUID_ThatAreWrong_AreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do    func(w *worldtest.World)
		found []string // a part of each problem
	}{
		"one of two that meet is gone": {func(w *worldtest.World) {
			first, _ := meetingSeries(w)
			w.Run(20 * time.Minute)
			w.DeleteEvent("home", instanceFor(w, first.ID, "_20260318"))
		}, []string{"lacks a mirror"}},
		"a changed occurrence is shown beside another": {func(w *worldtest.World) {
			first, _ := meetingSeries(w)
			w.Run(20 * time.Minute)
			id := instanceFor(w, first.ID, "_20260318")
			w.PatchEvent("work", first.ID+"_20260318", map[string]any{"summary": "This one"})
			w.Run(20 * time.Minute)
			w.PatchEvent("home", id, map[string]any{"status": "confirmed"})
		}, []string{"home shows a meeting twice"}},
		"two mirrors are exchanged": {func(w *worldtest.World) {
			series, event := alike(w)
			w.Run(20 * time.Minute)
			one, other := mirrorOf(w, series.ID), mirrorOf(w, event.ID)
			w.Write(mirror.Path(one.ID), store.Set("canonicalId", other.CanonicalID))
			w.Write(mirror.Path(other.ID), store.Set("canonicalId", one.CanonicalID))
		}, []string{"the calendar of home has a mirror too many", "lacks a mirror"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mirroring(t)
			c.do(w)
			problems := w.MirrorDisagreements(true, nil)
			for _, part := range c.found {
				if !slices.ContainsFunc(problems, func(problem string) bool { return strings.Contains(problem, part) }) {
					t.Errorf("found %q, and nothing that says %q", problems, part)
				}
			}
		})
	}
}

// mirrorOf is the mirror at home that has an event and shows the event of another calendar.
func mirrorOf(w *worldtest.World, eventID string) mirror.Mirror {
	for _, m := range w.MirrorDocuments() {
		for _, event := range w.CanonicalEvents() {
			if m.CanonicalID == event.ID && event.EventID == eventID && m.EventID != "" {
				return *m
			}
		}
	}
	return mirror.Mirror{}
}

// instanceFor is the id of an occurrence of the mirror of a series.
func instanceFor(w *worldtest.World, seriesID, occurrence string) string {
	return mirrorOf(w, seriesID).EventID + occurrence
}
