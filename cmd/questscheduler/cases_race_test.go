package main

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// atOnce runs functions concurrently and waits for all of them.
func atOnce(acts ...func()) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for _, act := range acts {
		all.Go(func() { <-begin; act() })
	}
	close(begin)
	all.Wait()
}

// rounds is how often each race is repeated.
const rounds = 6

// tryMove moves the event, unless it is gone.
func (s *session) tryMove(by time.Duration) {
	if got := s.google("PATCH", times(s.start.Add(by), s.end.Add(by))); got.status != http.StatusOK && got.status != http.StatusForbidden {
		s.t.Errorf("a move answers %d: %v", got.status, got.body)
	}
}

// becomesWithoutEvent awaits that no event of the poll is left in its creator's
// calendar.
func (s *session) becomesWithoutEvent() {
	s.t.Helper()
	eventually(s.t, s.title+" has no event", func() error {
		if events := s.events(s.title); len(events) > 0 {
			return fmt.Errorf("the calendar holds %v", events)
		}
		return nil
	})
}

// TestCancel_RacingAMove_EndsCancelled: whichever comes first, neither the event nor a
// calendar slot is left.
func TestCancel_RacingAMove_EndsCancelled(t *testing.T) {
	t.Parallel()
	demo := startCases(t)
	orders := map[string]func(cancel, move func()){
		"the move, then the cancel": func(cancel, move func()) { move(); cancel() },
		"the cancel, then the move": func(cancel, move func()) { cancel(); move() },
		"the move again after it":   func(cancel, move func()) { move(); cancel(); move() },
	}
	for i := range rounds {
		orders[fmt.Sprintf("both at once, round %d", i)] = func(cancel, move func()) { atOnce(cancel, move) }
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(demo.in(t), "gm")
			order(func() { s.ask("cancel", nil).want(t, http.StatusOK) }, func() { s.tryMove(24 * time.Hour) })
			s.becomesWithoutEvent()
			s.becomesAnnounced("SESSION_CANCELLED", 1)
			s.unchangedBy(func() {})
			if err := s.is(map[string]any{
				"status": "CANCELLED", "sync.state": "CANCELLED", "sync.cancelled.reason": "manual", "google_event_id": nil,
			})(); err != nil {
				t.Error(err)
			}
			if done := s.decisions(); done[len(done)-1] != "cancel" {
				t.Errorf("the journal says %v, want it to end with the cancel", done)
			}
		})
	}
}

// TestReopen_RacingADeletion_EndsOpen: the deletion is not announced after the
// reopening, and the next finalisation creates a new event.
func TestReopen_RacingADeletion_EndsOpen(t *testing.T) {
	t.Parallel()
	demo := startCases(t)
	orders := map[string]func(reopen, remove func()){
		"the deletion, then the reopening": func(reopen, remove func()) { remove(); reopen() },
		"the reopening, then the deletion": func(reopen, remove func()) { reopen(); remove() },
	}
	for i := range rounds {
		orders[fmt.Sprintf("both at once, round %d", i)] = func(reopen, remove func()) { atOnce(reopen, remove) }
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(demo.in(t), "gm")
			order(func() { s.ask("reopen", nil).want(t, http.StatusOK) }, func() { s.google("DELETE", nil).want(t, http.StatusNoContent) })
			open := s.is(map[string]any{
				"status": "OPEN", "sync.state": "", "sync.cancelled": nil, "winning_slot": nil, "original_slot": nil, "participants_hidden": false,
			})
			if err := open(); err != nil {
				t.Error(err)
			}
			done := fmt.Sprint(s.decisions())
			switch done {
			case "[finalise reopen]":
			case "[finalise cancel reopen]": // the cancellation may be announced
				newSession(s.outside, s.who).witnesses()
			default:
				t.Errorf("the journal says %v", done)
			}
			s.unchangedBy(func() {})
			deleted := s.event
			s.finalised(nil)
			if s.event == deleted {
				t.Error("the new event has the id of the deleted one")
			}
			s.becomes("is finalised", map[string]any{"status": "FINALIZED", "sync.state": "OK"})
		})
	}
}
