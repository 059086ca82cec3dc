package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// A console, a function or an import may leave a finalised poll without a winning slot, or with
// text there that can be no id. The poll follows its event all the same, and has a slot for
// every time that the event then gets.
func TestPollWithoutWinningSlot_EventMovesAndBack_HasASlotForEachTime(t *testing.T) {
	t.Parallel()
	for written, winning := range map[string]any{"null": nil, "no id": "no/slot"} {
		for by, moveBack := range map[string]act{
			"its owner":    {"restore original time", restoreOriginal},
			"the calendar": {"move back", func(w *worldtest.World, s fixture) { w.MoveEvent("gm", s.event, worldtest.Ten) }},
		} {
			t.Run(written+", moved back by "+by, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := finalised(w)
				w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", winning))
				w.Sweep()
				w.Run(time.Minute)
				for range 2 {
					w.MoveEvent("gm", s.event, worldtest.Noon)
					w.Run(time.Hour)
					followed(t, w, s, rules.StateRescheduled, worldtest.Noon, len(w.Notices("ana")))
					moveBack.do(w, s)
					w.Run(time.Hour)
					followed(t, w, s, rules.StateOK, worldtest.Ten, len(w.Notices("ana")))
					equal(t, "source of the slot that wins", w.View(s.poll).Winning.Source, poll.SourcePoll)
					for _, problem := range w.HistoryProblems() {
						t.Error(problem)
					}
				}
				atRest(t, w)
			})
		}
	}
}

func restoreOriginal(w *worldtest.World, s fixture) {
	_, _ = w.Scheduler.RestoreOriginal(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
}
