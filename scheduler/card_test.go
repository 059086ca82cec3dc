package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// What changes a poll's status draws its card anew, though nobody is told of it.
func TestTheCard_FollowsEveryStatus(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	pollID, _ := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
	w.Run(time.Minute)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"archived", func() error {
			_, err := w.Scheduler.Archive(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
			return err
		}},
		{"brought back", func() error {
			_, err := w.Scheduler.Unarchive(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
			return err
		}},
		{"finalised by the web app itself", func() error {
			w.Write(poll.Path(pollID), poll.Set("status", string(rules.Finalized)))
			_, err := w.Scheduler.Reconcile(t.Context(), pollID, worldtest.Cause)
			return err
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		w.Run(time.Minute)
		if w.View(pollID).Poll.Discord.MessageID == "" {
			t.Fatal("there is no card")
		}
		for _, problem := range w.CardProblems() {
			t.Errorf("%s: %s", step.name, problem)
		}
	}
}
