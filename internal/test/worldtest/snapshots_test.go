package worldtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// The votes that a restore leaves are judged as it commits: what people take back later is their own,
// and what was written before is found.
func TestRestore_WithoutAVoteOfBefore_IsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after func(w *worldtest.World, pollID string) error
		found         bool
	}{
		"somebody of its group leaves right after it": {
			after: func(w *worldtest.World, pollID string) error {
				return w.Scheduler.Leave(w.Context(), worldtest.Person("ana"), pollID, worldtest.Cause)
			},
		},
		"another vote was written during the reschedule": {
			before: func(w *worldtest.World, pollID string) error {
				w.Write(poll.VotePath(pollID, "ana"), poll.Set("noTimesWork", true))
				return nil
			},
			found: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(struct{ worldtest.TB }{t}, worldtest.Options{})
			pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
			view, err := w.Finalise(pollID, slots[0])
			w.Run(time.Minute)
			for _, to := range []scheduler.Times{worldtest.Noon, worldtest.Ten} {
				w.MoveEvent("gm", view.Poll.GoogleEventID, to)
				if to == worldtest.Ten && c.before != nil && err == nil {
					err = c.before(w, pollID)
				}
				w.Run(time.Minute)
			}
			if c.after != nil && err == nil {
				err = c.after(w, pollID)
			}
			problems := w.HistoryProblems()
			found := slices.ContainsFunc(problems, func(problem string) bool {
				return strings.Contains(problem, "the vote of ana is not what it was")
			})
			if err != nil || found != c.found || w.View(pollID).Poll.Sync.Rescheduled != nil {
				t.Errorf("found %q, want a vote that was lost: %t; %v", problems, c.found, err)
			}
		})
	}
}
