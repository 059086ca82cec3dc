package mirrors_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

func (w *world) runWork(kind, id string) time.Time {
	w.Helper()
	again, err := w.service.Outbox.Run(w.ctx, kind, id)
	w.must(err)
	return again
}

func TestPlanPerson_KeepsFailing_WaitsLonger(t *testing.T) {
	t.Parallel()
	w, r := refusedPlanning(t, fault.TooLarge, 3, 1, 2)
	for n, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		w.runWork(mirrors.PlanKind, gm)
		doc, err := w.memory.Get(w.ctx, mirror.PersonPath(gm))
		w.must(err)
		due := w.personPlan().PlanDue
		failed := []string{`"e1@google.com","e2@google.com"`, `"e1@google.com"`, `"e1@google.com"`}[n]
		if place := w.personPlan().PlanAfter; place != `{"part":5,"failed":[`+failed+`]}` {
			t.Errorf("the next run begins at %s", place) // with what failed alone
		}
		if state := w.service.PlanWork().Codec.Decode(doc); state.Error != "too large" || state.Attempts != int64(n+1) ||
			!state.Due.Equal(due) || state.FailedSince.IsZero() || state.Trace != cause.Trace {
			t.Errorf("operators are shown %+v", state)
		}
		delete(r.uids, "e2@google.com")
		if doc.Data["planFailures"] != int64(n+1) || doc.Data["planError"] != "too large" || due.Sub(w.clock.Now()) != wait {
			t.Errorf("after %d: %v failures, %v, due in %v", n+1, doc.Data["planFailures"], doc.Data["planError"], due.Sub(w.clock.Now()))
		}
		w.must(w.clock.Advance(wait))
	}
	w.replan()
	w.runWork(mirrors.PlanKind, gm)
	if wait := w.personPlan().PlanDue.Sub(w.clock.Now()); wait != 30*time.Second {
		t.Errorf("a new planning that fails waits %v", wait)
	}
}

// A run that died is continued from its place once its claim is over.
func TestPlanPerson_ARunThatDied_IsContinued(t *testing.T) {
	t.Parallel()
	w, _ := refusedPlanning(t, fault.TooLarge, 50)
	wakes := 0
	w.onWake = func() {
		wakes++
		if wakes == 25 { // in the second page, which is stored
			panic("it dies") // which the outbox records as a failure; the place stays
		}
	}
	w.runWork(mirrors.PlanKind, gm)
	place := w.personPlan().PlanAfter
	w.onWake = nil
	if place == "" || len(w.mirrors()) != 40 {
		t.Fatalf("%d mirrors, the place is %q", len(w.mirrors()), place)
	}
	w.must(w.clock.Advance(time.Minute))
	w.runWork(mirrors.PlanKind, gm)
	if len(w.mirrors()) != 50 {
		t.Errorf("%d mirrors", len(w.mirrors()))
	}
}

func TestPlanning_ItsJournal_HasTheTraceOfItsCause(t *testing.T) {
	t.Parallel()
	w, _ := refusedPlanning(t, fault.TooLarge, 1)
	w.run(time.Minute)
	w.connect(club, gm)
	session := w.canonicalSession()
	session.PlanTrace = "trc_session"
	w.put(session)
	w.run(time.Minute)
	for id, want := range map[string]string{"evt_e0": cause.Trace, session.ID: session.PlanTrace} {
		entries, _, err := mirror.LoadJournal(w.ctx, w.memory, id, store.Paging{Limit: 0})
		w.must(err)
		planned := 0
		for _, entry := range entries {
			if entry.Step != mirror.StepPlanned {
				continue
			}
			planned++
			if entry.Trace != want || entry.Trigger != mirrors.PlanKind {
				t.Errorf("%s was planned by %s, %q, want %q", id, entry.Trigger, entry.Trace, want)
			}
		}
		if planned == 0 {
			t.Errorf("%s was not planned", id)
		}
	}
}

