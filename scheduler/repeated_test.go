package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/transition"
)

// A dead process delivers no more.
func TestRestart_DuringADelivery_GoesOnAtOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.MoveEvent("gm", eventID, worldtest.Noon)
	w.Run(worldtest.Settle - time.Second)
	w.Skip(5 * time.Second)
	announcement, err := poll.LoadAnnouncement(w.Context(), w.Documents, pollID)
	if err != nil || announcement.Due.IsZero() {
		t.Fatal(announcement, err)
	}
	w.Write(poll.AnnouncementPath(pollID), poll.DeliveryUpdates(announcement.Wanted, 1, w.Clock.Now().Add(90*time.Second))...)
	w.Write(poll.AnnouncementPath(pollID), poll.Set("due", w.Clock.Now().Add(time.Minute))) // of a newer state
	w.Restart()
	w.Write(poll.AnnouncementPath(pollID), poll.Set("due", w.Clock.Now()))
	w.Drain()
	w.RunDue()
	equal(t, "notices", len(w.Notices("ana")), 1)
}

// A deletion that is asked for again while one is under way may have come too early.
func TestDelete_AskedForAgainDuringIt_IsRepeated(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Run(time.Minute)
	w.On("after events.delete", func() {
		for _, intent := range w.Intents() {
			step := transition.Step{Setting: transition.Setting{Now: w.Clock.Now()}}
			step.DeleteAgain(intent)
			for _, change := range step.Writes {
				w.Write(change.Path, change.Updates...)
			}
		}
	})
	deleted := 0
	w.On("before events.delete", func() { deleted++; w.On("before events.delete", func() { deleted++ }) })
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Second)
	equal(t, "deletions", deleted, 2)
	equal(t, "intents", len(w.Intents()), 0)
}

// While an insert may still make the event, its deletion is repeated at growing distances.
func TestDelete_WhileAnInsertMayCome_WaitsLonger(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	w.Refuse("events.insert", 503, "backendError", 1)
	_, err := w.Finalise(pollID, slots[0])
	kind(t, err, fault.Unavailable)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.RunDue()
	until := store.Instant(w.Clock.Now().Add(transition.InsertGrace + transition.ClockSkew))
	for _, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 3 * time.Minute} {
		left := w.Intents()
		equal(t, "intents", len(left), 1)
		equal(t, "wait", left[0].Due.Sub(w.Clock.Now()), want)
		w.Skip(want)
		w.Drain()
		w.RunDue()
	}
	equal(t, "its end", w.Clock.Now().Equal(until), true)
	equal(t, "intents", len(w.Intents()), 0)
}
