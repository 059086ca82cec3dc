package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// reconcile is a day's reconciliation, and what follows from it.
func (s *stage) reconcile(byHand bool) (did mirrors.Reconciled) {
	s.Helper()
	for at := ""; ; {
		step, next, err := s.writer.Reconcile(s.ctx, scheduler.Cause{Trigger: "timer"}, at, byHand)
		s.must(err)
		did.Calendars += step.Calendars
		did.Checked += step.Checked
		did.Corrected += step.Corrected
		did.Strays += step.Strays
		did.Guarded += step.Guarded
		did.Failed += step.Failed
		at = next
		if at == "" {
			break
		}
	}
	s.runDue()
	return did
}

// followed has home's primary calendar be one that mirroring follows.
func (s *stage) followed(calendarID string) {
	s.Helper()
	s.must(s.memory.Run(s.ctx, func(ctx context.Context, tx store.Tx) error {
		calendar, _, err := calendars.Load(ctx, tx, home, calendarID)
		if err != nil {
			return err
		}
		return tx.Merge(calendars.Path(calendar.Key), calendar.Want(mirror.Consumer, 1, cause.Request(s.clock.Now()), gm)...)
	}))
}

// stray makes an event of an installation that no document names.
func (s *stage) stray(n int, installation string) {
	s.Helper()
	content := gcal.Content{Summary: "Busy", Start: at("2026-03-07T09:00:00Z"), End: at("2026-03-07T10:00:00Z")}
	id := mirror.EventID(installation, fmt.Sprintf("evt_lost%d", n), home, homeMail, 1)
	_, err := s.client.InsertContent(
		s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, id, content, plan.Marks(mirror.Mirror{ID: "mir_lost"}, installation),
	)
	s.must(err)
}

// Each row is what the sync missed, and what the reconciliation makes of it.
func TestReconcile_WhatTheSyncMissed_IsCorrected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missed func(s *stage)
		want   mirrors.Reconciled
		events int
	}{
		"nothing": {func(*stage) {}, mirrors.Reconciled{Calendars: 1, Checked: 2}, 2},
		"a change": {
			func(s *stage) { s.change(s.shown(home, homeMail)[0], "Mine") },
			mirrors.Reconciled{Calendars: 1, Checked: 2, Corrected: 1}, 2,
		},
		"a deletion":  {func(s *stage) { s.delete(s.shown(home, homeMail)[0]) }, mirrors.Reconciled{Calendars: 1, Checked: 2, Corrected: 1}, 2},
		"a stray":     {func(s *stage) { s.stray(1, "here") }, mirrors.Reconciled{Calendars: 1, Checked: 2, Strays: 1}, 2},
		"many strays": {func(s *stage) { s.strays(6) }, mirrors.Reconciled{Calendars: 1, Checked: 2, Guarded: 6}, 8},
		"another's":   {func(s *stage) { s.stray(1, "elsewhere") }, mirrors.Reconciled{Calendars: 1, Checked: 2}, 3},
		"an ordinary event": {func(s *stage) {
			_, err := s.client.InsertContent(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, "dentist1",
				gcal.Content{Summary: "Dentist", Start: at("2026-03-07T09:00:00Z"), End: at("2026-03-07T10:00:00Z")}, nil)
			s.must(err)
		}, mirrors.Reconciled{Calendars: 1, Checked: 2}, 3},
		"a write that is pending": {func(s *stage) { s.event("e1", "Retrospective") }, mirrors.Reconciled{Calendars: 1, Checked: 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.followed(homeMail)
			s.event("e1", "Stand-up")
			s.event("e2", "Review")
			s.run(time.Minute)
			c.missed(s)
			s.must(s.clock.Advance(time.Hour))
			if did := s.reconcile(false); did != c.want {
				t.Errorf("it did %+v, want %+v\n%s", did, c.want, s.log.String())
			}
			s.run(time.Minute)
			s.agree(c.events)
		})
	}
}

func (s *stage) strays(n int) {
	s.Helper()
	for i := range n {
		s.stray(i, "here")
	}
}

func TestReconcile_ManyStraysByHand_AreDeleted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.strays(7)
	if did := s.reconcile(true); did.Strays != 7 || did.Guarded != 0 {
		t.Errorf("it did %+v", did)
	}
	s.agree(0)
}

func TestReconcile_ALostOverlayCalendar_IsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.event("e1", "Stand-up")
	s.run(2 * time.Minute)
	s.deleteCalendar(s.overlays()[0].ID)
	s.reconcile(false)
	if m := s.only(); m.State != mirror.Suppressed || !s.person().Suppressed {
		t.Errorf("the mirror is %s, recorded is %+v", m.State, s.person())
	}
}

func TestReconcile_AnUnusableAccount_IsNotCalled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.account(home, accounts.Revoked)
	s.google.Control().ResetCalls()
	s.reconcile(false)
	if calls := s.google.Control().Calls()["events.list"]; calls != 0 {
		t.Errorf("it was called %d times", calls)
	}
}
