package scheduler_test

import (
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// Votes that the web app hides from somebody are neither shown nor counted here.
func TestView_OfHiddenVotes_ShowsOnesOwn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	w.Vote(pollID, "ana", map[string]string{slots[0]: poll.Preferred})
	w.Vote(pollID, "ben", map[string]string{slots[0]: poll.Feasible})
	read := func(person scheduler.Person) (votes int, feasible int64) {
		t.Helper()
		view, err := w.Scheduler.View(t.Context(), person, pollID)
		if err != nil {
			t.Fatal(err)
		}
		for _, slot := range view.Slots {
			if slot.ID == slots[0] {
				feasible = slot.Feasible
			}
		}
		return len(view.Votes), feasible
	}
	all, counted := read(worldtest.Person("ana"))
	if all < 2 || counted < 2 {
		t.Fatalf("ana sees %d votes, %d for the slot", all, counted)
	}
	w.Edit(poll.Path(pollID), store.Update{Path: store.Field("voteVisibility"), Value: "hidden"},
		store.Update{Path: store.Field("hideVoterIdentities"), Value: true})
	for _, row := range []struct {
		who      scheduler.Person
		votes    int
		feasible int64
	}{
		{worldtest.Person("ana"), 1, 1},
		{worldtest.Person("gm"), all, counted},
		{scheduler.Person{ID: "an-admin", Admin: true}, all, counted},
	} {
		if votes, feasible := read(row.who); votes != row.votes || feasible != row.feasible {
			t.Errorf("%s sees %d votes, %d for the slot", row.who.ID, votes, feasible)
		}
	}
}
