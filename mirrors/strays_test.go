package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
)

// newStrayWorld is a world with a stray at home that a sync run of an account just found.
func newStrayWorld(t *testing.T, finder string) (w *world, stray gcal.Event) {
	t.Helper()
	w = newMirroringWorld(t)
	w.reader(annes, ana)
	w.stray(1, "here")
	stray = w.atHome()
	_, _, err := w.service.Observe(w.ctx, gcal.Ref{Account: finder, Calendar: homeMail}, stray, true, cause)
	w.must(err)
	if m := w.strayOf(finder); m.State != mirror.Deleting || m.EventID != stray.ID || m.CreatedAt.IsZero() {
		t.Fatalf("the stray is %+v", m)
	}
	return w, stray
}

// strayOf is the stray that an account found; zero if there is none.
func (w *world) strayOf(account string) mirror.Mirror {
	w.Helper()
	found, err := store.Collect(mirror.IntoAccount(w.ctx, w.memory, account))
	w.must(err)
	for _, m := range found {
		if m.IsStray() {
			return m
		}
	}
	return mirror.Mirror{}
}

func (w *world) keep(m mirror.Mirror) {
	w.Helper()
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Set(mirror.KeptPath(m.ID), mirror.Encode(m)) }))
}

func (s *stage) status(account string, status accounts.Status) {
	s.Helper()
	s.set(accounts.Path(account), store.Set("status", string(status)))
}

// The journal of strays says which were found, and when one was deleted.
func TestStray_FoundAndDeleted_IsInTheJournal(t *testing.T) {
	t.Parallel()
	w, _ := newStrayWorld(t, home)
	if got, want := w.lastEntry(mirror.StrayEvent), "stray >DELETING no document names it"; got != want {
		t.Errorf("the journal ends with %q, want %q", got, want)
	}
	w.run(5 * time.Minute)
	if got, want := w.lastEntry(mirror.StrayEvent), "deleted DELETING> "; got != want {
		t.Errorf("the journal ends with %q, want %q", got, want)
	}
}

// Whether a document names a stray by now is asked again where that could not be read.
func TestStray_DocumentUnread_IsDeletedLater(t *testing.T) {
	t.Parallel()
	w, _ := newStrayWorld(t, home)
	m := w.strayOf(home)
	w.must(w.clock.Advance(3 * time.Minute))
	w.fallible().NoneUnread(t, 2, func() error {
		_, err := w.service.Outbox.Run(w.ctx, mirrors.WriteKind, m.ID)
		return err
	})
	w.nothingLeft()
}

// A stray is deleted as it was observed, and not if a document names it by then.
func TestStray_ThatIsNoneAnyMore_Stays(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(w *world, id string){
		"changed": func(w *world, _ string) { w.change(w.atHome(), "Mine") },
		"named": func(w *world, id string) {
			m := mirror.Mirror{
				ID: "mir_new", OwnerID: ana, CanonicalID: "evt_new", TargetAccountID: annes, TargetCalendarID: homeMail, EventID: id,
				State: mirror.Pending,
			}
			w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Set(mirror.Path(m.ID), mirror.Encode(m)) }))
		},
		"kept": func(w *world, id string) {
			w.keep(mirror.Mirror{ID: "mir_kept", OwnerID: gm, TargetAccountID: home, TargetCalendarID: homeMail, EventID: id})
		},
	} {
		for how, end := range map[string]func(w *world){
			"its turn comes":          func(w *world) { w.run(5 * time.Minute) },
			"its account is unlinked": func(w *world) { w.must(w.leave(home, 0)) },
		} {
			t.Run(name+" when "+how, func(t *testing.T) {
				t.Parallel()
				w, stray := newStrayWorld(t, home)
				before(w, stray.ID)
				end(w)
				w.atHome()
				if left := w.mirrors(); len(left) > 0 {
					t.Errorf("left are %+v", left)
				}
			})
		}
	}
}

// Google does not answer the one call that would delete it.
func TestStray_ThatGoogleKeepsOnce_IsDeletedLater(t *testing.T) {
	t.Parallel()
	w, _ := newStrayWorld(t, home)
	w.must(w.google.Control().Plant(control.Rule{Match: "events.delete", Status: 503, Times: 1}))
	w.run(10 * time.Minute)
	if left := w.google.Control().Rules(); len(left) > 0 {
		t.Errorf("it was not called: %v", left)
	}
	w.nothingLeft()
}

func TestStray_WhoseAccountIsUnlinked_IsDeleted(t *testing.T) {
	t.Parallel()
	w, _ := newStrayWorld(t, home)
	w.must(w.leave(home, 0))
	w.nothingLeft()
}

// Who found a stray first may be unable to delete it, and keeps nobody else from that.
func TestStray_ItsFinderCannotDelete_IsDeletedOtherwise(t *testing.T) {
	t.Parallel()
	for _, finder := range []struct {
		what, account string
		unable        func(w *world)
		left          bool // it waits for the account
	}{
		{"another's, revoked", annes, func(w *world) { w.status(annes, accounts.Revoked) }, true},
		{"another's, now a reader", annes, func(w *world) { w.must(w.google.Share(homeMail, annes, google.Reader)) }, false},
		{"its own, once revoked", home, func(w *world) {
			w.status(annes, accounts.Revoked)
			w.status(home, accounts.Revoked)
			w.run(5 * time.Minute)
			w.status(home, accounts.Active)
		}, true},
	} {
		for how, find := range map[string]func(w *world){
			"a sync run":         func(w *world) { w.relist(home); w.sync(home); w.run(5 * time.Minute) },
			"the reconciliation": func(w *world) { w.reconcile(false) },
		} {
			if finder.account == home && how == "a sync run" {
				continue // it has the stray already
			}
			t.Run(finder.what+": "+how, func(t *testing.T) {
				t.Parallel()
				w, _ := newStrayWorld(t, finder.account)
				finder.unable(w)
				w.run(5 * time.Minute)
				w.atHome()
				if left := w.strayOf(finder.account); (left.ID != "") != finder.left || left.State == mirror.Failed {
					t.Errorf("left of its finder is %+v", left)
				}
				find(w)
				w.wantTitles(home)
			})
		}
	}
}

