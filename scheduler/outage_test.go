package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/outbox"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// However long Discord is away, an announcement has one task that tries again, and
// not one more for each minute in which the drain finds it due.
func TestDrain_WhileDiscordIsAwayForHours_MakesNoCrowdOfTasks(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
	view, err := w.FinaliseAs(pollID, scheduler.Finalise{SlotID: slots[0], CreateEvent: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.PlantDiscord("messages.*", func(f *worldtest.Fault) { f.Status = 503 })
	w.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Noon)
	for range 240 {
		w.Run(time.Minute)
		woken, err := w.Outbox.Drain(t.Context())
		if err != nil || slices.ContainsFunc(woken, func(kind outbox.Woken) bool { return kind.N > 1 }) {
			t.Fatal(woken, err)
		}
	}
	for _, kind := range w.Depths() {
		if kind.Due > 1 || w.Wakes.Waiting(kind.Kind) > 3 {
			t.Errorf("%d entries and %d wakes of kind %s wait", kind.Due, w.Wakes.Waiting(kind.Kind), kind.Kind)
		}
	}
	w.HealDiscord()
	w.Run(15 * time.Minute)
	if posted := len(w.Discord.Messages(worldtest.Channel)); posted != 2 { // the card and the announcement
		t.Errorf("the channel has %d messages", posted)
	}
	for _, problem := range w.CardProblems() {
		t.Error(problem)
	}
}
