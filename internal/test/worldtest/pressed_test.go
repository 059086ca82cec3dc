package worldtest_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// A store that is slow has the press answered in time, by the world's clock; its effect is there or
// not, and no repeat has another.
func TestPress_OverASlowStore_IsAnsweredInTimeAndTakesEffectOnce(t *testing.T) {
	t.Parallel()
	for point, voted := range map[string]bool{"before store.run": false, "after store.run": true} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Pressed: true})
			pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
			shown := w.SlotsOf(pollID)
			label := func(component map[string]any) any { return map[string]any{"type": 18, "component": component} }
			p := w.NewPress(worldtest.PressSubmit, "ana", map[string]any{
				"custom_id": "qs:vote:" + pollID + ":" + poll.ShownSlots(shown), "components": []any{
					label(map[string]any{"type": 3, "custom_id": "pref0", "values": []string{shown[0].Option()}}),
					label(map[string]any{"type": 3, "custom_id": "feas0", "values": []string{}}),
					label(map[string]any{"type": 23, "custom_id": "none", "value": false}),
				},
			})
			p.Poll, p.Voting, p.Shown, p.Vote = pollID, true, shown, map[string]string{slots[0]: poll.Preferred}
			w.On(point, func() { w.Skip(3 * time.Second) })
			if told := w.Press(p); !strings.HasPrefix(told.Text, "That takes longer than Discord waits.") {
				t.Errorf("told %+v", told)
			}
			want := "Your vote"
			if voted {
				want = "Done already."
			}
			if told := w.Press(p); !strings.HasPrefix(told.Text, want) {
				t.Errorf("again, told %+v, want %s", told, want)
			}
			w.Skip(20 * time.Minute)
			if told := w.Press(p); told.Status != 400 {
				t.Errorf("late, told %+v", told)
			}
			for _, problem := range append(w.Problems(), w.GivenProblems()...) {
				t.Error(problem)
			}
		})
	}
}