// dueSession is the event of a group that is due, which the store refuses to show.
func dueSession(t *testing.T, kind fault.Kind) (*world, *refusing, mirror.Event) {
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	r := &refusing{Store: w.service.Store, kind: kind, uids: map[string]bool{session.ICalUID: true}}
	w.service.Store = r
	return w, r, session
}

func (w *world) planAt(id string) time.Time {
	w.Helper()
	event, err := mirror.LoadEvent(w.ctx, w.memory, id)
	w.must(err)
	return event.PlanAt
}

func TestPlanDue_AnEventThatCannotBePlanned_Waits(t *testing.T) {
	t.Parallel()
	w, r, session := dueSession(t, fault.TooLarge)
	w.runWork(mirrors.EventKind, session.ID)
	if wait := w.planAt(session.ID).Sub(w.clock.Now()); wait != 10*time.Minute {
		t.Errorf("it waits %v", wait)
	}
	clear(r.uids)
	w.run(5 * time.Minute)
	w.wantTitles(club)
	w.run(10 * time.Minute)
	w.wantTitles(club, "Session")
	w.wantLog("event not planned", 1)
	w.wantLog("work failed", 0) // it is put off, and the run has done its part
}

func TestPlanDue_WhileTheStoreDoesNotAnswer_IsRepeated(t *testing.T) {
	t.Parallel()
	w, _, session := dueSession(t, fault.Unavailable)
	if _, err := w.service.Outbox.Run(w.ctx, mirrors.EventKind, session.ID); err == nil {
		t.Error("it counts as done")
	}
	if at := w.planAt(session.ID); !at.Equal(session.PlanAt) {
		t.Errorf("it is due at %v", at)
	}
}

// A wake may be for an earlier time than the event has by now.
func TestPlanDue_BeforeItsTime_IsNotPlanned(t *testing.T) {
	t.Parallel()
	w, r, session := dueSession(t, fault.TooLarge)
	clear(r.uids)
	session.PlanAt = w.clock.Now().Add(30 * time.Second)
	w.put(session)
	if again := w.runWork(mirrors.EventKind, session.ID); !again.Equal(session.PlanAt) || len(w.mirrors()) != 0 {
		t.Errorf("again at %v, %d mirrors", again, len(w.mirrors()))
	}
	session.PlanAt = time.Time{}
	w.put(session)
	if again := w.runWork(mirrors.EventKind, session.ID); !again.IsZero() || len(w.mirrors()) != 0 {
		t.Errorf("again at %v, %d mirrors", again, len(w.mirrors()))
	}
	w.runWork(mirrors.EventKind, "evt_gone")
	w.runWork(mirrors.EventKind, "no/event")
	w.wantLog("work failed", 0)
}

// A mirror whose event the planning of the person's events leaves out is planned after them.
func TestPlanPerson_AMirrorWhoseEventIsLeftOut_FollowsItAllTheSame(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(e *mirror.Event)
		want   []string
	}{
		"beyond the window": {func(e *mirror.Event) {
			e.Start, e.End = at("2028-03-05T09:00:00Z"), at("2028-03-05T10:00:00Z")
		}, nil},
		"ended days ago": {func(e *mirror.Event) {
			e.Title, e.Start, e.End = "It was", at("2026-02-20T09:00:00Z"), at("2026-02-20T10:00:00Z")
		}, []string{"It was"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := refusedPlanning(t, fault.TooLarge, 1)
			w.run(time.Minute)
			w.wantTitles(home, "Event 00")
			event := w.canonical(work)[0]
			row.change(&event)
			event.From, event.Until = plan.Bounds(event)
			event.PlanAt = plan.DueAt(event, w.clock.Now())
			w.put(event) // as a program leaves it that dies before it plans
			w.replan()
			w.run(time.Minute)
			w.wantTitles(home, row.want...)
		})
	}
}
