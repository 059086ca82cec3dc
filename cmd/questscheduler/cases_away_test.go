package main

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"questscheduler/sim/google"
)

// clubCalendar is the game master's second calendar.
const clubCalendar = "club@group.calendar.party.example"

// startCasesWithClub is startCases for a game master who has a second calendar,
// which nobody can make from outside.
func startCasesWithClub(t *testing.T) *outside {
	t.Helper()
	dir := dataDir(t)
	d, err := openDemo(t.Context(), dir, "127.0.0.1:0", Process{Stderr: testLog{t}, Environ: []string{"QS_SYNC_MIN_GAP=20ms"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.end(); err != nil {
			t.Error(err)
		}
	})
	if err := d.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.sims.googleServer.AddCalendar(google.Calendar{ID: clubCalendar, Summary: "Club", Owner: "gm"}); err != nil {
		t.Fatal(err)
	}
	return &outside{t, d.ready()}
}

// moveFrom moves the event of a session out of a calendar into another.
func (s *session) moveFrom(from, to string) {
	s.t.Helper()
	gm := s.ready.Users["gm"]
	address := s.ready.Google + "/calendar/v3/calendars/" + from + "/events/" + s.event + "/move?destination=" + url.QueryEscape(to)
	s.do("POST", address, "Bearer "+gm.GoogleToken, nil).want(s.t, http.StatusOK)
}

// TestAnEventMovedToAnotherCalendar_CancelsItsPoll: in the calendar that it left
// it reads as a deletion, and is one once the calendar confirms it. Where it went
// it has the same id and is another thing, though we follow that calendar too.
func TestAnEventMovedToAnotherCalendar_CancelsItsPoll(t *testing.T) {
	t.Parallel()
	o := startCasesWithClub(t)
	clubs := newPoll(o, "gm").finalised(map[string]any{"calendar_id": clubCalendar})
	before := clubs.tell()
	home := o.ready.Users["gm"].CalendarID

	s := newSession(o, "gm")
	s.moveFrom(home, clubCalendar)
	s.becomesCancelled()
	s.becomesTold("SESSION_CANCELLED", 1)
	s.unchangedBy(func() { s.moveFrom(clubCalendar, home) }) // too late: it was told
	s.wantDecisions("finalise", "cancel")

	back := newSession(o, "gm")
	back.unchangedBy(func() {
		// Neither does a look come between that was owed before.
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

	gone := newSession(o, "gm")
	o.plant("push", map[string]any{"drop": true})
	gone.moveFrom(home, clubCalendar)
	o.sim("POST", "expire-sync-tokens", nil)
	o.heal()
	gone.ask("sync", nil).want(t, http.StatusOK)
	gone.becomesCancelled()
	gone.becomesTold("SESSION_CANCELLED", 1)
	gone.wantDecisions("finalise", "cancel")
	clubs.wantStory(before, "after other events came and went")
}
