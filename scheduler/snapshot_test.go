package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// The calendar moves a session and moves it back; a vote is lost in between. The vote
// comes back with all that the web app wrote into it.
func TestRestore_VoteThatVanished_ComesBackWhole(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	invited := []string{worldtest.Person("cho").Email}
	pollID, slots := w.PollOf("gm", scheduler.Create{ParticipantIDs: []string{"ana", "ben"}, PendingInvites: invited})
	w.Write(poll.VotePath(pollID, "ana"), worldtest.AppVote("ana")...)
	before := w.Votes(pollID)
	view, err := w.Finalise(pollID, slots[0])
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Noon)
	w.Run(time.Minute)
	for _, snapshot := range w.Snapshots() {
		if got := store.Fields(snapshot.Data).Strings("pendingInvites"); !slices.Equal(got, invited) {
			t.Errorf("the snapshot has the invitations %v, want %v", got, invited)
		}
	}
	w.Remove(poll.VotePath(pollID, "ana"))
	w.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Ten)
	w.Run(time.Minute)
	equal(t, "state", w.View(pollID).Poll.Sync.State, rules.StateOK)
	i := slices.IndexFunc(before, func(vote poll.Vote) bool { return vote.UserID == "ana" })
	f := store.Fields(w.Document(poll.VotePath(pollID, "ana")).Data)
	equal(t, "avatar", f.String("userAvatar"), before[i].Avatar)
	equal(t, "source", f.String("source"), before[i].Source)
	equal(t, "where it was given", f.String("lastVotedFrom"), before[i].LastVotedFrom)
	equal(t, "address", f.String("userEmail"), before[i].Email)
	atRest(t, w)
}
