package mirrors_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// leave unlinks an account and has the writer leave it, as far as one call goes.
func (s *stage) leave(account string, since time.Duration) error {
	s.Helper()
	s.account(account, accounts.Unlinked)
	loaded, err := accounts.Load(s.ctx, s.memory, account)
	s.must(err)
	loaded.UnlinkedAt = store.Instant(s.clock.Now().Add(-since))
	return s.writer.Leave(s.ctx, loaded, scheduler.Cause{Trigger: "unlink"})
}

func TestLeave_AnAccountWithMirrors_DeletesThem(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.event("e2", "Weekly", weekly)
	s.event("e3", "Late", exception("e2", at("2026-03-12T09:00:00Z")))
	s.run(2 * time.Minute)
	s.google.Control().ResetCalls()
	s.must(s.leave(home, 0))
	if calls := s.google.Control().Calls()["events.delete"]; calls != 2 {
		t.Errorf("it took %d deletions: the occurrence goes with its series", calls)
	}
	s.plan("e1@google.com")
	s.plan("e2@google.com")
	s.run(time.Minute)
	if shown, left := s.shown(home, homeMail), s.mirrors(); len(shown) != 0 || len(left) != 0 {
		t.Errorf("home shows %+v; the mirrors are %+v\n%s", shown, left, s.log.String())
	}
}

// An exception was copied as a single event, since its series was not known, and is about to become
// an instance of the series' copy when nobody wants either any more.
func TestWriter_OwnEventOfAnException_GoesWithItsSeries(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *stage){
		"the edge is gone":        func(s *stage) { s.edges = nil },
		"the account is unlinked": func(s *stage) { s.must(s.leave(home, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e3", "Late", exception("e2", at("2026-03-12T09:00:00Z")))
			s.run(2 * time.Minute)
			s.atHome()
			s.event("e2", "Weekly", weekly)
			end(s)
			s.plan("e2@google.com")
			s.run(10 * time.Minute)
			if shown, left := s.shown(home, homeMail), s.mirrors(); len(shown) != 0 || len(left) != 0 {
				t.Errorf("home shows %+v; the mirrors are %+v\n%s", shown, left, s.log.String())
			}
		})
	}
}

func TestLeave_GoogleRefuses_IsTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for n := range 3 {
		s.event(fmt.Sprintf("e%d", n), "Stand-up")
	}
	s.run(time.Minute)
	s.must(s.google.Control().Plant(control.Rule{Match: "events.delete", Status: 503}))
	if err := s.leave(home, time.Minute); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after a minute: %v", err)
	}
	if calls := s.google.Control().Calls()["events.delete"]; calls != 1 {
		t.Errorf("it tried %d times, of which the first said how all end", calls)
	}
	refused := 0
	for _, m := range s.mirrors() {
		if m.LastError != "" && m.Due.IsZero() {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("the mirrors are %+v", s.mirrors())
	}
	s.must(s.leave(home, 31*time.Minute))
	if got := len(s.shown(home, homeMail)); got != 3 {
		t.Fatalf("home shows %d events", got)
	}
	for n := range 3 { // nobody wants them in an account that is not linked
		s.plan(fmt.Sprintf("e%d@google.com", n))
	}
	s.google.Control().Clear()
	s.run(time.Hour)
	if got := len(s.shown(home, homeMail)); got != 3 {
		t.Fatalf("home shows %d events while it is unlinked", got)
	}
	s.edges = nil
	for n := range 3 {
		s.plan(fmt.Sprintf("e%d@google.com", n))
	}
	s.relink(home)
	s.run(time.Minute)
	if shown, left := s.shown(home, homeMail), s.mirrors(); len(shown) != 0 || len(left) != 0 {
		t.Errorf("home shows %+v; the mirrors are %+v\n%s", shown, left, s.log.String())
	}
}

// slowly has each deletion take a while.
type slowly struct {
	mirrors.Google
	clock *control.Clock
}

func (g slowly) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	if err := g.clock.Advance(3 * time.Second); err != nil {
		return false, err
	}
	return g.Google.DeleteQuietly(ctx, ref, id, etag)
}

// What one call deletes in its seconds is little where there are many copies.
func TestLeave_ManyCopies_GoesOnBeyondHalfAnHour(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for n := range 7 {
		s.event(fmt.Sprintf("e%d", n), "Stand-up")
	}
	s.run(time.Minute)
	s.writer.Leaving = slowly{s.writer.Leaving, s.clock}
	for calls := 1; ; calls++ {
		err := s.leave(home, time.Hour)
		if err == nil && calls == 4 { // two in five seconds
			break
		}
		if !fault.Is(err, fault.Unavailable) || calls > 3 {
			t.Fatalf("call %d: %v", calls, err)
		}
	}
	if got := len(s.shown(home, homeMail)); got != 0 {
		t.Errorf("home still shows %d events", got)
	}
}

