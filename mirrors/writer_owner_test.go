package mirrors_test

import (
	"testing"
	"time"

	"questscheduler/internal/gcal"
)

// Another person linked the account, or the group stopped sharing the session, after the
// mirror was planned.
func TestWriter_AnEventThatIsAnotherPersonsNow_IsNotShown(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.sync(work)
	w.wantTitles(home, "Stand-up")
	w.service.Observing = true // the change is planned and not written
	_, err := w.full.PatchContent(w.ctx, refTo(work), "event1", "", gcal.Content{Summary: "Lunch", Start: at(thursday), End: at(friday)})
	w.must(err)
	w.sync(work)
	w.service.Observing = false
	event := w.canonical(work)[0]
	event.OwnerID, event.Title = ana, "Secret"
	w.put(event)
	w.run(3 * time.Minute)
	w.wantTitles(home)
}
