package mirrors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
)

// refusing is a store that takes no document that shows an event of some iCalUIDs.
type refusing struct {
	store.Store
	kind fault.Kind
	uids map[string]bool
	// refused, if set, is called when it refuses one.
	refused func()
}

type refusingTx struct {
	store.Tx
	*refusing
}

func (r *refusing) Run(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	return r.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, refusingTx{tx, r}) })
}

func (r refusingTx) Set(path store.Path, data map[string]any) error {
	if uid, _ := data["icalUid"].(string); r.uids[uid] && strings.HasPrefix(path.ID(), "mir_") {
		if r.refused != nil {
			r.refused()
		}
		return fault.New(r.kind, "no such document is taken")
	}
	return r.Tx.Set(path, data)
}

// refusedPlanning is a world of events that are not mirrored yet, and a store that refuses those
// with these numbers.
func refusedPlanning(t *testing.T, kind fault.Kind, events int, refused ...int) (*world, *refusing) {
	t.Helper()
	w := newWorld(t)
	w.mirrorWork()
	w.settle()
	r := &refusing{Store: w.service.Store, kind: kind, uids: map[string]bool{}}
	w.service.Store = r
	for i := range events {
		event := w.stored(fmt.Sprint("e", i), fmt.Sprintf("Event %02d", i))
		for _, n := range refused {
			r.uids[event.ICalUID] = r.uids[event.ICalUID] || n == i
		}
	}
	w.replan()
	return w, r
}

// replan requests the planning of all events of gm.
func (w *world) replan() {
	w.Helper()
	person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
	w.must(err)
	w.set(mirror.PersonPath(gm), person.RequestPlan(w.clock.Now(), cause.Trace)...)
}

func (w *world) personPlan() mirror.Person {
	w.Helper()
	person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
	w.must(err)
	return person
}

// An event that cannot be planned delays no other and is tried again, until it can be.
func TestPlanPerson_AnEventThatFails_DelaysNoOther(t *testing.T) {
	t.Parallel()
	w, r := refusedPlanning(t, fault.TooLarge, 30, 0, 22)
	w.run(2 * time.Minute)
	if shown := w.titles(home); len(shown) != 28 {
		t.Errorf("home shows %d events, want 28: %v\n%s", len(shown), shown, w.log.String())
	}
	if person := w.personPlan(); person.PlanDue.IsZero() {
		t.Error("the planning counts as done")
	}
	clear(r.uids)
	w.run(10 * time.Minute)
	if shown := w.titles(home); len(shown) != 30 {
		t.Errorf("later home shows %d events, want 30\n%s", len(shown), w.log.String())
	}
	if person := w.personPlan(); !person.PlanDue.IsZero() || person.PlanAfter != "" {
		t.Errorf("the planning is not done: %q", person.PlanAfter)
	}
}

// What is no event's own failure ends the run, which is repeated.
func TestPlanPerson_AFailureOfAll_EndsTheRun(t *testing.T) {
	t.Parallel()
	all := make([]int, 26)
	for i := range all {
		all[i] = i
	}
	for name, c := range map[string]struct {
		kind    fault.Kind
		refused []int
	}{
		"a store that is not there": {fault.Unavailable, []int{0}},
		"too many events":           {fault.TooLarge, all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := refusedPlanning(t, c.kind, 26, c.refused...)
			again, err := w.service.Outbox.Run(w.ctx, mirrors.PlanKind, gm)
			w.must(err)
			if why := w.planError(); why != c.kind.String() {
				t.Errorf("operators are shown %q", why)
			}
			person := w.personPlan()
			if !again.After(w.clock.Now()) || !person.PlanDue.Equal(again) || len(w.mirrors()) > 0 {
				t.Errorf("the run ended with %d mirrors, due again at %v, %v", len(w.mirrors()), again, person.PlanDue)
			}
			if kept := strings.Count(person.PlanAfter, "@google.com"); kept > 20 {
				t.Errorf("%d failed events are kept", kept)
			}
			clear(r.uids)
			w.run(10 * time.Minute)
			if shown := w.titles(home); len(shown) != 26 {
				t.Errorf("later home shows %d events, want 26", len(shown))
			}
		})
	}
}

// Whichever read or write of how far a planning is fails, it goes on later.
func TestPlanPerson_PlaceUnstored_GoesOn(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w, _ := refusedPlanning(t, fault.TooLarge, 22)
		p := &points.Points{}
		w.service.Outbox.Store = &points.Reads{Store: w.memory, Points: p}
		p.FailAt(n)
		_, err := w.service.Outbox.Run(w.ctx, mirrors.PlanKind, gm)
		reached := p.Reached()
		p.FailAt(0)
		if err == nil && reached && w.personPlan().PlanDue.IsZero() && len(w.mirrors()) < 22 {
			t.Errorf("with read %d failing the planning counts as done", n)
		}
		if why := w.planError(); why != nil && why != fault.Unavailable.String() {
			t.Errorf("with read %d failing operators are shown %q", n, why)
		}
		if !reached {
			w.must(err)
			points.Struck(t, n-1, 3)
			return
		}
	}
}

// Any read of what a planning needs may fail: the run ends and is repeated after a wait.
func TestPlanPerson_APartUnread_WaitsAndGoesOn(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct { // without events, so that nothing is read to plan one
		begin func(w *world)
		least int
	}{
		"a connection ends": {func(w *world) {
			w.connect(home, gm)
			w.connect(club, gm)
			w.must(w.service.EndConnection(w.ctx, mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm}, cause))
		}, 8},
		"a calendar is forgotten": {func(w *world) {
			w.pollsSession(func(e *mirror.Event) { e.From, e.Until = stageStart.AddDate(0, 0, -9), stageStart.AddDate(0, 0, -8) })
			w.unmirror()
		}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				w := newMirroringWorld(t)
				row.begin(w)
				p := w.fallible()
				p.FailAt(n)
				again := w.runWork(mirrors.PlanKind, gm)
				reached := p.Reached()
				p.FailAt(0)
				if due := w.personPlan().PlanDue; reached && (!due.After(w.clock.Now()) || !again.Equal(due)) {
					t.Errorf("with read %d failing it is due again at %v, %v", n, due, again)
				}
				if why := w.planError(); reached && why != "unavailable" {
					t.Errorf("with read %d failing operators are shown %q", n, why)
				}
				w.run(10 * time.Minute)
				left, err := mirror.EndingConnectionsOf(w.ctx, w.memory, gm)
				w.must(err)
				if len(left) > 0 || !w.personPlan().PlanDue.IsZero() {
					t.Errorf("with read %d failing the connections %+v are left", n, left)
				}
				if !reached {
					points.Struck(t, n-1, row.least)
					return
				}
			}
		})
	}
}

// planError is why operators are shown that the planning of gm failed.
func (w *world) planError() any {
	w.Helper()
	doc, err := w.memory.Get(w.ctx, mirror.PersonPath(gm))
	w.must(err)
	return doc.Data["planError"]
}

// What operators are shown of work that waits.
func TestWork_EachKind_SaysWhatItDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for want, kind := range map[string]outbox.Kind{
		"people to plan": w.service.PlanWork(), "events to plan": w.service.EventWork(), "mirrors": w.writer.Work(),
	} {
		if kind.Does != want {
			t.Errorf("%s does %q, want %q", kind.Name, kind.Does, want)
		}
		if kind.Workers < 2 {
			t.Errorf("a slow entry of %s holds up all others", kind.Name)
		}
	}
}
