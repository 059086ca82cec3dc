package main

import (
	"net/http"
	"testing"
	"time"
)

// wholeCalendar are the calls that a storm refuses. People's own changes are
// made by events.patch, so that they come through.
const wholeCalendar = "events.list|events.get|events.insert|events.delete|events.watch"

// TestOutage_WholeCalendar_ChangesNothingThenCatchesUp: while
// Google refuses everything, events are moved and deleted; no poll changes until
// Google answers again.
func TestOutage_WholeCalendar_ChangesNothingThenCatchesUp(t *testing.T) {
	t.Parallel()
	for name, storm := range map[string]struct {
		status int
		reason string
		// asked: after such an answer the next look takes half a minute to come
		// by itself, so a person asks for it.
		asked bool
	}{
		"503":                           {status: 503},
		"429":                           {status: 429},
		"403 since we ask too often":    {status: 403, reason: "userRateLimitExceeded"},
		"403 for a reason not known":    {status: 403, reason: "forbidden", asked: true},
		"404 as of a calendar not ours": {status: 404, asked: true},
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
			o.plant(wholeCalendar, map[string]any{"status": storm.status, "reason": storm.reason})
			refused := o.calls("events.list")
			moved.move(24 * time.Hour)
			deleted.patch(map[string]any{"status": "cancelled"})
			for _, s := range all {
				s.ask("sync", nil).want(t, http.StatusOK)
			}
			eventually(t, "a look in the storm", func() error { return o.atLeast("events.list", refused+1) })
			for i, s := range all {
				s.wantState(before[i], "in the storm")
			}

			o.heal()
			if storm.asked {
				still.ask("sync", nil).want(t, http.StatusOK)
			}
			moved.becomesMoved(24 * time.Hour)
			moved.becomesAnnounced("SESSION_RESCHEDULED", 1)
			deleted.becomesCancelled()
			deleted.becomesAnnounced("SESSION_CANCELLED", 1)
			moved.wantDecisions("finalise", "reschedule")
			deleted.wantDecisions("finalise", "cancel")
			still.wantState(before[2], "after the storm")
		})
	}
}

// TestOutage_OneMethod_ChangesNothingThenCatchesUp: the calendar
// answers, and one of its methods does not.
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
				t.Run(name, func(t *testing.T) { // one storm at a time
					o := demo.in(t)
					s := newSession(o, "gm")
					before := s.state()
					o.plant(method, fault)
					refused := o.calls(method)
					s.ask("sync", nil).want(t, http.StatusOK) // which asks for the event by itself
					eventually(t, "a look in the storm", func() error { return o.atLeast(method, refused+1) })
					s.wantState(before, "in the storm")
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
