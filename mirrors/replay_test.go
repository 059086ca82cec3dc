package mirrors_test

import (
	"context"
	"strings"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/operations/explain"
)

var everyEvent = store.Select("all canonical events, for tests", "canonicalEvents", "")

// replayAtTheEnd has the journal of every canonical event that is left at the end of the
// test replayed: it must give back what is stored.
func (w *world) replayAtTheEnd() {
	w.Cleanup(func() {
		ctx := context.WithoutCancel(w.ctx)
		for event, err := range store.All(ctx, w.memory, everyEvent.With(), mirror.DecodeEvent) {
			if err != nil {
				w.Fatal(err)
			}
			history, err := explain.LoadEvent(ctx, w.memory, event.ID)
			if err != nil {
				w.Fatal(err)
			}
			if report := explain.NewEventReport(history, true); report.Disagrees() {
				var text strings.Builder
				if err := report.WriteText(&text); err != nil {
					w.Fatal(err)
				}
				w.Errorf("%s", text.String())
			}
		}
	})
}
