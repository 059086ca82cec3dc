package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// A poll that had an event before, and was given another by the web app's own
// functions, takes that as it is: the time of the old one moves nothing.
func TestReconcile_AnotherEventNamed_IsAdoptedAsItIs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(w *worldtest.World, s fixture)
	}{
		{"its event was deleted", func(w *worldtest.World, s fixture) { w.DeleteEvent("gm", s.event) }},
		{"its event was moved and deleted", func(w *worldtest.World, s fixture) {
			w.MoveEvent("gm", s.event, worldtest.Noon)
			w.Run(time.Minute)
			w.DeleteEvent("gm", s.event)
		}},
		{"it was cancelled by hand", func(w *worldtest.World, s fixture) { cancelIt.do(w, s) }},
		{"nobody noticed that it was reopened", func(w *worldtest.World, s fixture) { reopenBehindUs(w, s) }},
		{"it follows its event", func(*worldtest.World, fixture) {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			w.Released(s.event)
			row.before(w, s)
			w.Run(time.Minute)
			made := w.InsertEvent("gm", map[string]any{
				"summary": "By the web app", "start": map[string]any{"dateTime": "2026-03-10T15:00:00Z"},
				"end": map[string]any{"dateTime": "2026-03-10T17:00:00Z"},
			})
			w.Edit(poll.Path(s.poll), poll.Set("status", string(rules.Finalized)), poll.Set("winningSlotId", s.slots[1]),
				poll.Set("googleEventId", made.ID), poll.Set("googleCalendarId", "primary"))
			for range 2 { // the first may have two repairs to make, one after the other
				if err := w.SweepPages(scheduler.Cause{Trigger: "sweep"}); err != nil {
					t.Fatal(err)
				}
				w.Run(time.Minute)
			}
			p := w.View(s.poll).Poll
			if p.Sync.State != rules.StateOK || p.Sync.Rescheduled != nil || p.WinningSlotID != s.slots[1] ||
				p.GoogleCalendarID != "gm@example.com" {
				t.Errorf("it stands as %+v", p)
			}
			if p.Sync.Baseline != made.Fingerprint() || p.Sync.Applied != made.Fingerprint() {
				t.Errorf("its baseline is %v and %v was applied, want %v", p.Sync.Baseline, p.Sync.Applied, made.Fingerprint())
			}
			w.Check()
		})
	}
}

// The web app's own functions delete the old event, unless their caller keeps it.
func TestReconcile_AnotherEventNamed_OldOneIsReleased(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	made := w.InsertEvent("gm", map[string]any{
		"summary": "By the web app", "start": map[string]any{"dateTime": "2026-03-10T15:00:00Z"},
		"end": map[string]any{"dateTime": "2026-03-10T17:00:00Z"},
	})
	w.Released(s.event)
	w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", s.slots[1]), poll.Set("googleEventId", made.ID))
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "the old event lives", w.EventOf("gm", s.event).Live(), true)
	if index := w.Index(); len(index) != 1 || index[0].EventID != made.ID {
		t.Errorf("the index holds %+v, want event %s alone", index, made.ID)
	}
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(time.Minute)
	equal(t, "state after the old one moved", w.View(s.poll).Poll.Sync.State, rules.StateOK)
	w.Check()
}

// The web app gave a poll another event, which nobody noticed, and then it was
// finalised here: that event is taken away, and the first one stays, since the app left it.
func TestFinalise_OverAnEventFromElsewhere_KeepsItsOwnTime(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Released(s.event)
	made := w.InsertEvent("gm", map[string]any{
		"summary": "By the web app", "start": map[string]any{"dateTime": "2026-03-10T10:00:00Z"},
		"end": map[string]any{"dateTime": "2026-03-10T11:00:00Z"},
	})
	w.Edit(poll.Path(s.poll), poll.Set("googleEventId", made.ID))
	view, err := w.Finalise(s.poll, s.slots[1])
	if err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(time.Minute)
	p := w.View(s.poll).Poll
	if p.GoogleEventID != view.Poll.GoogleEventID || p.Sync.Baseline != view.Poll.Sync.Baseline || p.Sync.Applied != view.Poll.Sync.Baseline {
		t.Errorf("it stands as %+v, and was finalised as %+v", p.Sync, view.Poll.Sync)
	}
	equal(t, "the last event lives", w.EventOf("gm", p.GoogleEventID).Live(), true)
	equal(t, "the app's event lives", w.EventOf("gm", made.ID).Live(), false)
	equal(t, "the first event lives", w.EventOf("gm", s.event).Live(), true)
	w.Check()
}

