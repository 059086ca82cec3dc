package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
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
		"few strays":  {func(s *stage) { s.strays(5) }, mirrors.Reconciled{Calendars: 1, Checked: 2, Strays: 5}, 2},
		"many strays": {func(s *stage) { s.strays(6) }, mirrors.Reconciled{Calendars: 1, Checked: 2, Guarded: 6}, 8},
		"as many strays as mirrors": {func(s *stage) {
			for _, id := range []string{"e3", "e4", "e5", "e6"} {
				s.event(id, id)
			}
			s.run(time.Minute)
			s.strays(6)
		}, mirrors.Reconciled{Calendars: 1, Checked: 6, Strays: 6}, 6},
		"another's": {func(s *stage) { s.stray(1, "elsewhere") }, mirrors.Reconciled{Calendars: 1, Checked: 2}, 3},
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
			if c.want.Corrected > 0 { // without a drain
				s.agree(c.events)
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

// What Google does not say is no reason to leave a calendar alone, and counts as a failure.
func TestReconcile_ALostCalendar_CountsAsFailed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		target func(s *stage)
		lost   func(s *stage, calendarID string)
	}{
		"of a person": {func(s *stage) { s.followed(homeMail) }, func(s *stage, calendarID string) {
			s.must(s.google.Control().Plant(control.Rule{Match: "events.list", Calendar: calendarID, Status: 404}))
		}},
		"an overlay calendar, without the list": {(*stage).toOverlay, func(s *stage, calendarID string) {
			s.deleteCalendar(calendarID)
			s.must(s.google.Control().Plant(control.Rule{Match: "calendarList.list", Status: 503}))
		}},
		"an overlay calendar that is listed": {(*stage).toOverlay, func(s *stage, calendarID string) {
			s.must(s.google.Control().Plant(control.Rule{Match: "events.list", Calendar: calendarID, Status: 404}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			row.target(s)
			s.event("e1", "Stand-up")
			s.run(2 * time.Minute)
			row.lost(s, s.only().TargetCalendarID)
			if did := s.reconcile(false); did != (mirrors.Reconciled{Calendars: 1, Failed: 1}) {
				t.Errorf("it did %+v", did)
			}
			if m := s.only(); m.State != mirror.Active || s.person().Suppressed {
				t.Errorf("the mirror is %+v, recorded is %+v", m, s.person())
			}
		})
	}
}

// A stray that Google keeps delays no other one, unless it keeps all of the account.
func TestReconcile_AStrayThatGoogleKeeps_CountsAsFailed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status, strays, calls int
	}{"one": {503, 2, 3}, "all": {429, 0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.followed(homeMail)
			s.strays(3)
			rule := control.Rule{Match: "events.delete", Status: row.status, Times: 1}
			if name == "all" {
				rule.Times = 0
			}
			s.must(s.google.Control().Plant(rule))
			s.google.Control().ResetCalls()
			if did := s.reconcile(true); did != (mirrors.Reconciled{Calendars: 1, Failed: 1, Strays: row.strays}) {
				t.Errorf("it did %+v", did)
			}
			if calls := s.google.Control().Calls()["events.delete"]; calls != row.calls {
				t.Errorf("it tried %d times", calls)
			}
		})
	}
}

// Somebody else may delete it first.
func TestReconcile_AStrayThatIsGone_CountsAsDeleted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.strays(2)
	s.must(s.google.Control().Plant(control.Rule{Match: "events.delete", Status: 404, Times: 1}))
	if did := s.reconcile(true); did != (mirrors.Reconciled{Calendars: 1, Strays: 2}) {
		t.Errorf("it did %+v", did)
	}
}

// paged shows a listing in two pages.
type paged struct{ mirrors.Google }

func (p paged) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	page, err := p.Google.List(ctx, ref, mask, syncToken, "")
	if err != nil || len(page.Events) < 2 {
		return page, err
	}
	if pageToken == "" {
		page.Events, page.NextPage = page.Events[:1], "the rest"
	} else {
		page.Events = page.Events[1:]
	}
	return page, nil
}

