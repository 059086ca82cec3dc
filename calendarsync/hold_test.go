package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/worldtest"
	"questscheduler/notify"
)

// The owner hears of what is held though the program died before they were told,
// and though by the next look it is not so many any more.
func TestAHold_OfWhichNobodyCouldBeTold_IsToldByTheNextLook(t *testing.T) {
	t.Parallel()
	met := 0
	for n, died := 1, true; died; n++ {
		w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
		first, _, _ := w.Finalised()
		second, slots, _ := w.Finalised()
		for _, event := range w.Events("gm") {
			w.DeleteEvent("gm", event.ID)
		}
		if err := w.Google.ExpireSyncTokens(); err != nil {
			t.Fatal(err)
		}
		w.CrashAt(n)
		lived, point := w.Survives(w.RunDue)
		died = !lived
		w.TakeOver()
		held := w.Held(w.View(first).Poll) && w.Held(w.View(second).Poll)
		if !died || !held || holdsTold(w) > 0 {
			continue // before the hold, or after it was told
		}
		met++
		if _, err := w.Finalise(second, slots[1]); err != nil {
			t.Fatal(err)
		}
		w.Run(5 * time.Minute)
		equal(t, "notices of a hold, dead "+point, holdsTold(w), 1)
		equal(t, "the other one is held", w.Held(w.View(first).Poll), true)
		atRest(t, w)
	}
	equal(t, "there is a moment between the hold and its telling", met > 0, true)
}

// holdsTold is how often gm was told that cancellations are held.
func holdsTold(w *worldtest.World) (times int) {
	for _, notice := range w.Notices("gm") {
		if notice == notify.NoticeHeld {
			times++
		}
	}
	return times
}
