package mirrors_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// The copies of exceptions go with the copy of their series, also where that is left deleted. The
// calendar reports the end of the series alone.
func TestSync_ASeriesCopyIsLeftDeleted_SoAreItsExceptions(t *testing.T) {
	t.Parallel()
	for name, insist := range map[string]func(w *world){
		"deleted twice": func(w *world) {
			w.delete(w.masterAtHome())
			w.sync(home)
			w.run(10 * time.Minute)
		},
		"contested": func(w *world) {
			for range 4 {
				master := w.masterAtHome()
				content := plan.Shown(*master.Details)
				content.Summary = "Mine"
				_, err := w.full.PatchContent(w.ctx, refTo(home), master.ID, "", content)
				w.must(err)
				w.sync(home)
				w.run(10 * time.Minute)
			}
			if !slices.ContainsFunc(w.mirrors(), func(m mirror.Mirror) bool { return m.State == mirror.Contested }) {
				w.Fatalf("the copies are %+v", w.mirrors())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork()
			w.settle()
			series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
			second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-12T09:00:00Z"))
			w.must(err)
			content := plan.Shown(*second.Details)
			content.Summary = "With cake"
			_, err = w.full.PatchContent(w.ctx, refTo(work), second.ID, "", content)
			w.must(err)
			w.sync(work)
			w.run(5 * time.Minute)
			insist(w)
			master := w.masterAtHome()
			w.delete(master)
			_, _, err = w.service.Observe(w.ctx, refTo(home), gcal.Event{ID: master.ID, EventState: rules.Gone}, true, cause)
			w.must(err)
			w.wantTitles(home)
			for _, m := range w.mirrors() {
				if m.State != mirror.Suppressed {
					t.Errorf("the mirror of %s is %s", m.CanonicalID, m.State)
				}
			}
		})
	}
}