func TestReconcile_CalendarOfSeveralPages_IsReadWhole(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.event("e1", "Stand-up")
	s.event("e2", "Review")
	s.run(time.Minute)
	s.strays(2)
	s.writer.Google = paged{s.writer.Google}
	if did := s.reconcile(false); did != (mirrors.Reconciled{Calendars: 1, Checked: 2, Strays: 2}) {
		t.Errorf("it did %+v", did)
	}
}

// stopping ends the program while it deletes an event.
type stopping struct {
	mirrors.Google
	stop  func()
	calls int
}

func (g *stopping) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	g.stop()
	g.calls++
	return g.Google.DeleteQuietly(ctx, ref, id, etag)
}

// The next step begins with the calendar that it was at.
func TestReconcile_TheProgramStops_GoesOnWithTheSameCalendar(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.strays(3)
	ctx, stop := context.WithCancel(s.ctx)
	google := &stopping{Google: s.writer.Google, stop: stop}
	s.writer.Google = google
	_, next, err := s.writer.Reconcile(ctx, cause, " ", true) // which is before any key
	if err == nil || next != " " || google.calls != 1 {
		t.Errorf("it goes on at %q after %d deletions: %v", next, google.calls, err)
	}
}

// waiting is a Google that does not answer the first listing before the caller's time is over.
type waiting struct {
	mirrors.Google
	asked []gcal.Ref
}

func (g *waiting) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	g.asked = append(g.asked, ref)
	if len(g.asked) == 1 {
		<-ctx.Done()
		return gcal.Page{}, fault.Wrap(fault.Unavailable, ctx.Err(), "Google was not waited for.")
	}
	return g.Google.List(ctx, ref, mask, syncToken, pageToken)
}

// Otherwise it would keep the calendars behind it from theirs for ever.
func TestReconcile_ACalendarThatOutlastsTheRun_IsPassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock moves by the waiting for the listing
		s := newStage(t)
		s.followed(homeMail)
		other := calendars.Calendar{AccountID: home, CalendarID: "other@example.test"}
		key := poll.CalendarKey(other.AccountID, other.CalendarID)
		s.set(calendars.Path(key), other.Want(mirror.Consumer, 1, cause.Request(s.clock.Now()), gm)...)
		google := &waiting{Google: s.writer.Google}
		s.writer.Google = google
		ctx, end := context.WithTimeout(s.ctx, time.Minute)
		defer end()
		did, next, err := s.writer.Reconcile(ctx, cause, "", false)
		if err != nil || next == "" || did != (mirrors.Reconciled{Calendars: 1, Failed: 1}) {
			t.Fatalf("it did %+v and goes on at %q: %v", did, next, err)
		}
		_, _, err = s.writer.Reconcile(s.ctx, cause, next, false)
		if err != nil || len(google.asked) != 2 || google.asked[0] == google.asked[1] {
			t.Errorf("it asked for %v: %v", google.asked, err)
		}
	})
}

// An account that was removed since takes its calendars with it later.
func TestReconcile_AnAccountThatIsGone_IsNoFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(accounts.Path(home)) }))
	if did := s.reconcile(false); did != (mirrors.Reconciled{Calendars: 1}) {
		t.Errorf("it did %+v", did)
	}
}

// Calendars that polls alone follow fill several pages.
func TestReconcile_ManyCalendarsOfPolls_AreSkipped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	for i := range 110 {
		other := calendars.Calendar{AccountID: work, CalendarID: fmt.Sprint("calendar", i)}
		key := poll.CalendarKey(other.AccountID, other.CalendarID)
		s.set(calendars.Path(key), other.Want("polls", 1, cause.Request(s.clock.Now()), gm)...)
	}
	s.stray(1, "here")
	if did := s.reconcile(false); did != (mirrors.Reconciled{Calendars: 1, Strays: 1}) {
		t.Errorf("it did %+v", did)
	}
}

func TestReconcile_Observing_CallsNobody(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.delete(s.atHome())
	s.writer.Observing = true
	s.google.Control().ResetCalls()
	if did := s.reconcile(true); did != (mirrors.Reconciled{}) || len(s.google.Control().Calls()) > 0 {
		t.Errorf("it did %+v, with the calls %v", did, s.google.Control().Calls())
	}
}
