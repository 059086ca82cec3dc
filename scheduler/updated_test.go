package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// An answer of Google's need not say when the event was changed. What a sync
// reads counts all the same; what was read before it stays older; and an answer
// to our own write that does not say is read again by a sync.
func TestApply_EventWithoutUpdated_IsNotOlder(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Run(time.Minute)
	made := w.View(s.poll).Poll.Sync.Observed
	for i, step := range []struct {
		what    string
		at      rules.Fingerprint
		updated time.Time
		own     bool
		want    rules.Fingerprint
	}{
		{"moved", timeOf(worldtest.Noon), made.Add(time.Second), false, timeOf(worldtest.Noon)},
		{"moved, and says no updated", timeOf(worldtest.Three), time.Time{}, false, timeOf(worldtest.Three)},
		{"late news of before", timeOf(worldtest.Ten), made, false, timeOf(worldtest.Three)},
		{"the answer of our own write", timeOf(worldtest.Noon), time.Time{}, true, timeOf(worldtest.Three)},
		{"moved on", timeOf(worldtest.Noon), made.Add(2 * time.Second), false, timeOf(worldtest.Noon)},
	} {
		_, err := w.Scheduler.Apply(t.Context(), scheduler.ObservedEvent{
			AccountID: w.Account("gm"), CalendarID: "gm@example.com", EventID: s.event, EventState: rules.Present, Fingerprint: step.at,
			Updated: step.updated, Own: step.own, Fence: w.Calendar("gm").Fence, Cause: worldtest.Cause,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.View(s.poll).Poll.Sync.Applied; got != step.want {
			t.Errorf("after step %d (%s) the poll is at %s, want %s", i, step.what, got, step.want)
		}
		asked := w.Calendar("gm").Deferred(s.event).Why != ""
		equal(t, "asked for again after "+step.what, asked, step.own || i == 4)
	}
	if got := poll.Decode(w.Document(poll.Path(s.poll))).Sync.Observed; !got.Equal(made.Add(2 * time.Second)) {
		t.Errorf("observed as of %v", got)
	}
	w.Check()
}
