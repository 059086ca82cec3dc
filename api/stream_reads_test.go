package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
)

// elsewhere writes as another process over the same store does: no stream is woken.
func (w *world) elsewhere(write func(tx store.Tx) error) {
	w.t.Helper()
	must(w.t, w.store.Store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }))
}

// people signs in n more persons, and lists their ids.
func (w *world) people(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("person%02d", i)
		w.tokens[ids[i]] = w.token(signin.Person{UID: ids[i]})
	}
	return ids
}

// newPolls writes n polls of a creator, each with slots, from an hour before the
// world began.
func (w *world) newPolls(prefix string, n, slots int, p poll.Poll) []string {
	w.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%03d", prefix, i)
		p.Title, p.CreatedAt = ids[i], begin.Add(-time.Hour).Add(time.Duration(i)*time.Second)
		w.elsewhere(func(tx store.Tx) error {
			if err := tx.Create(poll.Path(ids[i]), poll.New(p)); err != nil {
				return err
			}
			for slot := range slots {
				at := begin.AddDate(0, 0, slot)
				s := poll.Slot{Start: at, End: at.Add(time.Hour)}
				if err := tx.Create(poll.SlotPath(ids[i], fmt.Sprintf("s%03d", slot)), poll.EncodeSlot(s)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return ids
}

func (w *world) writeGroup(id, creator string, members ...string) {
	w.t.Helper()
	w.elsewhere(func(tx store.Tx) error {
		return tx.Merge(poll.GroupPath(id), append(poll.GroupUpdates(poll.Group{MemberIDs: members}), poll.Set("creatorId", creator))...)
	})
}

// quiet ends the test where a stream sends anything before its next heartbeat.
func (w *world) quiet(listeners ...*listener) {
	w.t.Helper()
	w.ticks.tick(15 * time.Second)
	for _, l := range listeners {
		l.wants("comment")
	}
}

// rename writes a poll's title, in this process.
func (w *world) rename(pollID, title string) {
	w.t.Helper()
	must(w.t, w.changes.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(poll.Path(pollID), poll.Set("title", title))
	}))
}

func TestStreams_ChangeOfAnothersPoll_IsReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	gm := w.listen("gm")
	var others []*listener
	for _, id := range w.people(50) {
		others = append(others, w.listen(id))
	}
	w.store.taken()
	w.rename(made.ID, "New")
	gm.wants("poll")
	w.ticks.tick(15 * time.Second)
	for _, l := range others {
		l.wants("comment")
	}
	// Once for all, and once more for the ETag of whom it concerns.
	if reads := w.store.taken(); reads["schedulers"] != 2 || reads["slots"] != len(made.Slots) {
		t.Errorf("51 streams, of which 50 are not concerned, read %v", reads)
	}
}

// writeHere writes polls of nobody who listens, in this process.
func (w *world) writeHere(ids ...string) {
	w.t.Helper()
	must(w.t, w.changes.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, id := range ids {
			if err := tx.Create(poll.Path(id), poll.New(poll.Poll{CreatorID: "eve"})); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestStream_StrangersGroups_ReadsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for group := range 8 {
		id := fmt.Sprintf("00group%d", group)
		w.writeGroup(id, "eve", "gm")
		w.newPolls(id+"-", 50, 20, poll.Poll{CreatorID: "eve", GroupID: id})
	}
	own := w.newPolls("own", 30, 1, poll.Poll{CreatorID: "gm"})
	joined := w.newPolls("joined", 30, 1, poll.Poll{CreatorID: "ana", ParticipantIDs: []string{"ana", "gm"}})
	w.store.taken()

	l := w.listen("gm")
	bounded := func(what string) {
		t.Helper()
		if reads := w.store.taken(); total(reads) > 150 || reads["slots"] > 0 || reads["votes"] > 0 {
			t.Errorf("%s read %v", what, reads)
		}
	}
	bounded("the opening")
	for range 3 {
		w.ticks.tick(30 * time.Second)
		w.quiet(l)
		bounded("a recheck that finds no change")
	}
	for _, id := range []string{own[0], joined[0]} { // the oldest
		w.elsewhere(func(tx store.Tx) error { return tx.Update(poll.Path(id), poll.Set("title", "New")) })
		w.ticks.tick(30 * time.Second)
		l.wantsNamed(id)
	}
}

func TestStream_ManyGroups_ReadsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for group := range 60 {
		id := fmt.Sprintf("00group%02d", group)
		w.writeGroup(id, "eve", "gm")
		w.newPolls(id+"-", 3, 0, poll.Poll{CreatorID: "eve", GroupID: id})
	}
	w.writeGroup("zz-own", "gm", "ana")
	shared := w.newPolls("shared", 1, 1, poll.Poll{CreatorID: "ana", GroupID: "zz-own"})[0]
	w.store.taken()
	l := w.listen("gm")
	if reads := w.store.taken(); reads["questingGroups"] > 21 || reads["schedulers"] > 100 {
		t.Errorf("the opening read %v", reads)
	}
	w.elsewhere(func(tx store.Tx) error { return tx.Update(poll.Path(shared), poll.Set("title", "New")) })
	w.ticks.tick(30 * time.Second)
	l.wantsNamed(shared)
}

// TestStreams_HiddenVotes_EachGetsTheirOwnETag: GET answers each person otherwise.
func TestStreams_HiddenVotes_EachGetsTheirOwnETag(t *testing.T) {
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

func TestStream_JoinedAndRemoved_HearsBoth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.writeGroup("party", "gm", "cho")
	made := w.newPoll(nil)
	eve, cho, ben := w.listen("eve"), w.listen("cho"), w.listen("ben")
	write := func(group any, participants ...any) {
		must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Update(poll.Path(made.ID), poll.Set("participantIds", participants), poll.Set("questingGroupId", group))
		}))
	}
	write("party", "gm", "eve")
	eve.wantsPoll("eve", made.ID)
	cho.wantsPoll("cho", made.ID)
	write(nil, "gm")
	eve.wantsRemoved(made.ID)
	cho.wantsRemoved(made.ID)
	w.quiet(eve, cho, ben)
}

// TestStreams_PollOfAnImpossibleGroup_EndsNone: the web app may write anything for
// a group's id.
func TestStreams_PollOfAnImpossibleGroup_EndsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gm, eve := w.listen("gm"), w.listen("eve")
	p := poll.Poll{CreatorID: "eve", ParticipantIDs: []string{"gm"}, GroupID: "a/b", CreatedAt: begin}
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(poll.Path("impossible"), poll.New(p))
	}))
	gm.wantsNamed("impossible")
	eve.wantsNamed("impossible")
	w.ticks.tick(30 * time.Second)
	w.quiet(gm, eve)
}
