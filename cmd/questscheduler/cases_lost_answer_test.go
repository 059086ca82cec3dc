package main

import (
	"net/http"
	"testing"
	"time"
)

// In these cases Google carries out the call and its answer is lost.

// lost makes the simulator drop its answer to the next call of a method.
func (o *outside) lost(method string) {
	o.t.Helper()
	o.plant(method, map[string]any{"lost_answer": true, "times": 1})
}

// TestInsert_AnswerLost_EndsInOneEvent: a retry finalises with the existing event, with
// or without an idempotency key.
func TestInsert_AnswerLost_EndsInOneEvent(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	for _, ask := range []struct {
		name    string
		headers []string
	}{
		{"asked again", nil},
		{"asked again under the same key", []string{"Idempotency-Key", "one-and-the-same"}},
	} {
		t.Run(ask.name, func(t *testing.T) { // one at a time: the fault hits the first caller
			s := newPoll(o.in(t), "gm")
			o.lost("events.insert")
			s.finalise(nil, ask.headers...).want(t, http.StatusServiceUnavailable)
			if events := s.events(s.title); len(events) != 1 {
				t.Fatalf("the insert left %d events, want one", len(events))
			}
			s.finalise(nil, ask.headers...).want(t, http.StatusOK)
			s.knowEvent()
			if events := s.events(s.title); len(events) != 1 || events[0]["id"] != s.event {
				t.Errorf("the calendar holds %v, want the event %s alone", events, s.event)
			}
			s.wantDecisions("finalise")
			s.move(time.Hour)
			s.becomesMoved(time.Hour)
			s.becomesAnnounced("SESSION_RESCHEDULED", 1)
		})
	}
}

// TestInsert_AnswerLostThenCancelled_LeavesNoEvent: nobody retries, and the unknown
// event is deleted all the same.
func TestInsert_AnswerLostThenCancelled_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	s := newPoll(o, "gm")
	o.lost("events.insert")
	s.finalise(nil).want(t, http.StatusServiceUnavailable)
	s.ask("cancel", nil).want(t, http.StatusOK)
	s.becomesWithoutEvent()
	s.becomes("is cancelled", map[string]any{"status": "CANCELLED", "sync.cancelled.reason": "manual", "google_event_id": nil})
	s.wantDecisions("cancel")
}

// TestDelete_AnswerLost_EndsInNoEvent: the second deletion finds the event deleted and
// succeeds.
func TestDelete_AnswerLost_EndsInNoEvent(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	s := newSession(o, "gm")
	o.lost("events.delete")
	s.ask("cancel", nil).want(t, http.StatusOK)
	s.becomesWithoutEvent()
	eventually(t, "the second deletion", func() error { return o.atLeast("events.delete", 2) })
	s.becomesAnnounced("SESSION_CANCELLED", 1)
	s.unchangedBy(func() {})
	s.wantDecisions("finalise", "cancel")
	s.is(map[string]any{"status": "CANCELLED", "sync.state": "CANCELLED", "sync.cancelled.reason": "manual"})
}

// TestPatch_AnswerLost_RestoresOnce: the event is back at its original time. The
// command and the sync run both find that, and it is announced once.
func TestPatch_AnswerLost_RestoresOnce(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	s := newSession(o, "gm")
	s.move(time.Hour)
	s.becomesMoved(time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	o.lost("events.patch")
	s.ask("restore-original-time", nil).want(t, http.StatusServiceUnavailable)
	s.becomes("is restored", map[string]any{
		"status": "FINALIZED", "sync.state": "OK", "winning_slot.id": s.slots[0]["id"], "original_slot": nil, "participants_hidden": false,
	})
	s.becomesAnnounced("SESSION_RESTORED", 1)
	s.unchangedBy(func() {})
	s.wantDecisions("finalise", "reschedule", "restore")
}
