package groupevents_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/scheduler"
)

// newSettlingWorld is a connected world where changes rest for ten seconds, with an event.
func newSettlingWorld(t *testing.T) (*world, groupevents.View) {
	t.Helper()
	w := newConnectedWorld(t)
	w.Groups.Settle = 10 * time.Second
	event, err := w.create("gm", "Dinner", mirrortest.Start.Add(9*time.Hour))
	w.must(err)
	w.RunDue()
	w.shows("ana", "Dinner") // a new one does not rest
	w.ResetCalls()
	return w, event
}

// pass has time go on, second by second, without drains.
func (w *world) pass(seconds int) {
	w.Helper()
	for range seconds {
		w.RunDue()
		w.must(w.Clock.Advance(time.Second))
	}
	w.RunDue()
}

func TestUpdate_ManyInSuccession_CostOneWriteEach(t *testing.T) {
	t.Parallel()
	w, event := newSettlingWorld(t)
	for i := range 20 {
		w.retitle(event, fmt.Sprint("Dinner ", i))
		w.RunDue()
		w.must(w.Clock.Advance(100 * time.Millisecond))
	}
	w.shows("ana", "Dinner")
	if waiting := w.Wakes.Due(w.Clock.Now().Add(time.Minute)); len(waiting) != 1 {
		t.Errorf("%d tasks wait, want one for all changes", len(waiting))
	}
	w.pass(10)
	w.shows("ana", "Dinner 19")
	if calls := w.Calls()["events.patch"]; calls != 3 {
		t.Errorf("%d patches, want one for each account", calls)
	}
}

// Changes that go on do not keep the copies from following.
func TestUpdate_ChangesThatGoOn_AreShownInBetween(t *testing.T) {
	t.Parallel()
	w, event := newSettlingWorld(t)
	for i := range 60 {
		w.retitle(event, fmt.Sprint("Dinner ", i))
		w.pass(1)
	}
	if calls := w.Calls()["events.patch"]; calls < 3*5 || calls > 3*6 {
		t.Errorf("%d patches in a minute, want one for each account in ten or eleven seconds", calls)
	}
	w.pass(10)
	w.shows("ben", "Dinner 59")
}

func TestUpdate_TakenBack_WritesNothing(t *testing.T) {
	t.Parallel()
	w, event := newSettlingWorld(t)
	w.retitle(event, "Supper")
	w.pass(3)
	w.retitle(event, "Dinner")
	w.World.Run(2 * time.Minute)
	w.shows("ana", "Dinner")
	if calls := w.Calls(); calls["events.patch"]+calls["events.insert"]+calls["events.delete"] > 0 {
		t.Errorf("calls: %v", calls)
	}
}

func TestDelete_WhileAChangeRests_IsAtOnce(t *testing.T) {
	t.Parallel()
	w, event := newSettlingWorld(t)
	w.pass(1)
	w.retitle(event, "Supper")
	_, err := w.Groups.Delete(t.Context(), personOf("gm"), groupevents.Reference{GroupID: party, ID: event.ID}, mirrortest.Cause)
	w.must(err)
	w.RunDue()
	w.shows("ana")
	w.World.Run(2 * time.Minute)
	w.shows("ana")
	if calls := w.Calls(); calls["events.patch"] > 0 || calls["events.delete"] != 3 {
		t.Errorf("calls: %v", calls)
	}
}

func TestEvent_ItsCopies_HaveTheTraceOfItsChange(t *testing.T) {
	t.Parallel()
	w, event := newSettlingWorld(t)
	change := func(trace string, do func(cause scheduler.Cause) error) {
		t.Helper()
		w.must(do(scheduler.Cause{Trigger: "api", Trace: trace}))
		w.pass(12)
		entries, _, err := mirror.LoadJournal(t.Context(), w.Documents, event.ID, store.Paging{Limit: 0})
		w.must(err)
		planned := 0
		for _, entry := range entries {
			if entry.Step == mirror.StepPlanned && entry.Trace == trace {
				planned++
			}
		}
		if planned != 3 {
			t.Errorf("%d plans have the trace %s, want one for each account", planned, trace)
		}
	}
	gm, ref := scheduler.Person{ID: "gm"}, groupevents.Reference{GroupID: party, ID: event.ID}
	change("trc_update", func(cause scheduler.Cause) error {
		title := "Supper"
		_, err := w.Groups.Update(t.Context(), gm, ref, groupevents.Edit{Title: &title}, cause)
		return err
	})
	change("trc_delete", func(cause scheduler.Cause) error {
		_, err := w.Groups.Delete(t.Context(), gm, ref, cause)
		return err
	})
}
