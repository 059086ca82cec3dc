package mirrors_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors/plan"
)

// leastPoints is how many points each of the flows below has at least, far below what it has.
const leastPoints = 5

// After the program ends, or a call goes unanswered, at any of its calls, each mirror has
// exactly its one event in the end.
func TestFaults_Anywhere_LeaveOneEventPerMirror(t *testing.T) {
	t.Parallel()
	moved := func(e *mirror.Event) { e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z") }
	late := exception("e1", at("2026-03-12T09:00:00Z"))
	for _, c := range []struct {
		name   string
		begin  func(s *stage)
		act    func(s *stage)
		events int
	}{
		{"create", func(*stage) {}, func(s *stage) { s.event("e1", "Stand-up") }, 1},
		{"change", func(s *stage) { s.event("e1", "Stand-up") }, func(s *stage) { s.event("e1", "Retrospective") }, 1},
		{"delete", func(s *stage) { s.event("e1", "Stand-up") }, func(s *stage) { s.edges = nil; s.plan("e1@google.com") }, 0},
		{"delete and create again", func(s *stage) { s.event("e1", "Stand-up") }, func(s *stage) {
			edges := s.edges
			s.edges = nil
			s.plan("e1@google.com")
			s.edges = edges
			s.plan("e1@google.com")
		}, 1},
		{
			"change after a person deleted it", func(s *stage) { s.event("e1", "Stand-up"); s.run(0); s.delete(s.atHome()) },
			func(s *stage) { s.event("e1", "Retrospective") }, 1,
		},
		{"create in an overlay calendar", (*stage).toOverlay, func(s *stage) { s.event("e1", "Stand-up"); s.event("e2", "Review") }, 2},
		{
			"move to an overlay calendar", func(s *stage) { s.event("e1", "Stand-up") },
			func(s *stage) { s.toOverlay(); s.plan("e1@google.com") }, 1,
		},
		{"create a series with an exception", func(*stage) {}, func(s *stage) {
			s.event("e1", "Weekly", weekly)
			s.event("e2", "Late", late, moved)
		}, 1},
		{"move a series with an exception to an overlay calendar", func(s *stage) {
			s.event("e1", "Weekly", weekly)
			s.event("e2", "Late", late, moved)
		}, func(s *stage) { s.toOverlay(); s.plan("e1@google.com") }, 1},
	} {
		for what, strike := range map[string]func(p *points.Points, n int){
			"it dies": (*points.Points).DieAt, "a call fails": (*points.Points).FailAt, "it dies and moves": (*points.Points).DieAt,
		} {
			t.Run(c.name+": "+what, func(t *testing.T) {
				t.Parallel()
				reached, n := true, 1
				for ; reached && n < 200; n++ {
					t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
						reached = false // unless it is
						s := newStage(t)
						c.begin(s)
						s.run(2 * time.Minute)
						strike(s.points, n)
						points.Survives(func() { c.act(s); s.run(time.Minute) })
						reached = s.points.Reached()
						if reached {
							if what == "it dies and moves" {
								s.address = "there"
							}
							s.restart()
						}
						s.run(15 * time.Minute)
						s.each(c.events)
					})
				}
				points.Struck(t, n-2, leastPoints)
			})
		}
	}
}

func (s *stage) toOverlay() {
	s.edges = []mirror.Edge{{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.Overlay}}
}

// each fails unless every mirror is ACTIVE, and all calendars of home together show its one
// event for each, as projected, and no others.
func (s *stage) each(want int) {
	s.Helper()
	entries, err := s.full.Calendars(s.ctx, home)
	s.must(err)
	if len(entries) > 2 {
		s.Errorf("home has the calendars %+v", entries)
	}
	byID := map[string]string{}
	for _, m := range s.mirrors() {
		if m.TargetAccountID != home {
			continue
		}
		if m.State != mirror.Active || !m.Due.IsZero() {
			s.Errorf("the mirror of %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
		}
		if m.Target == mirror.Overlay && m.TargetCalendarID == homeMail {
			s.Errorf("the mirror of %s is in the primary calendar", m.CanonicalID)
		}
		byID[m.EventID] = m.CanonicalID
	}
	events := 0
	for _, entry := range entries {
		for _, shown := range s.shown(home, entry.ID) {
			canonical, mapped := byID[shown.ID]
			if !mapped {
				s.Errorf("the event %s in %s is no mirror's", shown.ID, entry.Summary)
				continue
			}
			event, err := mirror.LoadEvent(s.ctx, s.memory, canonical)
			s.must(err)
			if plan.Hash(plan.Shown(*shown.Details)) != plan.Hash(plan.Project(event, mirror.Full)) {
				s.Errorf("the event of %s shows %+v", canonical, shown.Details)
			}
			delete(byID, shown.ID)
			if shown.InstanceOf == "" {
				events++
			}
		}
	}
	if len(byID) > 0 || events != want {
		s.Errorf("%d events are shown, want %d; not shown are %v", events, want, byID)
	}
	if s.Failed() {
		s.Logf("%s", s.log.String())
	}
}
