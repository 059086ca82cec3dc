package main

import (
	"net/http"
	"testing"
	"time"
)

// TestDeletion_WithLostPushAndExpiredToken_CancelsOnce: the push is lost and the sync
// token expires, so no listing ever shows the deletion.
func TestDeletion_WithLostPushAndExpiredToken_CancelsOnce(t *testing.T) {
	t.Parallel()
	for name, trigger := range map[string]func(s, other *session){
		"found when another event changes": func(_, other *session) { other.move(time.Hour) },
		"found when a person asks":         func(s, _ *session) { s.ask("sync", nil).want(s.t, http.StatusOK) },
		"found by both at once": func(s, other *session) {
			atOnce(func() { other.move(time.Hour) }, func() { s.ask("sync", nil) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startCases(t)
			s, moved, still, other := newSession(o, "gm"), newSession(o, "gm"), newSession(o, "gm"), newSession(o, "gm")
			untouched := still.state()
			o.plant("push", map[string]any{"drop": true})
			s.google("DELETE", nil).want(t, http.StatusNoContent)
			moved.move(24 * time.Hour)
			o.sim("POST", "expire-sync-tokens", nil)
			o.heal()
			trigger(s, other)
			s.becomesCancelled()
			s.becomesAnnounced("SESSION_CANCELLED", 1)
			moved.becomesMoved(24 * time.Hour)
			moved.becomesAnnounced("SESSION_RESCHEDULED", 1)
			s.unchangedBy(func() {
				o.sim("POST", "expire-sync-tokens", nil)
				s.ask("sync", nil).want(t, http.StatusOK)
			})
			s.wantDecisions("finalise", "cancel")
			moved.wantDecisions("finalise", "reschedule")
			still.wantState(untouched, "after the gap")
		})
	}
}

// TestPush_SentThreeTimes_MakesOneTransition: Google delivers every push three times.
func TestPush_SentThreeTimes_MakesOneTransition(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	s := newSession(o, "gm")
	o.plant("push", map[string]any{"duplicate": 2})
	s.move(time.Hour)
	s.becomesMoved(time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	s.move(0)
	s.becomes("is restored", map[string]any{"sync.state": "OK", "winning_slot.id": s.slots[0]["id"]})
	s.becomesAnnounced("SESSION_RESTORED", 1)
	s.google("DELETE", nil).want(t, http.StatusNoContent)
	s.becomesCancelled()
	s.becomesAnnounced("SESSION_CANCELLED", 1)
	s.unchangedBy(func() {})
	s.wantDecisions("finalise", "reschedule", "restore", "cancel")
}