// What was wrong with an event is over when its poll is given another one: a
// cancellation that was held waits for nobody any more.
func TestAnEventFromElsewhere_EndsAHold(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	var fixtures []fixture
	for range 2 {
		fixtures = append(fixtures, finalised(w))
	}
	for _, s := range fixtures {
		w.DeleteEvent("gm", s.event)
	}
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	s := fixtures[0]
	if held := w.View(s.poll).Poll.Sync.Error; held == nil || held.Code != rules.MassCancellationHeld {
		t.Fatalf("it is not held: %+v", held)
	}
	made := w.InsertEvent("gm", map[string]any{
		"summary": "By the web app", "start": map[string]any{"dateTime": "2026-03-10T10:00:00Z"},
		"end": map[string]any{"dateTime": "2026-03-10T11:00:00Z"},
	})
	w.Edit(poll.Path(s.poll), poll.Set("googleEventId", made.ID))
	for range 2 {
		w.Sweep()
		w.Run(time.Minute)
	}
	if p := w.View(s.poll).Poll; p.Sync.State != rules.StateOK || p.Sync.Error != nil || p.Sync.Applied != made.Fingerprint() {
		t.Errorf("it stands as %+v", p.Sync)
	}
	if other := w.View(fixtures[1].poll).Poll; !w.Held(other) {
		t.Errorf("the other one is not held any more: %+v", other.Sync)
	}
	w.Check()
}

// A command first repairs an edit that nobody noticed: it deletes the event that took the
// place of the one that the poll followed, which the web app left.
func TestReopen_OverAnEventFromElsewhere_DeletesThat(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Released(s.event)
	made := w.InsertEvent("gm", map[string]any{
		"summary": "By the web app", "start": map[string]any{"dateTime": "2026-03-10T15:00:00Z"},
		"end": map[string]any{"dateTime": "2026-03-10T17:00:00Z"},
	})
	w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", s.slots[1]), poll.Set("googleEventId", made.ID))
	if _, err := w.Scheduler.Reopen(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	if events := w.Events("gm"); len(events) != 1 || events[0].ID != s.event {
		t.Errorf("the calendar holds %+v, want the first event alone", events)
	}
	if index := w.Index(); len(index) > 0 {
		t.Errorf("the index holds %+v, want nothing", index)
	}
	w.Check()
}

// Each event that a poll gets elsewhere is a finalisation of its own, whether or
// not we came to adopt the one before: what people heard of that is no news.
func TestAnEventFromElsewhere_IsAnotherFinalisation(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Released(s.event)
	for i, start := range []string{"2026-03-10T10:00:00Z", "2026-03-10T15:00:00Z"} {
		before := w.View(s.poll).Poll.Sync.Generation
		made := w.InsertEvent("gm", map[string]any{
			"summary": "By the web app", "start": map[string]any{"dateTime": start}, "end": map[string]any{"dateTime": "2026-03-10T18:00:00Z"},
		})
		w.PatchEvent("gm", made.ID, map[string]any{"recurrence": []string{"RRULE:FREQ=WEEKLY"}}) // which is not adopted
		w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", s.slots[i]), poll.Set("googleEventId", made.ID))
		if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
		if after := w.View(s.poll).Poll.Sync.Generation; after <= before {
			t.Errorf("event %d: its generation is %d, and was %d", i, after, before)
		}
	}
	w.Run(time.Minute)
	announcement, err := poll.LoadAnnouncement(t.Context(), w.Documents, s.poll)
	if err != nil {
		t.Fatal(err)
	}
	view := w.View(s.poll)
	if notice := rules.Announce(announcement.Announced.State, view.Poll.AnnouncedState(view.Winning)); notice != rules.NoticeNone {
		t.Errorf("people would hear of %s", notice)
	}
	w.Check()
}
