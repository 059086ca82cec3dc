package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Changes of a past session's event decide nothing. Each change is one entry, and a
// repeated observation is none.
func TestApply_OfAPastSession_WritesEachChangeOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Skip(worldtest.Ten.End.Sub(w.Clock.Now()) + 30*time.Hour)
	account := w.Account("gm")
	made := w.Clock.Now()
	noon, eight := timeOf(worldtest.Noon), timeOf(worldtest.Times("2026-03-10T08:00:00Z", time.Hour))
	for i, step := range []struct {
		what    string
		state   rules.EventState
		at      rules.Fingerprint
		updated time.Duration
		entries int // that there are afterwards, beside the finalisation
	}{
		{"as it was", rules.Present, timeOf(worldtest.Ten), 0, 0},
		{"moved", rules.Present, noon, time.Second, 1},
		{"the same again", rules.Present, noon, time.Second, 1},
		{"another title", rules.Present, noon, 2 * time.Second, 1},
		{"moved on", rules.Present, eight, 3 * time.Second, 2},
		{"late news of before", rules.Present, noon, 2 * time.Second, 2},
		{"moved back", rules.Present, timeOf(worldtest.Ten), 4 * time.Second, 3},
		{"a series", rules.Series, rules.Fingerprint{}, 5 * time.Second, 4},
		{"deleted", rules.Gone, rules.Fingerprint{}, 6 * time.Second, 5},
		{"still deleted", rules.Gone, rules.Fingerprint{}, 0, 5},
		{"undeleted", rules.Present, noon, 7 * time.Second, 6},
	} {
		for range 2 {
			_, err := w.Scheduler.Apply(t.Context(), scheduler.ObservedEvent{
				AccountID: account, CalendarID: "gm@example.com", EventID: s.event, EventState: step.state, Fingerprint: step.at,
				Updated: made.Add(step.updated), Own: true, Cause: worldtest.Cause,
			})
			if err != nil {
				t.Fatal(err)
			}
			if entries := len(w.Journal(s.poll)) - 1; entries != step.entries {
				t.Fatalf("after step %d (%s) there are %d entries, want %d", i, step.what, entries, step.entries)
			}
		}
	}
	w.Check()
}

func timeOf(slot worldtest.Slot) rules.Fingerprint { return rules.Timed(slot.Start, slot.End) }

// An event that somebody drags to last year ends no session: whatever follows is
// followed.
func TestPast_EventDraggedToLastYear_IsFollowedOn(t *testing.T) {
	t.Parallel()
	lastYear := worldtest.Times("2025-03-10T10:00:00Z", 4*time.Hour)
	for name, c := range map[string]struct {
		drag  func(w *worldtest.World, s fixture)
		then  func(t *testing.T, w *worldtest.World, s fixture)
		after rules.State
	}{
		"and back": {
			func(w *worldtest.World, s fixture) { w.MoveEvent("gm", s.event, lastYear) },
			func(_ *testing.T, w *worldtest.World, s fixture) { w.MoveEvent("gm", s.event, worldtest.Ten) },
			rules.StateOK,
		},
		"as a whole day, and back": {
			func(w *worldtest.World, s fixture) {
				w.PatchEvent("gm", s.event, map[string]any{
					"start": map[string]any{"date": "2025-03-10", "dateTime": nil}, "end": map[string]any{"date": "2025-03-11", "dateTime": nil},
				})
			},
			func(_ *testing.T, w *worldtest.World, s fixture) {
				w.PatchEvent("gm", s.event, map[string]any{
					"start": map[string]any{"date": nil, "dateTime": worldtest.Ten.Start.Format(time.RFC3339)},
					"end":   map[string]any{"date": nil, "dateTime": worldtest.Ten.End.Format(time.RFC3339)},
				})
			},
			rules.StateOK,
		},
		"and put back by command": {
			func(w *worldtest.World, s fixture) { w.MoveEvent("gm", s.event, lastYear) },
			func(t *testing.T, w *worldtest.World, s fixture) {
				if _, err := w.Scheduler.RestoreOriginal(t.Context(), gm, s.poll, worldtest.Cause); err != nil {
					t.Fatal(err)
				}
			},
			rules.StateOK,
		},
		"and deleted": {
			func(w *worldtest.World, s fixture) { w.MoveEvent("gm", s.event, lastYear) },
			func(_ *testing.T, w *worldtest.World, s fixture) { w.DeleteEvent("gm", s.event) },
			rules.StateCancelled,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			c.drag(w, s)
			w.Run(time.Minute)
			equal(t, "state in last year", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
			for range 2 {
				w.Sweep()
				w.Run(6 * time.Hour)
			}
			c.then(t, w, s)
			w.Run(time.Minute)
			equal(t, "state afterwards", w.View(s.poll).Poll.Sync.State, c.after)
			atRest(t, w)
		})
	}
}

