package mirrors_test

import (
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

// A full listing may show a cancelled occurrence before its series, and of a cancelled one
// Google guarantees the id, the series and the original start alone.
func TestSync_ACancelledOccurrenceBeforeItsSeries_IsCancelledInTheMirror(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	second := at("2026-03-12T09:00:00Z")
	_, _, err := w.service.Observe(w.ctx, refTo(work), gcal.Event{
		ID: series.ID + "_20260312T090000Z", EventState: rules.Gone, InstanceOf: series.ID, Updated: w.clock.Now(),
		Details: &gcal.Details{Status: "cancelled", Original: second},
	}, cause)
	w.must(err)
	w.sync(work)
	w.run(10 * time.Minute)
	copied, err := w.full.Instance(w.ctx, refTo(home), w.masterAtHome().ID, second)
	w.must(err)
	if copied.EventState != rules.Gone {
		t.Errorf("the copy shows the cancelled occurrence; known are %+v", w.canonical(work))
	}
}
