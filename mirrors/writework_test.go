package mirrors_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// planSoon plans one iCalUID with a trace, and wakes the writer.
func (s *stage) planSoon(uid, trace string) {
	s.Helper()
	s.must(s.writer.PlanUID(s.ctx, gm, uid, scheduler.Cause{Trigger: "push", Trace: trace}))
}

// traces are those of the journal of an event, by step.
func (s *stage) traces(eventID string, step mirror.Step) (all []string) {
	s.Helper()
	entries, _, err := mirror.LoadJournal(s.ctx, s.memory, eventID, store.Paging{Limit: 0})
	s.must(err)
	for _, entry := range entries {
		if entry.Step == step {
			all = append(all, entry.Trace)
		}
	}
	return all
}

// A task is the mirror's id alone: the trace is in the document.
func TestWriter_ItsJournal_HasTheTraceOfTheChange(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plan("none@google.com") // which stores the policy
	e := s.stored("e1", "Stand-up")
	s.planSoon(e.ICalUID, "trc_made")
	s.runDue()
	s.stored("e1", "Retrospective")
	s.planSoon(e.ICalUID, "trc_changed")
	s.must(s.google.Control().Plant(control.Rule{Match: "events.patch", Status: 503, Times: 1}))
	s.runDue()
	s.run(2 * time.Minute)
	s.each(1)
	if got := fmt.Sprint(s.traces(e.ID, mirror.StepWritten),
		s.traces(e.ID, mirror.StepFailed)); got != "[trc_changed trc_made] [trc_changed]" {
		t.Errorf("written and failed with the traces %s", got)
	}
	s.stored("e1", "Retrospective", func(e *mirror.Event) { e.Status = "cancelled" })
	s.planSoon(e.ICalUID, "trc_cancelled")
	s.runDue()
	if got := fmt.Sprint(s.traces(e.ID, mirror.StepDeleted), s.traces(e.ID, mirror.StepForgotten)); got != "[trc_cancelled] []" {
		t.Errorf("deleted and forgotten with the traces %s", got)
	}
}

func TestWriter_DueSoon_KeepsItsTask(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	e := s.event("e1", "Stand-up")
	m := s.only()
	for _, c := range []struct{ due, again time.Duration }{{20 * time.Second, 20 * time.Second}, {5 * time.Minute, 0}} {
		m.Due = store.Instant(s.clock.Now().Add(c.due))
		s.set(mirror.Path(m.ID), store.Set("due", m.Due))
		again, err := s.writer.Outbox.Run(s.ctx, mirrors.WriteKind, m.ID)
		s.must(err)
		if want := s.clock.Now().Add(c.again); c.again > 0 != again.Equal(want) || c.again == 0 && !again.IsZero() {
			t.Errorf("due in %v: again at %v", c.due, again)
		}
	}
	if calls := s.google.Control().Calls()["events.insert"]; calls != 0 {
		t.Errorf("%d inserts of %s before its time", calls, e.ID)
	}
}

// Its queue would hand the work out again and again.
func TestDrain_OfAnAccountThatRests_WakesTheOthersAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.edges = append(s.edges, mirror.Edge{FromAccountID: work, ToAccountID: club, Detail: mirror.Busy, Target: mirror.PrimaryTarget})
	s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", Calendar: homeMail, Status: 503}))
	s.event("e1", "Stand-up")
	s.run(0) // home rests
	s.event("e2", "Review")
	woken, err := s.writer.Outbox.Drain(s.ctx)
	s.must(err)
	depths, err := s.writer.Outbox.Depths(s.ctx)
	s.must(err)
	if woken[0].N != 1 || depths[0].Due != 1 {
		t.Errorf("%d were woken, %d count as due", woken[0].N, depths[0].Due)
	}
}

// What waits behind more mirrors of a resting account than a drain reads is found by the next
// drains, also if somebody looks at the backlog in between, and those by the first after the rest.
func TestDrain_BehindManyOfAnAccountThatRests_FindsTheOthers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large numbers")
	}
	s := newStage(t)
	s.edges = append(s.edges, mirror.Edge{FromAccountID: work, ToAccountID: club, Detail: mirror.Busy, Target: mirror.PrimaryTarget})
	s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", Calendar: homeMail, Status: 503}))
	s.event("e1", "Stand-up")
	s.run(0) // home rests
	s.event("e2", "Review")
	s.must(s.memory.Run(s.ctx, func(ctx context.Context, tx store.Tx) error {
		found := map[string]store.Document{}
		for doc, err := range mirror.Due(ctx, tx, s.clock.Now()) {
			if err != nil {
				return err
			}
			found[mirror.Decode(doc).TargetAccountID] = doc
		}
		for i := range 2500 + 1199 {
			of, due := home, time.Hour
			if i >= 2500 {
				of, due = club, time.Minute
			}
			data := maps.Clone(found[of].Data)
			data["due"] = s.clock.Now().Add(-due)
			if err := tx.Create(mirror.Path(fmt.Sprintf("mir_more%d", i)), data); err != nil {
				return err
			}
		}
		return nil
	}))
	drained := func() int {
		woken, err := s.writer.Outbox.Drain(s.ctx)
		s.must(err)
		return woken[0].N
	}
	var each []int
	for range 5 {
		_, err := s.writer.Outbox.Depths(s.ctx)
		s.must(err)
		each = append(each, drained())
	}
	if got := fmt.Sprint(each); got != "[0 500 500 200 0]" {
		t.Errorf("the drains woke %s", got)
	}
	s.must(s.clock.Advance(time.Hour))
	if drained()+drained() < outbox.DrainMost {
		t.Error("after the rest its mirrors are not woken")
	}
}

// A run that goes on with what it planned wakes no other: each of those would wake more.
func TestWriter_ThatPlansItsOwnMirrorAgain_WakesNoOtherRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.edges[0].Target = mirror.Overlay
	s.stored("e1", "Stand-up")
	s.plan("e1@google.com")
	m := s.only()
	if m.State != mirror.Deleting && !m.Replacing {
		t.Fatalf("its event is not replaced: %+v", m)
	}
	s.wakes.Crash()
	_, err := s.writer.Outbox.Run(s.ctx, mirrors.WriteKind, m.ID)
	s.must(err)
	if n := s.wakes.Waiting(mirrors.WriteKind); n > 0 {
		t.Errorf("%d runs were woken", n)
	}
	if now := s.only(); now.State != mirror.Active || now.TargetCalendarID == m.TargetCalendarID {
		t.Errorf("the run left %+v", now)
	}
}

func TestWriter_OfNoMirror_EndsWell(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, id := range []string{"", "mir_gone", "no/mirror"} {
		if again, err := s.writer.Outbox.Run(s.ctx, mirrors.WriteKind, id); err != nil || !again.IsZero() {
			t.Errorf("%q: %v, %v", id, again, err)
		}
	}
}
