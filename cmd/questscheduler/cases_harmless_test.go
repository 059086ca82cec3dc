package main

import (
	"net/http"
	"testing"
	"time"
)

// TestEventEdit_WithoutATimeChange_ChangesNothing: only a new time of the session's own
// event is a decision. Any other edit is neither journalled nor announced.
func TestEventEdit_WithoutATimeChange_ChangesNothing(t *testing.T) {
	t.Parallel()
	demo := startCases(t)
	for name, act := range map[string]func(s *session){
		"the title is edited":       func(s *session) { s.patch(map[string]any{"summary": "Another title"}) },
		"the description is edited": func(s *session) { s.patch(map[string]any{"description": "Bring more dice."}) },
		"a guest is invited": func(s *session) {
			s.patch(map[string]any{"attendees": []any{map[string]any{"email": "ben@party.example"}}})
		},
		"the reminders are changed": func(s *session) {
			s.patch(map[string]any{
				"reminders": map[string]any{"useDefault": false, "overrides": []any{map[string]any{"method": "popup", "minutes": 5}}},
			})
		},
		"the same instants are written in another offset": func(s *session) {
			kathmandu := time.FixedZone("", 5*3600+45*60)
			s.patch(times(s.start.In(kathmandu), s.end.In(kathmandu)))
		},
		"the same instants are written as wall times of another zone": func(s *session) {
			tokyo := s.start.Add(9 * time.Hour)
			s.patch(map[string]any{
				"start": map[string]any{"dateTime": tokyo.Format("2006-01-02T15:04:05"), "timeZone": "Asia/Tokyo"},
				"end":   map[string]any{"dateTime": tokyo.Add(s.end.Sub(s.start)).Format("2006-01-02T15:04:05"), "timeZone": "Asia/Tokyo"},
			})
		},
		"the event is written anew as it was": func(s *session) { s.move(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(demo.in(t), "gm")
			s.unchangedBy(func() { act(s) })
			s.wantDecisions("finalise")
		})
	}
}

// TestGuestCopy_Removed_ChangesNothing: the copy has the event's id and is in a
// calendar that is followed too.
func TestGuestCopy_Removed_ChangesNothing(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	anas := newSession(o, "ana")
	s := newPoll(o, "gm").finalised(map[string]any{"attendees": []string{"ana@party.example"}})
	before := anas.state()
	s.unchangedBy(func() {
		got, err := o.eventOf("ana", "GET", s.event, nil)
		if err != nil || got.status != http.StatusOK {
			t.Fatalf("ana has no copy of the event: %v %v", got, err)
		}
		got, err = o.eventOf("ana", "DELETE", s.event, nil)
		if err != nil || got.status != http.StatusNoContent {
			t.Fatalf("ana cannot remove her copy: %v %v", got, err)
		}
		anas.unchangedBy(func() {}) // her calendar was synced since
	})
	anas.wantState(before, "after its creator removed a copy of another session's event")
	if event := s.google("GET", nil).want(t, http.StatusOK); event.body["status"] != "confirmed" {
		t.Errorf("the organiser's event is %v", event.body["status"])
	}
}

// TestUndoneChange_BetweenTwoSyncRuns_ChangesNothing: no sync run reads the change,
// because its pushes are lost or because every sync run fails.
func TestUndoneChange_BetweenTwoSyncRuns_ChangesNothing(t *testing.T) {
	t.Parallel()
	for outage, begin := range map[string]func(o *outside){
		"its pushes are lost": func(o *outside) {
			o.plant("push", map[string]any{"drop": true})
			o.plant("events.list", map[string]any{"status": 503}) // for a sync run that was pending before
		},
		"every sync run fails": func(o *outside) { o.plant("events.list", map[string]any{"status": 503}) },
	} {
		t.Run(outage, func(t *testing.T) {
			t.Parallel()
			demo := startCases(t)
			for name, act := range map[string]func(s *session){
				"a move": func(s *session) { s.move(24 * time.Hour); s.move(0) },
				"several moves, the last one back": func(s *session) {
					s.move(24 * time.Hour)
					s.move(48 * time.Hour)
					s.move(0)
				},
				"a day instead of an evening": func(s *session) {
					day := map[string]any{"date": s.start.Format(time.DateOnly), "dateTime": nil, "timeZone": nil}
					next := map[string]any{"date": s.start.AddDate(0, 0, 1).Format(time.DateOnly), "dateTime": nil, "timeZone": nil}
					s.patch(map[string]any{"start": day, "end": next})
					s.patch(map[string]any{
						"start": map[string]any{"dateTime": s.start.Format(time.RFC3339), "date": nil},
						"end":   map[string]any{"dateTime": s.end.Format(time.RFC3339), "date": nil},
					})
				},
				"a deletion": func(s *session) {
					s.google("DELETE", nil).want(s.t, http.StatusNoContent)
					s.patch(map[string]any{"status": "confirmed"})
				},
			} {
				t.Run(name, func(t *testing.T) { // one at a time: all sessions share the faults
					o := demo.in(t)
					s := newSession(o, "gm")
					s.unchangedBy(func() {
						begin(o)
						act(s)
						o.heal()
					})
					s.wantDecisions("finalise")
				})
			}
		})
	}
}
