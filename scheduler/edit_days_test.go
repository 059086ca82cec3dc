package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// The API's slots have no whole days: an edit names a slot that it keeps by its times.
func TestEditSlots_EchoedWholeDay_Stays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		length time.Duration // that the edit gives the whole day
		stays  bool
	}{"unchanged": {24 * time.Hour, true}, "made shorter": {3 * time.Hour, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			w.PatchEvent("gm", s.event, map[string]any{
				"start": map[string]any{"date": "2026-03-12", "dateTime": nil}, "end": map[string]any{"date": "2026-03-13", "dateTime": nil},
			})
			w.Run(time.Minute)
			saw := w.View(s.poll).Poll.Sync.Applied.String()
			accepted, err := w.Scheduler.AcceptNew(t.Context(), gm, s.poll, saw, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			day := *accepted.Winning
			equal(t, "the accepted time is a whole day", day.AllDay, true)
			w.DeleteEvent("gm", s.event)
			w.Run(time.Minute)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
			view, err := w.Scheduler.Edit(t.Context(), gm, s.poll, scheduler.Edit{Slots: &[]scheduler.SlotEdit{
				{ID: day.ID, Times: scheduler.Times{Start: day.Start, End: day.Start.Add(c.length)}},
				{ID: s.slots[0], Times: worldtest.Noon},
			}}, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			want := rules.Timed(day.Start, day.Start.Add(c.length))
			want.AllDay = c.stays
			equal(t, "the slot", view.Winning.Fingerprint(), want)
			equal(t, "its event is awaited", view.Poll.Sync.Awaited != nil, c.stays)
			other, err := poll.LoadSlot(t.Context(), w.Documents, s.poll, s.slots[0])
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "the other slot", other.Fingerprint(), timeOf(worldtest.Noon))
			w.Run(20 * time.Minute)
			atRest(t, w)
		})
	}
}
