package api_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
)

// TestStreams_SharedPollEditedElsewhere_IsReadOnce: the streams find the edit at
// their rechecks, and none has read the poll before all found it.
func TestStreams_SharedPollEditedElsewhere_IsReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	people := w.people(20)
	w.writeGroup("party", "ana", people...)
	shared := w.newPolls("shared", 1, 50, poll.Poll{CreatorID: "ana", GroupID: "party"})[0]
	var listeners []*listener
	for _, id := range people {
		listeners = append(listeners, w.listen(id))
	}
	w.elsewhere(func(tx store.Tx) error { return tx.Update(poll.Path(shared), poll.Set("title", "New")) })
	begun, release, once := make(chan struct{}), make(chan struct{}), new(sync.Once)
	w.store.reading = func(_ context.Context, path store.Path) error {
		if path == poll.Path(shared) {
			once.Do(func() { close(begun) })
			<-release
		}
		return nil
	}
	w.store.taken()
	w.ticks.tick(30 * time.Second)
	<-begun
	for w.store.counted("schedulers") < len(people) { // each lists it
		runtime.Gosched()
	}
	close(release)
	for _, l := range listeners {
		l.wantsNamed(shared)
	}
	if reads := w.store.taken(); reads["schedulers"] != len(people)+1 || reads["slots"] != 50 {
		t.Errorf("20 streams read %v", reads)
	}
}

// TestStreams_VoteReadByOneStream_IsSentToAll: a stream to which a poll becomes
// visible reads it whole, with a vote of another process that other streams have not
// sent yet.
func TestStreams_VoteReadByOneStream_IsSentToAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.writeGroup("party", "gm", "gm")
	made := w.newPoll(map[string]any{"group_id": "party"})
	gm, cho := w.listen("gm"), w.listen("cho")
	w.writeGroup("party", "gm", "gm", "cho")
	w.votesElsewhere(made.ID, 1, w.options.Now())
	w.rename(made.ID, made.Title) // as it is
	cho.wantsPoll("cho", made.ID)
	w.ticks.tick(30 * time.Second)
	gm.wantsPoll("gm", made.ID)
}

// TestStream_LostChanges_ReadsChangedPollsAlone: more polls that name gm were
// written at once than are kept for a stream.
func TestStream_LostChanges_ReadsChangedPollsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.newPolls("own", 50, 20, poll.Poll{CreatorID: "gm"})
	w.elsewhere(func(tx store.Tx) error { return tx.Create(poll.VotePath(own[8], "ana"), map[string]any{}) })
	l := w.listen("gm")
	w.store.taken()
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range 300 {
			p := poll.Poll{CreatorID: "eve", ParticipantIDs: []string{"eve", "gm"}, CreatedAt: begin.Add(time.Duration(i) * time.Second)}
			if err := tx.Create(poll.Path(fmt.Sprintf("many%03d", i)), poll.New(p)); err != nil {
				return err
			}
		}
		if err := tx.Delete(poll.VotePath(own[8], "ana")); err != nil {
			return err
		}
		vote := poll.Vote{UserID: "ana", NoTimesWork: true, UpdatedAt: begin}
		return tx.Merge(poll.VotePath(own[7], "ana"), poll.VoteUpdates(vote)...)
	}))
	for _, id := range []string{own[8], own[7]} { // the newest first
		l.wantsNamed(id)
	}
	for i := range 30 {
		l.wantsNamed(fmt.Sprintf("many%03d", 299-i))
	}
	w.quiet(l)
	if reads := w.store.taken(); reads["slots"] != 2*20 {
		t.Errorf("the stream read %v", reads)
	}
}

// TestStream_VotesAmongLostChanges_AreSent: more polls were written than the
// process keeps, a vote and the end of another among them.
func TestStream_VotesAmongLostChanges_AreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	voted, left := w.newPoll(nil), w.newPoll(nil)
	unchanged := w.newPolls("own", 20, 20, poll.Poll{CreatorID: "gm"})
	w.want(200, call{as: "ana", method: "PUT", path: "/v1/polls/" + left.ID + "/votes/me", body: map[string]any{"votes": map[string]string{}, "no_times_work": true}}, nil)
	gm := w.listen("gm")
	begun, release, once := make(chan struct{}), make(chan struct{}), new(sync.Once)
	w.store.reading = func(_ context.Context, path store.Path) error {
		if path == poll.Path("first") {
			once.Do(func() { close(begun) })
			<-release
		}
		return nil
	}
	w.writeHere("first", 1)
	<-begun // from here on nobody takes changes
	w.want(200, call{as: "ana", method: "PUT", path: "/v1/polls/" + voted.ID + "/votes/me", body: map[string]any{"votes": map[string]string{}, "no_times_work": true}}, nil)
	w.want(200, call{as: "ana", method: "POST", path: "/v1/polls/" + left.ID + "/leave"}, nil)
	w.writeHere("many", changes.Held+1)
	w.store.taken()
	close(release)
	gm.wantsPoll("gm", left.ID)
	w.ticks.tick(30 * time.Second)
	gm.wantsPoll("gm", voted.ID)
	if reads := w.store.taken(); reads["slots"] >= 20 {
		t.Errorf("with %d polls unchanged the stream read %v", len(unchanged), reads)
	}
}

// writeHere writes polls of nobody who listens, in this process.
func (w *world) writeHere(prefix string, n int) {
	w.t.Helper()
	must(w.t, w.changes.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range n {
			id := fmt.Sprintf("%s%04d", prefix, i)
			if n == 1 {
				id = prefix
			}
			if err := tx.Create(poll.Path(id), poll.New(poll.Poll{CreatorID: "eve"})); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestStream_LateSlotsOfAKnownPoll_AreSent: the web app writes the slots after
// the stream has learned of the poll otherwise than by a recheck.
func TestStream_LateSlotsOfAKnownPoll_AreSent(t *testing.T) {
	t.Parallel()
	for name, learn := range map[string]func(w *world, id func() string) (*listener, string){
		"from its opening": func(w *world, id func() string) (*listener, string) {
			made := id()
			return w.listen("gm"), made
		},
		"from an edit of this process": func(w *world, id func() string) (*listener, string) {
			l, made := w.listen("gm"), id()
			w.rename(made, "New")
			l.wantsNamed(made)
			return l, made
		},
		"from a vote of this process": func(w *world, id func() string) (*listener, string) {
			l, made := w.listen("gm"), id()
			must(w.t, w.changes.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
				vote := poll.Vote{UserID: "ana", NoTimesWork: true, UpdatedAt: begin.AddDate(0, 0, -1)}
				return tx.Merge(poll.VotePath(made, "ana"), poll.VoteUpdates(vote)...)
			}))
			l.wantsNamed(made)
			return l, made
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l, id := learn(w, func() string {
				p := poll.Poll{CreatorID: "gm", CreatedAt: w.options.Now()}
				w.elsewhere(func(tx store.Tx) error { return tx.Create(poll.Path("late"), poll.New(p)) })
				return "late"
			})
			w.elsewhere(func(tx store.Tx) error {
				return tx.Create(poll.SlotPath(id, "s1"), poll.EncodeSlot(poll.Slot{Start: begin, End: begin.Add(time.Hour)}))
			})
			for range 3 {
				w.ticks.tick(30 * time.Second)
			}
			l.wantsNamed(id)
		})
	}
}
