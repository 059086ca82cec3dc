package google_test

import (
	"testing"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

func TestClear_OfAPrimaryCalendar_DeletesAllItsEvents(t *testing.T) {
	t.Parallel()
	for name, clearAll := range map[string]func(w *world) error{
		"by its owner":    func(w *world) error { return w.as("gm").Calendars.Clear("primary").Do() },
		"by the control":  func(w *world) error { w.control("calendars/gm@example.test/clear", ""); return nil },
		"from within":     func(w *world) error { return w.sim.Clear("gm@example.test") },
		"by another name": func(w *world) error { return w.as("gm").Calendars.Clear("gm@example.test").Do() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			w.grants["gm"] = must(w.sim.NewGrant("gm", google.ScopeCalendar))(t)
			w.invite("qs0feast")
			w.weekly("qs0series")
			w.rename("qs0series_20260320T180000Z")
			theirs := timed("qs0theirs", 9)
			theirs.Attendees = []*calendar.EventAttendee{{Email: "ana@example.test"}, {Email: "gm@example.test"}}
			w.insert("ana", theirs)
			w.insert("gm", timed("qs0gone", 7))
			if err := w.as("gm").Events.Delete("primary", "qs0gone").Do(); err != nil {
				t.Fatal(err)
			}
			_, token := w.list("gm", nil)
			if err := clearAll(w); err != nil {
				t.Fatal(err)
			}
			if items, _ := w.list("gm", nil); len(items) != 0 {
				t.Errorf("left: %s", states(items))
			}
			want := "qs0feast cancelled, qs0series cancelled, qs0series_20260320T180000Z cancelled, qs0theirs cancelled"
			if items, _ := w.since("gm", token); states(items) != want {
				t.Errorf("delta: %s", states(items))
			}
			if got := w.get("ana", "qs0feast"); got.Status != "cancelled" {
				t.Errorf("a guest's copy is %s", got.Status)
			}
			if got := responses(w.get("ana", "qs0theirs")); got != "ana needsAction, gm declined" {
				t.Errorf("another's event: %s", got)
			}
			w.insert("gm", timed("qs0again", 8))
		})
	}
}

func TestClear_Refuses(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	wantError(t, w.as("gm").Calendars.Clear("primary").Do(), 403, "insufficientPermissions")
	for _, key := range []string{"gm", "ana"} {
		w.grants[key] = must(w.sim.NewGrant(key, google.ScopeCalendar))(t)
	}
	wantError(t, w.as("gm").Calendars.Clear(club).Do(), 400, "invalid")
	wantError(t, w.as("ana").Calendars.Clear(club).Do(), 403, "requiredAccessLevel")
	wantError(t, w.as("ana").Calendars.Clear("gm@example.test").Do(), 404, "notFound")
	for _, id := range []string{club, "nobody@example.test"} {
		if status, _, text := w.curl("", "POST", "/_sim/calendars/"+id+"/clear", ""); status != 404 {
			t.Errorf("%s: %d %s", id, status, text)
		}
	}
}
