package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// hasOneEvent checks that the calendar holds one event of the poll, the followed one.
func (s *session) hasOneEvent() error {
	if events := s.events(s.title); len(events) != 1 || events[0]["id"] != s.event {
		return fmt.Errorf("the calendar holds %d events of %s, want %s alone: %v", len(events), s.title, s.event, events)
	}
	return nil
}

func (s *session) wantOneEvent() {
	s.t.Helper()
	if err := s.hasOneEvent(); err != nil {
		s.t.Error(err)
	}
}

// TestFinaliseAgain_AfterTheEventWasDeleted_CreatesAnother: the new event is followed
// as the first one was.
func TestFinaliseAgain_AfterTheEventWasDeleted_CreatesAnother(t *testing.T) {
	t.Parallel()
	demo := startCases(t)
	for name, noticed := range map[string]bool{"once the poll was cancelled": true, "before anybody noticed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(demo.in(t), "gm")
			s.google("DELETE", nil).want(t, http.StatusNoContent)
			if noticed {
				s.becomesCancelled()
				s.becomesAnnounced("SESSION_CANCELLED", 1)
			}
			deleted := s.event
			s.finalised(nil)
			if s.event == deleted {
				t.Fatal("the new event has the id of the deleted one")
			}
			s.becomes("is finalised", map[string]any{
				"status": "FINALIZED", "sync.state": "OK", "sync.cancelled": nil, "winning_slot.id": s.slots[0]["id"],
			})
			s.unchangedBy(func() {})
			s.wantOneEvent()
			s.move(time.Hour)
			s.becomesMoved(time.Hour)
			s.becomesAnnounced("SESSION_RESCHEDULED", 1)
		})
	}
}

// TestMove_ByFourMonths_IsFollowed, there and back.
func TestMove_ByFourMonths_IsFollowed(t *testing.T) {
	t.Parallel()
	s := newSession(startCases(t), "gm")
	far := s.start.AddDate(0, 4, 0).Sub(s.start)
	s.move(far)
	s.becomesMoved(far)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	s.move(0)
	s.becomes("is restored", map[string]any{"sync.state": "OK", "winning_slot.id": s.slots[0]["id"], "original_slot": nil})
	s.becomesAnnounced("SESSION_RESTORED", 1)
	s.wantDecisions("finalise", "reschedule", "restore")
}

// TestWallTimesWithAZone_AcrossAClockChange_AreReadRight: a calendar client may
// write a time as clocks show it, and name the zone. Berlin's clocks go from 2:00
// to 3:00 on 28 March 2027, and from 3:00 back to 2:00 on 31 October 2027.
func TestWallTimesWithAZone_AcrossAClockChange_AreReadRight(t *testing.T) {
	t.Parallel()
	demo := startCases(t)
	for name, c := range map[string]struct{ zone, from, to, start, end string }{
		"the evening before the spring": {
			"Europe/Berlin", "2027-03-27T22:00:00", "2027-03-27T23:30:00", "2027-03-27T21:00:00Z", "2027-03-27T22:30:00Z",
		},
		"a night that is an hour shorter": {
			"Europe/Berlin", "2027-03-27T22:00:00", "2027-03-28T04:00:00", "2027-03-27T21:00:00Z", "2027-03-28T02:00:00Z",
		},
		"the evening after the spring": {
			"Europe/Berlin", "2027-03-28T22:00:00", "2027-03-28T23:30:00", "2027-03-28T20:00:00Z", "2027-03-28T21:30:00Z",
		},
		"a start that clocks skip": {
			"Europe/Berlin", "2027-03-28T02:30:00", "2027-03-28T05:00:00", "2027-03-28T01:30:00Z", "2027-03-28T03:00:00Z",
		},
		"the evening before the autumn": {
			"Europe/Berlin", "2027-10-30T22:00:00", "2027-10-30T23:30:00", "2027-10-30T20:00:00Z", "2027-10-30T21:30:00Z",
		},
		"a night that is an hour longer": {
			"Europe/Berlin", "2027-10-30T22:00:00", "2027-10-31T04:00:00", "2027-10-30T20:00:00Z", "2027-10-31T03:00:00Z",
		},
		"a start that clocks show twice": {
			"Europe/Berlin", "2027-10-31T02:30:00", "2027-10-31T04:00:00", "2027-10-31T00:30:00Z", "2027-10-31T03:00:00Z",
		},
		"the evening after the autumn": {
			"Europe/Berlin", "2027-10-31T22:00:00", "2027-10-31T23:30:00", "2027-10-31T21:00:00Z", "2027-10-31T22:30:00Z",
		},
		"a zone that changes by half an hour": {
			"Australia/Lord_Howe", "2027-04-03T23:00:00", "2027-04-04T03:00:00", "2027-04-03T12:00:00Z", "2027-04-03T16:30:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(demo.in(t), "gm")
			s.patch(map[string]any{
				"start": map[string]any{"dateTime": c.from, "timeZone": c.zone},
				"end":   map[string]any{"dateTime": c.to, "timeZone": c.zone},
			})
			s.becomes("moves", map[string]any{"sync.state": "RESCHEDULED", "winning_slot.start": c.start, "winning_slot.end": c.end})
			s.becomesAnnounced("SESSION_RESCHEDULED", 1)
			start, end := instant(t, c.start), instant(t, c.end)
			s.unchangedBy(func() { s.patch(times(start, end)) }) // the same, said in UTC
		})
	}
}
