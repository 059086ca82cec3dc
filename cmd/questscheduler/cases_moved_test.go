package main

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/demo/sim/google"
)

// clubCalendar is the game master's second calendar.
const clubCalendar = "club@group.calendar.party.example"

// startCasesWithClub is startCases with a second calendar of the game master. No API
// creates or shares calendars, so the simulator adds it.
func startCasesWithClub(t *testing.T) (*outside, *google.Server) {
	t.Helper()
	dir := dataDir(t)
	d, err := openTestDemo(t.Context(), demo.Place{Dir: dir, Addr: "127.0.0.1:0"}, Process{
		Stderr: testLog{t}, Environ: []string{"QS_SYNC_MIN_GAP=20ms"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.End(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Google().AddCalendar(google.Calendar{ID: clubCalendar, Summary: "Club", Owner: "gm"}); err != nil {
		t.Fatal(err)
	}
	return &outside{t, d.Ready()}, d.Google()
}

// moveFrom moves a session's event to another calendar.
func (s *session) moveFrom(from, to string) {
	s.t.Helper()
	gm := s.ready.Users["gm"]
	address := s.ready.Google + "/calendar/v3/calendars/" + from + "/events/" + s.event + "/move?destination=" + url.QueryEscape(to)
	s.do("POST", address, "Bearer "+gm.GoogleToken, nil).want(s.t, http.StatusOK)
}

// inCalendar calls Calendar v3 for the session's event in one of the game master's
// calendars.
func (s *session) inCalendar(calendar, method string, body any) answer {
	s.t.Helper()
	gm := s.ready.Users["gm"]
	return s.do(method, s.ready.Google+"/calendar/v3/calendars/"+calendar+"/events/"+s.event, "Bearer "+gm.GoogleToken, body)
}

// TestEventMovedToAnotherCalendar_IsFollowed: the first calendar reports a deletion.
// The poll follows the event to the other calendar without an announcement, and
// changes there count.
func TestEventMovedToAnotherCalendar_IsFollowed(t *testing.T) {
	t.Parallel()
	o, _ := startCasesWithClub(t)
	home := o.ready.Users["gm"].CalendarID
	follows := func(s *session, calendar string) {
		s.t.Helper()
		s.becomes("follows its event to "+calendar, map[string]any{
			"status": "FINALIZED", "google_event_id": s.event, "google_calendar_id": calendar, "sync.error": nil,
		})
	}

	s := newSession(o, "gm")
	s.moveFrom(home, clubCalendar) // no poll followed this calendar before
	follows(s, clubCalendar)
	s.becomes("is in step", map[string]any{"sync.state": "OK"})
	s.wantDecisions("finalise", "moved_calendar")
	s.inCalendar(clubCalendar, "PATCH", times(s.start.Add(time.Hour), s.end.Add(time.Hour))).want(t, http.StatusOK)
	s.becomesMoved(time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	s.ask("restore-original-time", nil).want(t, http.StatusOK)
	s.becomesAnnounced("SESSION_RESTORED", 1)
	s.moveFrom(clubCalendar, home)
	follows(s, home)
	s.wantDecisions("finalise", "moved_calendar", "reschedule", "restore", "moved_calendar")

	back := newSession(o, "gm")
	back.unchangedBy(func() {
		// No pending sync run may come in between.
		for _, call := range []string{"events.list", "events.get"} {
			o.plant(call, map[string]any{"status": http.StatusServiceUnavailable})
		}
		o.plant("push", map[string]any{"drop": true})
		back.moveFrom(home, clubCalendar)
		back.moveFrom(clubCalendar, home)
		o.heal()
	})
	back.move(time.Hour)
	back.becomesMoved(time.Hour)

	gap := newSession(o, "gm")
	o.plant("push", map[string]any{"drop": true})
	gap.moveFrom(home, clubCalendar)
	o.sim("POST", "expire-sync-tokens", nil)
	o.heal()
	gap.ask("sync", nil).want(t, http.StatusOK)
	follows(gap, clubCalendar)

	unsynced := newSession(o, "gm")
	o.plant("push", map[string]any{"drop": true})
	unsynced.moveFrom(home, clubCalendar)
	unsynced.ask("cancel", nil).want(t, http.StatusOK)
	eventually(t, "the moved event is deleted", func() error {
		if status := unsynced.inCalendar(clubCalendar, "GET", nil).body["status"]; status != "cancelled" {
			return fmt.Errorf("it is %v", status)
		}
		return nil
	})
	o.heal()
}

// TestEventMovedOutOfReach_CancelsItsPoll: a move to a calendar that no linked account
// reads counts as a deletion and is announced once.
func TestEventMovedOutOfReach_CancelsItsPoll(t *testing.T) {
	t.Parallel()
	o, server := startCasesWithClub(t)
	s := newSession(o, "gm")
	o.plant("events.list", map[string]any{"status": http.StatusServiceUnavailable})
	s.moveFrom(o.ready.Users["gm"].CalendarID, clubCalendar)
	if err := server.Share(clubCalendar, "gm", google.NoAccess); err != nil {
		t.Fatal(err)
	}
	o.heal()
	s.becomesCancelled()
	s.becomesAnnounced("SESSION_CANCELLED", 1)
	s.wantDecisions("finalise", "cancel")
}
