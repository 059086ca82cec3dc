package mirrors_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// wantLog fails where the log has a line this often, or not.
func (w *world) wantLog(line string, times int) {
	w.Helper()
	if got := strings.Count(w.log.String(), line); got != times {
		w.Errorf("%q is logged %d times, want %d:\n%s", line, got, times, w.log.String())
	}
}

// An event that was not read may be one that is due.
func TestPlanDue_DocumentUnread_IsNotDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	w.fallible().NoneUnread(t, 15, func() error {
		_, err := w.service.Outbox.Run(w.ctx, mirrors.EventKind, session.ID)
		return err
	})
	w.settle()
	w.wantTitles(club, "Session")
	if due := w.planAt(session.ID); !due.IsZero() {
		t.Errorf("it is due again at %v", due)
	}
}

// The store fails when an event that cannot be planned is put off.
func TestPlanDue_NotPutOff_IsRepeated(t *testing.T) {
	t.Parallel()
	w, r, session := dueSession(t, fault.TooLarge)
	p := w.fallible()
	r.Store, w.service.Store = w.service.Store, r
	r.refused = func() { p.FailAt(1) }
	if _, err := w.service.Outbox.Run(w.ctx, mirrors.EventKind, session.ID); !fault.Is(err, fault.Unavailable) {
		t.Errorf("it gave %v", err)
	}
}

// The end of the program says nothing about the event.
func TestPlanDue_WhenTheProgramStops_IsNotPutOff(t *testing.T) {
	t.Parallel()
	w, r, session := dueSession(t, fault.TooLarge)
	ctx, stop := context.WithCancel(w.ctx)
	r.refused = stop
	if _, err := w.service.Outbox.Run(ctx, mirrors.EventKind, session.ID); err == nil {
		t.Error("it counts as done")
	}
	w.wantLog("event not planned", 0)
	if at := w.planAt(session.ID); !at.Equal(session.PlanAt) {
		t.Errorf("it is due at %v", at)
	}
}

// A change while an event is planned may come too late for it, and is planned again.
func TestPlanDue_AChangeDuringIt_StaysDue(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(e *mirror.Event){
		"of what it shows": func(e *mirror.Event) { e.Version++ },
		"of its time":      func(e *mirror.Event) { e.PlanAt = e.PlanAt.Add(time.Second) },
	} {
		for how, planned := range map[string]bool{", it is planned": true, ", it cannot be planned": false} {
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				w, r, session := dueSession(t, fault.TooLarge)
				changed := func() {
					r.refused, w.onWake = nil, nil
					change(&session)
					w.put(session)
				}
				w.must(w.clock.Advance(time.Minute))
				r.refused = changed
				if planned {
					r.uids, w.onWake = nil, changed
				}
				w.runWork(mirrors.EventKind, session.ID)
				if at := w.planAt(session.ID); !at.Equal(session.PlanAt) || r.refused != nil && w.onWake != nil {
					t.Errorf("it is due at %v, want %v", at, session.PlanAt)
				}
			})
		}
	}
}

// A cancelled session is forgotten behind its last copy, and no other one.
func TestPlanEvent_OfASession_IsKeptWhileItOrACopyIsThere(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		cancelled, shown, stays bool
		due                     time.Duration // 0: never
	}{
		"held, shown":      {false, true, true, 0},
		"held, not shown":  {false, false, true, 0},
		"cancelled, shown": {true, true, true, time.Hour},
		"cancelled":        {true, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			session := w.canonicalSession()
			w.put(session)
			w.members(gm, ana)
			if row.shown {
				w.connect(club, gm)
				w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
				w.settle()
				w.wantTitles(club, "Session")
			}
			if row.cancelled {
				session.Status = "cancelled"
				session.Version++
				w.put(session)
			}
			w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
			event, err := mirror.LoadEvent(w.ctx, w.memory, session.ID)
			if stays := err == nil; stays != row.stays || err != nil && !fault.Is(err, fault.NotFound) {
				t.Fatalf("it is %+v, %v", event, err)
			}
			var due time.Time
			if row.due > 0 {
				due = w.clock.Now().Add(row.due)
			}
			if !event.PlanAt.Equal(due) {
				t.Errorf("it is due at %v, want %v", event.PlanAt, due)
			}
			w.run(2 * time.Hour)
			if _, err := mirror.LoadEvent(w.ctx, w.memory, session.ID); fault.Is(err, fault.NotFound) != row.cancelled {
				t.Errorf("later it is there: %v", err)
			}
			w.wantLog("work failed", 0)
		})
	}
}