func TestRelinked_AnAccountThatLeftCopies_HasThemAsWanted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.account(home, accounts.Revoked)
	s.event("e1", "Retrospective")
	s.run(time.Hour)
	s.relink(home)
	s.run(0)
	s.each(1)
	if m := s.only(); m.State != mirror.Active || m.LastError != "" {
		t.Errorf("the mirror is %+v", m)
	}
}

// The writer read the account before it was linked again, and its mirror after.
func TestRelinked_WhileAWriterWaitsForIt_IsNotMissed(t *testing.T) {
	t.Parallel()
	for what, refuse := range map[string]func(s *stage){
		"before a call": func(s *stage) { s.account(home, accounts.Revoked) },
		"by a call":     func(s *stage) { s.broken[home] = true },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			s.run(0)
			s.event("e1", "Retrospective")
			refuse(s)
			relinked := false
			last := 7 // before the commit
			if s.broken[home] {
				last = 9 // that is behind the call
			}
			s.points.DoAt(last, func() error { s.must(s.clock.Advance(time.Second)); s.relink(home); relinked = true; return nil })
			s.run(time.Hour)
			if !relinked {
				t.Fatal("nobody waited")
			}
			s.agree(1)
		})
	}
}

// It does not wait for the drain.
func TestRelinked_WhatWaitedForIt_IsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.account(home, accounts.Revoked)
	s.write(s.writer, s.only())
	if m := s.only(); !m.Due.IsZero() || m.LastError == "" {
		t.Fatalf("the mirror is %+v", m)
	}
	s.relink(home)
	s.runDue()
	s.agree(1)
}

// Whichever of its calendars is followed still, mirroring ends in an account that leaves.
func TestAccountLeaving_OneCalendarFollowed_EndsMirroring(t *testing.T) {
	t.Parallel()
	for name, interests := range map[string][]int64{"the first": {1, 0}, "the last": {0, 1}, "none": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			for i, count := range interests {
				c := calendars.Calendar{Key: fmt.Sprint("key", i), AccountID: home, CalendarID: fmt.Sprint("calendar", i)}
				s.set(calendars.Path(c.Key), c.Want(mirror.Consumer, 1, cause.Request(stageStart), gm)...)
				c.Interests = map[string]int64{mirror.Consumer: 1}
				if count == 0 {
					s.set(calendars.Path(c.Key), c.Want(mirror.Consumer, 0, cause.Request(stageStart), gm)...)
				}
			}
			s.account(home, accounts.Unlinked)
			account, err := accounts.Load(s.ctx, s.memory, home)
			s.must(err)
			s.set(mirror.PersonPath(gm), mirror.Person{OwnerID: gm}.RequestPlan(stageStart, "")...)
			var ended []string
			s.writer.Follow = func(_ context.Context, account, calendarID string, _ scheduler.Cause) error {
				ended = append(ended, account+"/"+calendarID)
				return nil
			}
			s.must(s.writer.AccountLeaving(s.ctx, account, cause))
			person, err := mirror.LoadPerson(s.ctx, s.memory, gm)
			s.must(err)
			if again := person.PlanGeneration > 1; again != (name != "none") {
				t.Errorf("planned again: %t", again)
			}
			var want []string
			for i, count := range interests {
				if count > 0 {
					want = append(want, fmt.Sprintf("%s/calendar%d", home, i))
				}
			}
			if !slices.Equal(ended, want) {
				t.Errorf("not followed any more are %v, want %v", ended, want)
			}
		})
	}
}

func TestAccountLeaving_AndBack_DeletesCopiesAndWritesThemAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.account(home, accounts.Unlinked)
	account, err := accounts.Load(s.ctx, s.memory, home)
	s.must(err)
	s.must(s.writer.AccountLeaving(s.ctx, account, cause))
	if shown := s.shown(home, homeMail); len(shown) != 0 {
		t.Errorf("home shows %+v", shown)
	}
	s.run(time.Minute)

	s.account(home, accounts.Revoked) // which is found by the first call
	s.event("e1", "Stand-up")
	s.write(s.writer, s.only())
	s.account(home, accounts.Active)
	account, err = accounts.Load(s.ctx, s.memory, home)
	s.must(err)
	s.must(s.writer.AccountBack(s.ctx, account, cause))
	s.runDue()
	s.agree(1)
}
