package mirrors_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

// A full listing may show a cancelled occurrence before its series, and of a cancelled one
// Google guarantees the id, the series and the original start alone.
func TestSync_ACancelledOccurrenceBeforeItsSeries_IsCancelledInTheMirror(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"applied alone": 1, "stored with others": 12} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			second := at("2026-03-12T09:00:00Z")
			for i := range count {
				series := w.insert(work, fmt.Sprintf("Weekly %d", i), thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
				_, _, err := w.service.Observe(w.ctx, refTo(work), gcal.Event{
					ID: series.ID + "_20260312T090000Z", EventState: rules.Gone, InstanceOf: series.ID, Updated: w.clock.Now(),
					Details: &gcal.Details{Status: "cancelled", Original: second},
				}, true, cause)
				w.must(err)
			}
			w.relist(work)
			w.sync(work)
			w.run(10 * time.Minute)
			uids := map[string]string{}
			for _, event := range w.canonical(work) { // by id of the series
				uids[cmp.Or(event.SeriesID, event.EventID)] += event.ICalUID + " "
			}
			for id, both := range uids {
				if a, b, _ := strings.Cut(strings.TrimSpace(both), " "); a != b {
					t.Errorf("series %s has the iCalUIDs %s", id, both)
				}
			}
			for i := range count {
				copied, err := w.full.Instance(w.ctx, refTo(home), w.copyAtHome(fmt.Sprintf("Weekly %d", i)).ID, second)
				w.must(err)
				if copied.EventState != rules.Gone {
					t.Errorf("the copy of series %d shows the cancelled occurrence", i)
				}
			}
		})
	}
}

// copyAtHome is the event with a title at home.
func (w *world) copyAtHome(title string) gcal.Event {
	w.Helper()
	for _, event := range w.shown(home, homeMail) {
		if event.Details.Summary == title {
			return event
		}
	}
	w.Fatalf("home shows no %s", title)
	return gcal.Event{}
}
