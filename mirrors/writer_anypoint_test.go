package mirrors_test

import (
	"testing"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/test/points"
)

// Whatever else happens at any of a writer's calls, calendars show in the end what is wanted then.
func TestWriter_SomethingElseAtAnyPoint_EndsAsWanted(t *testing.T) {
	t.Parallel()
	second := exception("e1", at("2026-03-12T09:00:00Z"))
	moved := func(e *mirror.Event) { e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z") }
	single := func(s *stage) { s.event("e1", "Stand-up"); s.run(time.Minute) }
	series := func(s *stage) { s.event("e1", "Weekly", weekly); s.run(time.Minute) }
	anotherWriter := func(s *stage) {
		for _, m := range s.mirrors() {
			s.write(s.newConcurrentWriter(), m)
		}
	}
	flows := map[string]struct {
		begin, act func(s *stage)
		weekly     bool
	}{
		"create":                       {func(*stage) {}, func(s *stage) { s.event("e1", "Stand-up") }, false},
		"change":                       {single, func(s *stage) { s.event("e1", "Review") }, false},
		"delete":                       {single, func(s *stage) { s.edges = nil; s.plan("e1@google.com") }, false},
		"create in an overlay":         {(*stage).toOverlay, func(s *stage) { s.event("e1", "Stand-up") }, false},
		"move to an overlay":           {single, func(s *stage) { s.toOverlay(); s.plan("e1@google.com") }, false},
		"move an occurrence":           {series, func(s *stage) { s.event("e2", "Late", second, moved) }, true},
		"make a series a single event": {series, func(s *stage) { s.event("e1", "Once") }, false},
	}
	others := map[string]func(s *stage, weekly bool){
		"it changes": func(s *stage, isWeekly bool) {
			if isWeekly {
				s.event("e1", "Monthly", weekly)
				return
			}
			s.event("e1", "Retrospective")
		},
		"nobody wants it": func(s *stage, _ bool) {
			s.edges = nil
			s.plan("e1@google.com")
			anotherWriter(s)
		},
		"another writer is faster": func(s *stage, _ bool) { anotherWriter(s) },
		"the account is linked again": func(s *stage, _ bool) {
			s.account(home, accounts.Revoked)
			anotherWriter(s)
			s.relink(home)
		},
	}
	for name, flow := range flows {
		for what, other := range others {
			t.Run(name+": "+what, func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					s := newStage(t)
					flow.begin(s)
					s.points.DoAt(n, func() error { other(s, flow.weekly); return nil })
					flow.act(s)
					s.run(time.Minute)
					reached := s.points.Reached()
					s.run(15 * time.Minute)
					want := 1
					if len(s.edges) == 0 {
						want = 0
					}
					s.each(want)
					if t.Failed() {
						t.Fatalf("that is with it at point %d", n)
					}
					if !reached {
						points.Struck(t, n-1, leastPoints)
						return
					}
				}
			})
		}
	}
}
