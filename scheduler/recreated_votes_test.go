package scheduler_test

import (
	"strings"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// What becomes of votes that stand where those of the old poll did: their documents
// are older than the new poll.
func TestRecreatedPoll_VotesOverLeftovers_StayWhereTheyAreItsOwn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		vote func(own string) poll.Vote
		made any // createdAt
		want bool
	}{
		"for its slot": {
			vote: func(own string) poll.Vote { return poll.Vote{Choices: map[string]string{own: poll.Feasible}} },
			made: store.Delete, want: true,
		},
		"for its slot, by a clock that lags": {
			vote: func(own string) poll.Vote { return poll.Vote{Choices: map[string]string{own: poll.Feasible}} },
			made: worldtest.Noon.Start, want: true,
		},
		"for a slot that is gone": {
			vote: func(string) poll.Vote { return poll.Vote{Choices: map[string]string{"gone": poll.Feasible}} },
			made: worldtest.Start, want: false,
		},
		"no time works, since then": {
			vote: func(string) poll.Vote { return poll.Vote{NoTimesWork: true} }, made: worldtest.Start, want: true,
		},
		"no time works, from before": {
			vote: func(string) poll.Vote { return poll.Vote{NoTimesWork: true} }, made: worldtest.Noon.Start, want: false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := moved(w)
			w.Write(poll.VotePath(s.poll, "ben"), poll.VoteUpdates(poll.Vote{UserID: "ben", NoTimesWork: true, UpdatedAt: worldtest.Start})...)
			w.Remove(poll.Path(s.poll))
			slots := w.Recreate(s.poll, "ana")
			w.Edit(poll.Path(s.poll), poll.Set("createdAt", test.made))
			vote := test.vote(slots[0])
			vote.UserID, vote.UpdatedAt = "ben", w.Clock.Now()
			w.Write(poll.VotePath(s.poll, "ben"), poll.VoteUpdates(vote)...)
			if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			equal(t, "the vote stays", w.Document(poll.VotePath(s.poll, "ben")).Exists(), test.want)
		})
	}
}

// The second pass links a recreated poll that names an event, and enqueues the sync at
// once: no drain runs.
func TestReconcile_RecreatedPollWithEvent_SyncsAtOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	w.DeleteDirectly(s.poll)
	slots := w.Recreate(s.poll, "gm")
	made := w.InsertEvent("gm", map[string]any{
		"start": map[string]any{"dateTime": "2026-03-10T10:00:00Z"}, "end": map[string]any{"dateTime": "2026-03-10T11:00:00Z"},
	})
	w.LosePushes()
	w.RunDue()
	w.Write(poll.Path(s.poll), poll.Set("status", string(rules.Finalized)), poll.Set("winningSlotId", slots[0]),
		poll.Set("googleEventId", made.ID), poll.Set("googleCalendarId", "gm@example.com"))
	if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	syncs := 0
	for _, task := range w.Wakes.Due(w.Clock.Now()) {
		if strings.Contains(task.Kind, "sync") {
			syncs++
		}
	}
	equal(t, "syncs", syncs, 1)
}
