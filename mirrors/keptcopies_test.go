package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// newKeptWorld has the session of a group shown at home, whose document went as its owner kept
// the copy. The connection is ending.
func newKeptWorld(t *testing.T) (w *world, kept mirror.Mirror, c mirror.Connection) {
	t.Helper()
	w = newMirroringWorld(t)
	w.connect(home, gm)
	w.put(w.canonicalSession())
	w.run(2 * time.Minute)
	w.wantTitles(home, "Session")
	kept = w.only()
	w.keep(kept)
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(mirror.Path(kept.ID)) }))
	return w, kept, mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm, CreatedAt: stageStart}
}

func TestEndConnection_KeptCopies_AreDeletedWithIt(t *testing.T) {
	t.Parallel()
	w, kept, c := newKeptWorld(t)
	w.must(w.service.EndConnection(w.ctx, c, cause))
	w.run(2 * time.Minute)
	w.nothingLeft()
	for _, path := range []store.Path{mirror.KeptPath(kept.ID), mirror.ConnectionPath(c.GroupID, c.AccountID)} {
		doc, err := w.memory.Get(w.ctx, path)
		w.must(err)
		if doc.Exists() {
			t.Errorf("%s is left: %v", path, doc.Data)
		}
	}
}

// A copy that was planned anew keeps the mirror that it got, once that names an event of its own.
func TestRestoreKept_CopyPlannedAnew_TakesTheLaterDocument(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		planned  func(m *mirror.Mirror)
		restored bool
	}{
		"not named yet":         {func(m *mirror.Mirror) { m.EventID = "" }, true},
		"of an earlier event":   {func(m *mirror.Mirror) { m.Generation-- }, true},
		"of the same event":     {func(*mirror.Mirror) {}, false},
		"of an event after it":  {func(m *mirror.Mirror) { m.Generation++ }, false},
		"not planned, but kept": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, kept, c := newKeptWorld(t)
			if row.planned != nil {
				now := kept
				now.Wanted = "since"
				row.planned(&now)
				w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Set(mirror.Path(now.ID), mirror.Encode(now)) }))
			}
			w.must(w.service.EndConnection(w.ctx, c, cause))
			for _, want := range []bool{true, false} {
				if more, err := w.service.RestoreKept(w.ctx, c); err != nil || more != want {
					t.Errorf("there is more: %t, %v; want %t", more, err, want)
				}
			}
			if got := w.only(); (got.Wanted == kept.Wanted) != row.restored {
				t.Errorf("the mirror is %+v", got)
			}
		})
	}
}

// Copies stay as long as their account is connected again.
func TestRestoreKept_ConnectedAgain_LeavesThem(t *testing.T) {
	t.Parallel()
	w, kept, c := newKeptWorld(t)
	if more, err := w.service.RestoreKept(w.ctx, c); err != nil || more {
		t.Errorf("there is more: %t, %v", more, err)
	}
	doc, err := w.memory.Get(w.ctx, mirror.KeptPath(kept.ID))
	w.must(err)
	if !doc.Exists() || len(w.mirrors()) > 0 {
		t.Errorf("the mirrors are %+v, the kept copy is %v", w.mirrors(), doc.Data)
	}
	w.must(w.service.EndConnection(w.ctx, c, cause))
	w.run(2 * time.Minute)
	w.nothingLeft()
}

// More copies than a page, in two accounts that end at once.
func TestEndConnection_ManyCopies_AllAreDeleted(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.connect(home, gm)
	w.connect(club, gm)
	for i := range 22 {
		session := w.canonicalSession()
		session.ID = fmt.Sprintf("evt_%02d", i)
		session.ICalUID = session.ID
		w.put(session)
	}
	w.run(2 * time.Minute)
	for _, account := range []string{home, club} {
		if shown := w.titles(account); len(shown) != 22 {
			t.Fatalf("%s shows %v", account, shown)
		}
	}
	w.replan()
	w.runWork(mirrors.PlanKind, gm)
	if at := w.personPlan().PlanDue; !at.IsZero() {
		t.Errorf("planned, it is due again at %v", at)
	}
	for _, account := range []string{home, club} {
		w.must(w.service.EndConnection(w.ctx, mirror.Connection{GroupID: "party", AccountID: account, OwnerID: gm}, cause))
	}
	w.run(2 * time.Minute)
	left, err := mirror.EndingConnectionsOf(w.ctx, w.memory, gm)
	w.must(err)
	if len(left) > 0 || len(w.mirrors()) > 0 || len(w.titles(home))+len(w.titles(club)) > 0 {
		t.Errorf("left are %+v; the mirrors are %+v", left, w.mirrors())
	}
}

func TestEndConnection_OfOneOfTwoAccounts_StopsFollowingIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(home, gm)
	w.connect(club, gm)
	w.must(w.service.Rewrite(w.ctx, gm, cause))
	w.settle()
	w.must(w.service.EndConnection(w.ctx, mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm}, cause))
	w.settle()
	if home, club := w.calendar(home), w.calendar(club); home.Wanted() || !club.Wanted() {
		t.Errorf("followed are home: %t, club: %t", home.Wanted(), club.Wanted())
	}
}
