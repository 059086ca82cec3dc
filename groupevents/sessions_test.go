package groupevents_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/internal/test/points"
	"questscheduler/rules"
)

// newSharingWorld has everybody connected, and a session of ana's in her calendar that the
// group shares.
func newSharingWorld(t *testing.T) *world {
	t.Helper()
	w := newConnectedWorld(t)
	w.finalised(mirrortest.Start.Add(9 * time.Hour))
	w.share(true)
	w.Settle()
	w.shows("ben", "Session")
	return w
}

// finalised has a poll of ana's finalised at a time.
func (w *world) finalised(start time.Time) {
	w.Helper()
	at := rules.Timed(start, start.Add(time.Hour))
	w.Set(poll.Path("p1"), store.Set("creatorId", "ana"), store.Set("questingGroupId", party), store.Set("status", string(rules.Finalized)),
		store.Set("title", "Session"), store.Set("timezone", "Europe/Zurich"), store.Set("googleEventId", "session1"),
		store.Update{Path: poll.SyncField("lastEventFingerprint"), Value: at.String()})
	entry := poll.IndexEntry{EventID: "session1", PollID: "p1", AccountID: "ana", CreatorID: "ana", CalendarID: mirrortest.Ref("ana").Calendar}
	w.must(w.Documents.Run(w.T.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Set(poll.IndexPath(entry.EventID), poll.EncodeIndex(entry))
	}))
}

// share turns sharing on or off; where that fails, gm tries once more.
func (w *world) share(share bool) {
	w.Helper()
	err := w.SetSharing(party, "gm", share)
	if err != nil {
		err = w.SetSharing(party, "gm", share)
	}
	w.must(err)
}

// follow has the poll's session compared with what the group shares, as after its change.
func (w *world) follow() {
	w.Helper()
	id, updates := poll.SessionWorkID("p1"), poll.SessionWorkUpdates("p1", party, "ref", "trc_test", w.Clock.Now())
	w.Set(poll.GroupWorkPath(id), updates...)
	w.Outbox.Soon(w.T.Context(), poll.GroupWorkKind, id, w.Clock.Now())
	w.World.Run(10 * time.Minute)
}

// changesOfSession are what becomes of a shared session, and what ben's calendar then shows.
var changesOfSession = map[string]struct {
	change func(w *world)
	shows  []string
}{
	"moved": {func(w *world) {
		w.finalised(mirrortest.Start.Add(33 * time.Hour))
		w.follow()
	}, []string{"Session"}},
	"cancelled": {func(w *world) {
		w.Set(poll.Path("p1"), store.Set("status", string(rules.Cancelled)))
		w.follow()
	}, nil},
	"of another group": {func(w *world) {
		w.Set(poll.Path("p1"), store.Set("questingGroupId", "else"))
		w.follow()
	}, nil},
	"shared no more": {func(w *world) {
		w.share(false)
		w.World.Run(10 * time.Minute)
	}, nil},
}

func TestSharedSession_Changed_IsFollowedThoughReadsFail(t *testing.T) {
	t.Parallel()
	for name, c := range changesOfSession {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 0; ; n++ {
				w, p := newSharingWorld(t), &points.Points{}
				w.Groups.Store = &points.Reads{Store: w.Groups.Store, Points: p}
				p.FailAt(n)
				c.change(w)
				w.shows("ben", c.shows...)
				if t.Failed() {
					t.Fatalf("that is with read %d failing", n)
				}
				if n > 0 && !p.Reached() {
					points.Struck(t, n-1, 5)
					return
				}
			}
		})
	}
}
