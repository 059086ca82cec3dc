package mirrors_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Each row is what Google answers to every insert for an hour, and how it ends a day after
// that is over.
func TestWriter_AFailure_EndsByItsKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   int
		reason   string
		state    mirror.State
		attempts int64
		calls    int // at most
		due      bool
		says     string
	}{
		"Google is down":        {503, "", mirror.Failed, 5, 5, true, "did not answer"},
		"Google refuses":        {400, "invalid", mirror.Failed, 1, 1, true, "refused"},
		"too many calls":        {403, "rateLimitExceeded", mirror.Pending, 0, 60, true, "slow down"},
		"the quota is used up":  {403, "quotaExceeded", mirror.Pending, 0, 60, true, "quota"},
		"the grant is dead":     {401, "authError", mirror.Pending, 0, 1, false, "authorization expired"},
		"the calendar is gone":  {404, "notFound", mirror.Failed, 5, 5, true, "not in this calendar"},
		"forbidden for a while": {403, "forbiddenForNonOrganizer", mirror.Failed, 1, 1, true, "organiser"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", Status: c.status, Reason: c.reason}))
			s.event("e1", "Stand-up")
			s.run(time.Hour)
			m := s.only()
			if m.State != c.state || m.Attempts != c.attempts || m.Due.IsZero() == c.due || !strings.Contains(m.LastError, c.says) {
				t.Errorf("the mirror is %s after %d attempts, due %v: %s", m.State, m.Attempts, m.Due, m.LastError)
			}
			if calls := s.google.Control().Calls()["events.insert"]; calls == 0 || calls > c.calls {
				t.Errorf("%d calls were made, want at most %d", calls, c.calls)
			}
			s.google.Control().Clear()
			s.relink(home)
			s.run(25 * time.Hour)
			s.each(1)
		})
	}
}

// relink has an account be linked again.
func (s *stage) relink(account string) {
	s.Helper()
	s.account(account, accounts.Active)
	s.broken[account] = false
	loaded, err := accounts.Load(s.ctx, s.memory, account)
	s.must(err)
	s.must(s.writer.Relinked(s.ctx, loaded, scheduler.Cause{Trigger: "relink"}))
}

func TestWriter_ARevokedAccount_IsNotCalledUntilRelinked(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.account(home, accounts.Revoked)
	s.google.Control().ResetCalls()
	s.event("e1", "Retrospective")
	s.event("e2", "Review")
	s.run(time.Hour)
	if calls := s.google.Control().Calls(); calls["events.insert"]+calls["events.patch"]+calls["events.get"] > 0 {
		t.Errorf("it was called: %v", calls)
	}
	s.relink(home)
	s.run(0)
	s.each(2)
}

// A dead account is found out by one call, not by one for each mirror, and delays no other.
func TestWriter_AnAccountThatFails_RestsAndDelaysNoOther(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.edges = append(s.edges, mirror.Edge{FromAccountID: work, ToAccountID: club, Detail: mirror.Busy, Target: mirror.PrimaryTarget})
	s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", Calendar: homeMail, Status: 503}))
	for n := range 30 {
		s.event(fmt.Sprintf("e%d", n), "Stand-up")
	}
	s.runDue()
	if got := len(s.shown(club, "club@example.test")); got != 0 {
		t.Fatalf("nothing was enqueued, and yet the club shows %d events", got)
	}
	s.run(0)
	if got := len(s.shown(club, "club@example.test")); got != 30 {
		t.Errorf("the club shows %d events, want 30", got)
	}
	s.run(10 * time.Minute)
	if calls := s.google.Control().Calls()["events.insert"] - 30; calls > 20 {
		t.Errorf("home was called %d times", calls)
	}
	s.google.Control().Clear()
	s.run(2 * time.Hour)
	s.each(30)
}

func TestWriter_Observing_WritesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.writer.Observing = true
	e := s.event("e1", "Stand-up")
	was := s.only()
	s.write(s.writer, was)
	if !strings.Contains(s.log.String(), `would="name the event"`) || !reflect.DeepEqual(s.only(), was) {
		t.Errorf("the mirror is %+v\n%s", s.only(), s.log.String())
	}
	s.run(time.Hour)
	if calls := s.google.Control().Calls(); len(s.shown(home, homeMail)) != 0 || calls["events.insert"] != 0 {
		t.Errorf("it called %v", calls)
	}
	entries, _, err := mirror.LoadJournal(s.ctx, s.memory, e.ID, store.Paging{Limit: 10})
	s.must(err)
	if len(entries) != 1 || entries[0].Step != mirror.StepPlanned {
		t.Errorf("the journal says %+v", entries)
	}
	s.writer.Observing = false
	s.run(time.Minute)
	s.each(1)
}

func TestDrain_ManyAreDue_WakesSomeAtATime(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
		for n := range 510 {
			id := fmt.Sprint(n)
			m := mirror.Mirror{
				ID: "mir_" + id, OwnerID: gm, CanonicalID: "evt_" + id, ICalUID: id, Wanted: id, TargetAccountID: home,
				State: mirror.Pending, Due: stageStart,
			}
			if err := tx.Set(mirror.Path(m.ID), mirror.Encode(m)); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, want := range []int{500, 10, 0} {
		woken, err := s.writer.Outbox.Drain(s.ctx)
		s.must(err)
		if got := woken[0].N; got != want {
			t.Errorf("it woke %d, want %d", got, want)
		}
		s.runDue() // their events are gone, so they are forgotten
	}
}
