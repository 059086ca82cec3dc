package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func creatorOf(w *worldtest.World, pollID string) scheduler.Person {
	return scheduler.Person{ID: w.View(pollID).Poll.CreatorID}
}

func TestCancel_OfACancelledPoll_TakesBackAFinalisationUnderWay(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, _ := w.Finalised()
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.Refuse("events.insert", 503, "backendError", 1)
	_, err := w.Finalise(pollID, slots[0])
	kind(t, err, fault.Unavailable)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Run(10 * time.Minute)
	waitOut(w)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
	equal(t, "intents", len(w.Intents()), 0)
	w.Check()
}

func TestReopen_OfAnOpenPoll_TakesBackAFinalisationUnderWay(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	w.Refuse("events.insert", 503, "backendError", 1)
	_, err := w.Finalise(pollID, slots[0])
	kind(t, err, fault.Unavailable)
	if _, err := w.Scheduler.Reopen(t.Context(), creatorOf(w, pollID), pollID, false, scheduler.Cause{}); err != nil {
		t.Fatal(err)
	}
	w.Run(10 * time.Minute)
	waitOut(w)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Open)
	equal(t, "intents", len(w.Intents()), 0)
	w.Check()
}

func TestASync_LeavesWhatIsHeldToAPersonsWord(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	gm := creatorOf(w, pollID)
	if err := w.Scheduler.SetSyncError(t.Context(), pollID, rules.MassCancellationHeld, scheduler.Cause{}, nil); err != nil {
		t.Fatal(err)
	}
	key := w.CalendarKey(gm.ID)
	w.Write(calendars.Path(key), calendars.Defer(eventID, calendars.DeferredHeld, time.Unix(1, 0)))
	w.LosePushes()
	w.DeleteEvent(gm.ID, eventID)
	if _, err := w.Scheduler.Sync(t.Context(), gm, pollID, scheduler.Cause{Trigger: "person"}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	equal(t, "what the event waits for", w.Calendar(gm.ID).Deferred(eventID).Why, calendars.DeferredHeld)

	asked, err := w.Watcher.Confirm(t.Context(), gm, key, []string{pollID}, scheduler.Cause{Trigger: "person"})
	if err != nil || asked != 1 {
		t.Fatalf("confirm syncs %d (%v), want 1", asked, err)
	}
	w.Run(time.Minute)
	equal(t, "status after the word", w.View(pollID).Poll.Status, rules.Cancelled)
}

func TestASweep_DoesNotLinkASessionThatIsLongPast(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.Remove(poll.IndexPath(eventID)) // as a sync long after the session does
	if err := w.Clock.Advance(60 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	repair, err := w.Scheduler.Reconcile(t.Context(), pollID, scheduler.Cause{Trigger: "sweep"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "repair", repair, rules.RepairNothing)
}

func TestADirectCancel_ThatForgotTheEvent_DeletesItAllTheSame(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.Edit(poll.Path(pollID), store.Update{Path: store.Field("status"), Value: "CANCELLED"},
		store.Update{Path: store.Field("googleEventId"), Value: nil})
	w.Sweep()
	w.Run(10 * time.Minute)
	if got := w.EventOf(creatorOf(w, pollID).ID, eventID).Status; got != "cancelled" {
		t.Errorf("the event is %q, want it deleted", got)
	}
	equal(t, "index entries", len(w.Index()), 0)
	w.Check()
}
