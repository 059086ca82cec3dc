package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// votesElsewhere has another process write votes in a poll, each of a person of
// its own.
func (w *world) votesElsewhere(pollID string, n int, at time.Time) {
	w.t.Helper()
	for i := range n {
		vote := poll.Vote{UserID: fmt.Sprintf("voter%03d", i), NoTimesWork: true, UpdatedAt: at}
		w.elsewhere(func(tx store.Tx) error {
			return tx.Merge(poll.VotePath(pollID, vote.UserID), poll.VoteUpdates(vote)...)
		})
	}
}

func TestStreams_HiddenVotes_EachSeesTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.writeGroup("party", "gm", "cho")
	made := w.newPoll(map[string]any{"group_id": "party"})
	listeners := map[string]*listener{"gm": w.listen("gm"), "ana": w.listen("ana"), "cho": w.listen("cho")}
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, voter := range []string{"ana", "cho"} {
			vote := poll.Vote{UserID: voter, Choices: map[string]string{made.Slots[0].ID: poll.Preferred}, UpdatedAt: begin}
			if err := tx.Merge(poll.VotePath(made.ID, voter), poll.VoteUpdates(vote)...); err != nil {
				return err
			}
		}
		return tx.Update(poll.Path(made.ID), poll.Set("hideVoterIdentities", true), poll.Set("voteVisibility", "hidden"))
	}))
	for as, l := range listeners {
		l.wantsPoll(as, made.ID)
	}
}

// TestStream_VoteOfThisProcess_IsReadOnceMore: the scan does not know which streams
// have shown the vote.
func TestStream_VoteOfThisProcess_IsReadOnceMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.newPolls("own", 1, 3, poll.Poll{CreatorID: "gm"})[0]
	gm := w.listen("gm")
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Merge(poll.VotePath(own, "ana"), poll.VoteUpdates(poll.Vote{UserID: "ana", NoTimesWork: true, UpdatedAt: w.options.Now()})...)
	}))
	gm.wantsNamed(own)
	w.store.taken()
	for range 5 {
		w.ticks.tick(30 * time.Second)
		w.quiet(gm)
	}
	if reads := w.store.taken(); reads["slots"] > 3 || reads["votes"] > 5+1 {
		t.Errorf("rechecks after a vote read %v, want each scan's vote and the poll once", reads)
	}
}

func TestStreams_VotesElsewhere_AreScannedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.newPolls("other", 2, 1, poll.Poll{CreatorID: "ben"})
	var listeners []*listener
	for _, id := range w.people(20) {
		listeners = append(listeners, w.listen(id))
	}
	for _, id := range ids {
		w.votesElsewhere(id, 5, w.options.Now())
	}
	w.store.taken()
	w.ticks.tick(30 * time.Second)
	w.quiet(listeners...)
	if reads := w.store.taken(); reads["votes"] != 10 || reads["slots"] != 0 || reads["schedulers"] > 2 {
		t.Errorf("20 streams that 10 votes do not concern read %v", reads)
	}
}

func TestStream_VotesWithForgedTimes_ReadsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.newPolls("own", 1, 1, poll.Poll{CreatorID: "gm"})[0]
	forged := w.newPolls("forged", 1, 0, poll.Poll{CreatorID: "eve"})[0]
	w.votesElsewhere(forged, 300, begin.AddDate(1, 0, 0))
	gm := w.listen("gm")
	w.store.taken()
	for range 3 {
		w.ticks.tick(30 * time.Second)
		w.quiet(gm)
		if reads := w.store.taken(); reads["votes"] > 100 || reads["schedulers"] > 2 {
			t.Errorf("a recheck read %v", reads)
		}
	}
	w.votesElsewhere(own, 1, w.options.Now())
	w.ticks.tick(30 * time.Second)
	gm.wantsNamed(own)
}

// TestStream_MoreVotesThanAScanReads_AreAllFound: what one scan leaves, the next
// ones find.
func TestStream_MoreVotesThanAScanReads_AreAllFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	crowded := w.newPolls("crowded", 1, 0, poll.Poll{CreatorID: "eve"})[0]
	gm := w.listen("gm")
	at := w.options.Now()
	w.votesElsewhere(crowded, 1005, at)
	w.votesElsewhere(made.ID, 1, at.Add(time.Millisecond))
	w.store.taken()
	w.ticks.tick(30 * time.Second)
	w.quiet(gm)
	if reads := w.store.taken(); reads["votes"] != 1000 {
		t.Errorf("one scan read %v", reads)
	}
	w.ticks.tick(30 * time.Second)
	gm.wantsPoll("gm", made.ID)
}

// TestStream_SlotsWrittenAfterTheirPoll_AreSent: the web app writes a poll first,
// and its slots later.
func TestStream_SlotsWrittenAfterTheirPoll_AreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gm := w.listen("gm")
	id := w.newPolls("late", 1, 0, poll.Poll{CreatorID: "gm"})[0]
	w.ticks.tick(30 * time.Second)
	gm.wantsNamed(id)
	w.elsewhere(func(tx store.Tx) error {
		return tx.Create(poll.SlotPath(id, "s1"), poll.EncodeSlot(poll.Slot{Start: begin, End: begin.Add(time.Hour)}))
	})
	for range 2 {
		w.ticks.tick(30 * time.Second)
	}
	gm.wantsNamed(id)
	w.store.taken()
	for range 3 {
		w.ticks.tick(30 * time.Second)
		w.quiet(gm)
	}
	if reads := w.store.taken(); reads["slots"] != 0 {
		t.Errorf("rechecks after it read %v", reads)
	}
}

// TestStream_MoreOwnPollsThanItKeeps_ChecksTheNewest: more polls of one person were
// written at once than are kept for a stream.
func TestStream_MoreOwnPollsThanItKeeps_ChecksTheNewest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.listen("gm")
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range 300 {
			p := poll.Poll{CreatorID: "eve", ParticipantIDs: []string{"eve", "gm"}, CreatedAt: begin.Add(time.Duration(i) * time.Second)}
			if err := tx.Create(poll.Path(fmt.Sprintf("many%03d", i)), poll.New(p)); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range 80 {
		l.wantsNamed(fmt.Sprintf("many%03d", 299-i))
	}
	w.quiet(l)
	w.rename("many000", "New") // it concerns gm still
	l.wantsNamed("many000")
}