func TestStray_FoundByAReader_IsLeftToWriters(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.reader(annes, ana)
	w.must(w.google.Share(homeMail, annes, google.Reader))
	w.stray(1, "here")
	w.google.Control().ResetCalls()
	w.syncShared(annes)
	w.status(home, accounts.Revoked)
	if did := w.reconcile(true); did.Calendars == 0 || did.Failed > 0 || did.Strays > 0 {
		t.Errorf("it did %+v", did)
	}
	if n := w.google.Control().Calls()["events.delete"]; n > 0 {
		t.Errorf("it tried to delete it %d times", n)
	}
	if m := w.strayOf(annes); m.ID != "" || len(w.canonical(annes)) > 0 {
		t.Errorf("it has the stray %+v, and is the origin of %+v", m, w.canonical(annes))
	}
	w.status(home, accounts.Active)
	w.relist(home)
	w.sync(home)
	w.run(5 * time.Minute)
	w.wantTitles(home)
}

// Many strays rather mean that documents were lost. Those that the sync deletes
// are no more than the daily job deletes without a guard.
func TestSync_ManyStrays_AreLeftToTheReconciliation(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.strays(12)
	w.relist(home)
	w.sync(home)
	w.run(time.Minute)
	w.relist(home)
	w.sync(home)
	w.run(5 * time.Minute)
	if left := w.shown(home, homeMail); len(left) != 12-w.service.HoldMin || len(w.mirrors()) > 0 {
		t.Errorf("home shows %d events; the mirrors are %+v", len(left), w.mirrors())
	}
	if did := w.reconcile(false); did.Guarded != 12-w.service.HoldMin {
		t.Errorf("it did %+v", did)
	}
}

func TestSync_StraysThatWaitElsewhere_DelayNone(t *testing.T) {
	t.Parallel()
	for _, at := range []gcal.Ref{{Account: club, Calendar: homeMail}, {Account: home, Calendar: team}} {
		w := newMirroringWorld(t)
		for n := range w.service.HoldMin {
			m := mirror.Mirror{
				ID: fmt.Sprint("mir_waits", n), OwnerID: gm, CanonicalID: mirror.StrayEvent, TargetAccountID: at.Account, TargetCalendarID: at.Calendar,
				EventID: fmt.Sprint("waits", n), State: mirror.Deleting,
			}
			w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Set(mirror.Path(m.ID), mirror.Encode(m)) }))
		}
		w.stray(1, "here")
		w.sync(home)
		w.run(5 * time.Minute)
		w.wantTitles(home)
	}
}

// A mirror may go between Google's answer to its insert and the commit, and its event be kept.
func TestWriter_ForgottenDuringItsInsert_DeletesNothingKept(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"forgotten", "kept", "changed"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			s.writer.Google.(*googlePoints).after = func() {
				m := s.only()
				s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(mirror.Path(m.ID)) }))
				switch what {
				case "kept":
					w := &world{stage: s}
					w.keep(m)
				case "changed":
					s.change(s.atHome(), "Mine")
				}
			}
			s.run(time.Minute)
			if shown := s.shown(home, homeMail); (len(shown) > 0) != (what != "forgotten") || len(s.mirrors()) > 0 {
				t.Errorf("home shows %+v; the mirrors are %+v", shown, s.mirrors())
			}
		})
	}
}

// An insert that began before the account was unlinked may arrive after the first attempt to
// delete its event.
func TestLeave_DuringAnInsert_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	for _, arrives := range []bool{true, false} {
		t.Run(fmt.Sprint(arrives), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", Status: 503, Times: 4}))
			s.event("e1", "Stand-up")
			s.run(4 * time.Minute)
			calls := s.writer.Google.(*googlePoints)
			calls.before = func() {
				if err := s.leave(home, 0); !fault.Is(err, fault.Unavailable) {
					t.Errorf("the account was left: %v", err)
				}
				if !arrives {
					points.Die()
				}
			}
			calls.after = points.Die
			if points.Survives(func() { s.run(10 * time.Minute) }) {
				t.Fatal("it lived")
			}
			s.restart()
			s.must(s.clock.Advance(time.Minute))
			if err := s.leave(home, time.Minute); (err == nil) != arrives {
				t.Errorf("after a minute: %v", err)
			}
			if m := s.only(); (m.EventID == "") != arrives {
				t.Errorf("after a minute the mirror is %+v", m)
			}
			s.must(s.clock.Advance(time.Minute))
			s.must(s.leave(home, 2*time.Minute))
			s.plan("e1@google.com")
			s.run(time.Minute)
			s.nothingLeft()
		})
	}
}

func TestLeave_AfterItsCalendarWent_IsDoneAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.event("e1", "Stand-up")
	s.run(2 * time.Minute)
	s.deleteCalendar(s.overlays()[0].ID)
	s.must(s.leave(home, 0))
}
