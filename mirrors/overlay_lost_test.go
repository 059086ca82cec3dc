package mirrors_test

import (
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/points"
)

// Some copies may still be recorded in a calendar that its owner deleted when another one is wanted.
func TestOverlay_DeletedAndInterruptedAtAnyPoint_GetsAllItsMirrorsAgain(t *testing.T) {
	t.Parallel()
	moved := func(e *mirror.Event) { e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z") }
	for name, find := range map[string]func(s *stage){
		"found by a reconciliation": func(s *stage) { s.reconcile(false) },
		"found by a write":          func(s *stage) { s.event("e1", "Retrospective"); s.run(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				s := newStage(t)
				s.toOverlay()
				s.event("e1", "Stand-up")
				s.event("e2", "Weekly", weekly)
				s.event("e2_x", "Late", exception("e2", at("2026-03-12T09:00:00Z")), moved)
				s.event("e3", "Review")
				s.run(2 * time.Minute)
				s.deleteCalendar(s.overlays()[0].ID)
				s.points.DieAt(n)
				points.Survives(func() { find(s) })
				reached := s.points.Reached()
				s.restart()
				if !s.person().Suppressed { // it is not known to be deleted yet
					s.reconcile(false)
				}
				s.setEdgesAgain()
				s.run(15 * time.Minute)
				s.each(3)
				if t.Failed() {
					t.Fatalf("that is interrupted at point %d", n)
				}
				if !reached {
					points.Struck(t, n-1, 10)
					return
				}
			}
		})
	}
}
