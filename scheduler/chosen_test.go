package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Each row is a slot as somebody may have written it directly.
func TestFinalise_OfASlotWithoutUsableTimes_MakesNothing(t *testing.T) {
	t.Parallel()
	start := rules.Instant(worldtest.Ten.Start)
	event := scheduler.Finalise{CreateEvent: true}
	for name, row := range map[string]struct {
		start, end any
		ask        scheduler.Finalise
		ok         bool
	}{
		"a day that no calendar has":      {"2026-02-31T10:00:00.000Z", "2026-02-31T12:00:00.000Z", event, false},
		"that, with a duration":           {"2026-02-31T10:00:00.000Z", nil, scheduler.Finalise{CreateEvent: true, Duration: time.Hour}, false},
		"that, without an event":          {"2026-02-31T10:00:00.000Z", nil, scheduler.Finalise{}, false},
		"no end":                          {start, nil, event, false},
		"an end before the start":         {start, "2020-01-01T00:00:00.000Z", event, false},
		"a year that is far away":         {"9100-01-01T10:00:00.000Z", "9100-01-01T12:00:00.000Z", event, false},
		"no end, with a duration":         {start, nil, scheduler.Finalise{CreateEvent: true, Duration: time.Hour}, true},
		"no end, without an event":        {start, nil, scheduler.Finalise{}, true},
		"an end that a duration goes by":  {start, "2020-01-01T00:00:00.000Z", scheduler.Finalise{CreateEvent: true, Duration: time.Hour}, true},
		"a start that is no text or time": {7, start, event, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, slots := w.Poll()
			w.Edit(poll.SlotPath(pollID, slots[0]), store.Update{Path: store.Field("start"), Value: row.start},
				store.Update{Path: store.Field("end"), Value: row.end})
			row.ask.SlotID = slots[0]
			_, err := w.FinaliseAs(pollID, row.ask)
			w.Run(time.Minute)
			if row.ok {
				if err != nil {
					t.Fatal(err)
				}
				w.Check()
				return
			}
			kind(t, err, fault.Conflict)
			view, err := w.Scheduler.View(t.Context(), scheduler.Person{ID: "gm"}, pollID)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "status", view.Poll.Status, rules.Open)
			equal(t, "events", len(w.Events("gm")), 0)
			w.Check()
		})
	}
}
