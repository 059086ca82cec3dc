package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Where a poll and its entry agree, Reconcile finds nothing to do: a sweep asks it
// for the others alone.
func TestAgrees_LeavesNothingToReconcile(t *testing.T) {
	t.Parallel()
	edit := func(updates ...store.Update) func(w *worldtest.World, s fixture) {
		return func(w *worldtest.World, s fixture) { w.Edit(poll.Path(s.poll), updates...) }
	}
	for _, c := range []struct {
		name   string
		begin  func(t *testing.T, w *worldtest.World) fixture
		do     func(w *worldtest.World, s fixture)
		agrees bool
	}{
		{"finalised", linked, func(*worldtest.World, fixture) {}, true},
		{"rescheduled", rescheduled, func(*worldtest.World, fixture) {}, true},
		{"failing", failing, func(*worldtest.World, fixture) {}, true},
		{"given another title", linked, edit(poll.Set("title", "Another")), true},
		{"cancelled directly", linked, setBehindUs(rules.Cancelled), false},
		{"reopened directly", linked, reopenBehindUs, false},
		{"archived directly", linked, setBehindUs(rules.Archived), false},
		{"archived", linked, archiveIt.do, true},
		{"given another slot directly", linked, func(w *worldtest.World, s fixture) {
			w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", s.slots[1]))
		}, false},
		{"given another event directly", linked, edit(poll.Set("googleEventId", "another")), false},
		{"robbed of its event directly", linked, edit(poll.Set("googleEventId", nil)), false},
		{"marked as cancelled", linked, edit(store.Update{Path: poll.SyncField("state"), Value: string(rules.StateCancelled)}), false},
		{"over for long", linked, func(w *worldtest.World, _ fixture) { w.Skip(60 * 24 * time.Hour) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := c.begin(t, w)
			entry := w.Index()[0]
			c.do(w, s)
			agrees := scheduler.Agrees(poll.Decode(w.Document(poll.Path(s.poll))), entry, w.Clock.Now())
			equal(t, "agrees", agrees, c.agrees)
			repair, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			if agrees {
				equal(t, "repair", repair, rules.RepairNothing)
			}
		})
	}
	other := poll.IndexEntry{PollID: "another", EventID: "event"}
	if scheduler.Agrees(poll.Poll{ID: "one", Status: rules.Finalized, GoogleEventID: "event"}, other, worldtest.Start) {
		t.Error("a poll agrees with the entry of another")
	}
}
