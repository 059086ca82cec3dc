package mirrors_test

import (
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/points"
)

// Whatever else happens between two transactions of planning and syncing, home shows in the end
// what is wanted then.
func TestFlows_SomethingElseAtAnyPoint_EndAsWanted(t *testing.T) {
	t.Parallel()
	party := mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm}
	flows := map[string]struct {
		do   func(w *world)
		want []string
	}{
		"one is made":   {func(w *world) { w.insert(work, "Stand-up", thursday); w.sync(work) }, []string{"Dentist", "Session", "Stand-up"}},
		"one is listed": {func(w *world) { w.relist(work); w.sync(work) }, []string{"Dentist", "Session"}},
		"one is gone":   {func(w *world) { w.lose(work, "event1"); w.sync(work) }, []string{"Session"}},
		"a copy is deleted": {func(w *world) {
			w.delete(w.shown(home, homeMail)[0])
			w.sync(home)
		}, []string{"Dentist", "Session"}},
		"a connection ends": {func(w *world) { w.must(w.service.EndConnection(w.ctx, party, cause)); w.settle() }, []string{"Dentist"}},
		"somebody leaves": {func(w *world) {
			w.members(ana)
			w.replan()
			w.drain()
			w.settle()
		}, []string{"Dentist"}},
		"all are planned": {func(w *world) { w.replan(); w.drain(); w.settle() }, []string{"Dentist", "Session"}},
	}
	others := map[string]func(w *world){
		"all are planned again": func(w *world) { w.must(w.service.Rewrite(w.ctx, gm, cause)) },
		"the session is planned": func(w *world) {
			w.must(w.service.PlanEvent(w.ctx, "evt_session", cause))
		},
		"another is made": func(w *world) {
			asked := dentist()
			asked.Title = "Another"
			_, err := w.events().Create(w.ctx, gm, "another", asked, cause)
			w.must(err)
		},
		"copies are seen": func(w *world) {
			for _, event := range w.shown(home, homeMail) {
				_, _, err := w.service.Observe(w.ctx, refTo(home), event, false, cause)
				w.must(err)
			}
		},
	}
	for name, flow := range flows {
		for what, other := range others {
			t.Run(name+": "+what, func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n += 2 { // the points behind transactions are those before the next
					w := newShownWorld(t)
					p, documents := &points.Points{}, w.service.Store
					w.service.Store = &points.Store{Store: documents, Points: p}
					p.DoAt(n, func() error {
						w.service.Store = documents
						other(w)
						return nil
					})
					flow.do(w)
					w.run(15 * time.Minute)
					w.sync(work)
					w.sync(home)
					w.run(2 * time.Minute)
					want := flow.want
					if p.Reached() && what == "another is made" {
						want = append([]string{"Another"}, want...)
					}
					w.wantTitles(home, want...)
					for _, m := range w.mirrors() {
						if m.State != mirror.Active || !m.Due.IsZero() {
							t.Errorf("the mirror of %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
						}
					}
					if t.Failed() {
						t.Fatalf("that is with it at point %d", n)
					}
					if !p.Reached() {
						points.Struck(t, n-1, 2)
						return
					}
				}
			})
		}
	}
}