// A session that was moved, and held, is forgotten in time. A request for its
// original time then succeeds all the same.
func TestRestoreOriginal_OfForgottenSession_FollowsItAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	for range 43 { // by day, so that whatever is due is done
		w.Skip(24 * time.Hour)
		w.Sweep()
		w.Run(time.Minute)
	}
	equal(t, "index entries", len(w.Index()), 0)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	view, err := w.Scheduler.RestoreOriginal(t.Context(), gm, s.poll, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state after the command", view.Poll.Sync.State, rules.StateOK)
	equal(t, "event", w.EventOf("gm", s.event).Fingerprint(), view.Poll.Sync.Baseline)
	w.Check()
}

// A session that was put off in time is followed by that time, whatever its event
// is dragged to afterwards.
func TestPast_PutOffThenDraggedToLastYear_IsFollowedOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	june := worldtest.Times("2026-06-10T10:00:00Z", time.Hour)
	w.MoveEvent("gm", s.event, june)
	w.Run(time.Minute)
	for w.Clock.Now().Before(worldtest.Ten.End.Add(40 * 24 * time.Hour)) {
		w.Skip(24 * time.Hour)
		w.Sweep()
		w.Run(time.Minute)
	}
	w.MoveEvent("gm", s.event, worldtest.Times("2025-03-10T10:00:00Z", time.Hour))
	w.Run(time.Minute)
	w.Sweep()
	w.Run(time.Minute)
	w.MoveEvent("gm", s.event, june)
	w.Run(time.Minute)
	equal(t, "start", w.View(s.poll).Winning.Start, june.Start)
	w.DeleteEvent("gm", s.event)
	w.Run(time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

// What lets a session go that is long over comes between the two halves of the
// command.
func TestRestoreOriginal_ReleasedDuringIt_FollowsItOnceMore(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(w *worldtest.World){
		"the drain and its sync": func(w *worldtest.World) { w.Drain(); w.RunDue() },
		"a sweep":                func(w *worldtest.World) { w.Sweep() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := moved(w)
			for range 43 {
				w.Skip(24 * time.Hour)
				w.Sweep()
				w.Run(time.Minute)
			}
			w.On("after events.get", func() { between(w) })
			view, err := w.Scheduler.RestoreOriginal(t.Context(), gm, s.poll, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "state", view.Poll.Sync.State, rules.StateOK)
			w.Check()
		})
	}
}

// A person accepts the time in last year by mistake: for a day the event is
// followed on.
func TestPast_AcceptedByMistake_IsFollowedForADay(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Skip(48 * time.Hour)
	w.MoveEvent("gm", s.event, worldtest.Times("2025-03-10T10:00:00Z", time.Hour))
	w.Sweep()
	w.Run(time.Minute)
	shown := w.View(s.poll).Poll.Sync.Applied.String()
	if _, err := w.Scheduler.AcceptNew(t.Context(), gm, s.poll, shown, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	equal(t, "start", w.View(s.poll).Winning.Start, worldtest.Noon.Start)
	atRest(t, w)
}
