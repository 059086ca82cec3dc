package main

import (
	"net/http"
	"testing"
	"time"
)

// restore recovers the deleted event from the calendar's bin.
func (s *session) restore() {
	s.t.Helper()
	s.patch(map[string]any{"status": "confirmed"})
}

// A user deletes the event by mistake, the cancellation is announced, and the user
// presses Undo.
func TestUndo_AfterADeletion_BringsThePollBack(t *testing.T) {
	t.Parallel()
	s := newSession(startCases(t), "gm")
	s.google("DELETE", nil).want(t, http.StatusNoContent)
	s.becomesCancelled()
	s.becomesAnnounced("SESSION_CANCELLED", 1)
	s.restore()
	s.becomes("is on again", map[string]any{
		"status": "FINALIZED", "sync.state": "OK", "sync.cancelled": nil, "google_event_id": s.event, "winning_slot.id": s.slots[0]["id"],
	})
	s.becomesAnnounced("SESSION_ON_AGAIN", 1)
	s.wantDecisions("finalise", "cancel", "revive")
	s.move(time.Hour)
	s.becomesMoved(time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
}

func TestUndo_AfterAPersonDecided_ChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSession(startCases(t), "gm")
	s.google("DELETE", nil).want(t, http.StatusNoContent)
	s.becomesCancelled()
	s.becomesAnnounced("SESSION_CANCELLED", 1)
	s.ask("cancel", nil).want(t, http.StatusOK)
	s.becomes("is cancelled by hand", map[string]any{"status": "CANCELLED", "sync.cancelled.reason": "manual"})
	s.unchangedBy(s.restore)
	s.wantDecisions("finalise", "cancel", "cancel")
}

// A user drags the event to last year by mistake, several sync runs read it there, and
// the user drags it back.
func TestDrag_ToLastYearAndBack_RestoresThePoll(t *testing.T) {
	t.Parallel()
	demo := startCases(t)
	lastYear := -400 * 24 * time.Hour
	for name, back := range map[string]func(s *session){
		"in the calendar": func(s *session) { s.move(0) },
		"by command":      func(s *session) { s.ask("restore-original-time", nil).want(s.t, http.StatusOK) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(demo.in(t), "gm")
			s.move(lastYear)
			s.becomesMoved(lastYear)
			s.becomesAnnounced("SESSION_RESCHEDULED", 1)
			for range 2 {
				s.ask("sync", nil).want(t, http.StatusOK)
			}
			s.becomesMoved(lastYear)
			back(s)
			s.becomes("is restored", map[string]any{"sync.state": "OK", "winning_slot.id": s.slots[0]["id"], "original_slot": nil})
			s.becomesAnnounced("SESSION_RESTORED", 1)
		})
	}
}