// Somebody who leaves the group and comes back each time would be planned for ever.
func TestPlanUID_OfSomebodyWhoComesAndGoes_GivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	w.party(ana)
	r, turns := &returning{Store: w.service.Store}, 0
	var turn func() // behind each transaction
	turn = func() {
		turns++
		if turns%2 == 1 {
			w.party(gm, ana)
		} else {
			w.party(ana)
		}
		r.back = turn
	}
	r.back, w.service.Store = turn, r
	if err := w.service.PlanUID(w.ctx, gm, session.ICalUID, cause); !fault.Is(err, fault.Unavailable) || turns != 6 {
		t.Errorf("after %d transactions it gave %v", turns, err)
	}
}

// What cannot be planned is tried again, whatever else it has to do with.
func TestPlanUID_OfSomebodyWhoLeft_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	w, r := refusedPlanning(t, fault.TooLarge, 0)
	w.connect(club, gm)
	session := w.pollsSession(func(*mirror.Event) {})
	w.members(ana)
	r.uids[session.ICalUID] = true
	if err := w.service.PlanUID(w.ctx, gm, session.ICalUID, cause); !fault.Is(err, fault.TooLarge) {
		t.Errorf("it gave %v", err)
	}
}

// The cleanup decides about a group that is gone. Until then its copies stay as they are, and what
// does not come from it goes on.
func TestPlanUID_OfAGroupThatIsGone_LeavesItsCopiesAlone(t *testing.T) {
	t.Parallel()
	gone := func(w *world) {
		w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(poll.GroupPath("party")) }))
	}
	t.Run("the session of another", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		session := w.canonicalSession()
		w.put(session)
		w.connect(club, gm)
		w.showIn(home, "band")
		other := w.sessionOf("band", "evt_other", "Concert")
		other.ICalUID = session.ICalUID
		w.put(other)
		w.must(w.service.PlanUID(w.ctx, gm, session.ICalUID, cause))
		w.settle()
		w.wantTitles(club, "Session")
		w.wantTitles(home, "Concert")
		gone(w)
		session.Title, other.Title = "Secret", "Late concert"
		session.Version, other.Version = 2, 2
		w.put(session)
		w.put(other)
		w.must(w.service.PlanUID(w.ctx, gm, session.ICalUID, cause))
		w.settle()
		w.wantTitles(club, "Session")
		w.wantTitles(home, "Late concert")
	})
	t.Run("the person's own", func(t *testing.T) {
		t.Parallel()
		w := newMirroringWorld(t)
		w.connect(club, gm)
		session := w.pollsSession(func(*mirror.Event) {})
		w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
		w.settle()
		w.wantTitles(home, "Session")
		w.wantTitles(club, "Session")
		gone(w)
		w.must(w.service.PlanUID(w.ctx, gm, session.ICalUID, cause))
		w.settle()
		w.wantTitles(home, "Session")
		w.wantTitles(club)
	})
}

// Nobody is connected to the group any more who has a copy still.
func TestPlanEvent_OfSomebodyWithoutAConnection_DeletesTheirCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
	w.settle()
	w.wantTitles(club, "Session")
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(mirror.ConnectionPath("party", club)) }))
	w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
	w.settle()
	w.wantTitles(club)
}

// A connection alone, which outlives the membership for a while, shows nobody the group's events.
func TestEvents_OfAGroupThatThePersonLeft_AreNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	week := mirrors.Range{Start: at(thursday).Time.AddDate(0, 0, -3), End: at(thursday).Time.AddDate(0, 0, 4)}
	for _, belongs := range []bool{true, false} {
		if !belongs {
			w.members(ana)
		}
		listed := 0
		_, err := w.events().List(w.ctx, gm, week, store.Paging{Limit: 9}, func(mirrors.Shown) (bool, error) { listed++; return true, nil })
		w.must(err)
		_, err = w.events().Get(w.ctx, gm, session.ID)
		if (err == nil) != belongs || err != nil && !fault.Is(err, fault.NotFound) || (listed == 1) != belongs {
			t.Errorf("belonging %t, %d are listed, and one of them is %v", belongs, listed, err)
		}
	}
}
