package main

import (
	"net/http"
	"testing"
	"time"
)

// wholeCalendar are the calls that an outage refuses. Users' own changes are made by
// events.patch, which it lets through.
const wholeCalendar = "events.list|events.get|events.insert|events.delete|events.watch"

// TestOutage_WholeCalendar_ChangesNothingThenCatchesUp: events are moved and deleted
// while Google refuses every call. No poll changes until Google answers again.
func TestOutage_WholeCalendar_ChangesNothingThenCatchesUp(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]struct {
		status int
		reason string
		// asked: the next sync run would come only after half a minute, so a user asks
		// for it.
		asked bool
	}{
		"503":                           {status: 503},
		"429":                           {status: 429},
		"403 for too many requests":     {status: 403, reason: "userRateLimitExceeded"},
		"403 for an unknown reason":     {status: 403, reason: "forbidden", asked: true},
		"404 as for a foreign calendar": {status: 404, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startCases(t)
			moved, deleted, still := newSession(o, "gm"), newSession(o, "gm"), newSession(o, "gm")
			all := []*session{moved, deleted, still}
			var before []string
			for _, s := range all {
				before = append(before, s.state())
			}
			o.plant(wholeCalendar, map[string]any{"status": outage.status, "reason": outage.reason})
			refused := o.calls("events.list")
			moved.move(24 * time.Hour)
			deleted.patch(map[string]any{"status": "cancelled"})
			for _, s := range all {
				s.ask("sync", nil).want(t, http.StatusOK)
			}
			eventually(t, "a sync run during the outage", func() error { return o.atLeast("events.list", refused+1) })
			for i, s := range all {
				s.wantState(before[i], "during the outage")
			}

			o.heal()
			if outage.asked {
				still.ask("sync", nil).want(t, http.StatusOK)
			}
			moved.becomesMoved(24 * time.Hour)
			moved.becomesAnnounced("SESSION_RESCHEDULED", 1)
			deleted.becomesCancelled()
			deleted.becomesAnnounced("SESSION_CANCELLED", 1)
			moved.wantDecisions("finalise", "reschedule")
			deleted.wantDecisions("finalise", "cancel")
			still.wantState(before[2], "after the outage")
		})
	}
}

// TestOutage_OneMethod_ChangesNothingThenCatchesUp: Google refuses one method and
// answers all others.
func TestOutage_OneMethod_ChangesNothingThenCatchesUp(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"events.list", "events.get"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			demo := startCases(t)
			for name, fault := range map[string]map[string]any{
				"503": {"status": 503}, "429": {"status": 429}, "404": {"status": 404},
				"403": {"status": 403, "reason": "forbidden"},
			} {
				t.Run(name, func(t *testing.T) { // one outage at a time
					o := demo.in(t)
					s := newSession(o, "gm")
					s.ask("sync", nil).want(t, http.StatusOK) // or the next one lists the insertion, and fetches nothing
					before := s.state()
					o.plant(method, fault)
					refused := o.calls(method)
					s.ask("sync", nil).want(t, http.StatusOK) // which fetches the event individually
					eventually(t, "a sync run during the outage", func() error { return o.atLeast(method, refused+1) })
					s.wantState(before, "during the outage")
					o.heal()
					s.ask("sync", nil).want(t, http.StatusOK)
					s.unchangedBy(func() {})
					s.move(time.Hour)
					s.becomesMoved(time.Hour)
					s.becomesAnnounced("SESSION_RESCHEDULED", 1)
					s.wantDecisions("finalise", "reschedule")
				})
			}
		})
	}
}
