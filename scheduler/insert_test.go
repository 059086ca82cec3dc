package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func TestFinalise_AnswerLostAfterInsert(t *testing.T) {
	t.Parallel()
	lose := func(t *testing.T) (*worldtest.World, fixture) {
		w := worldtest.New(t, worldtest.Options{})
		s := fresh(w)
		w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
		_, err := w.Finalise(s.poll, s.slots[0])
		kind(t, err, fault.Unavailable)
		equal(t, "status", w.View(s.poll).Poll.Status, rules.Open)
		equal(t, "intents", len(w.Intents()), 1)
		w.Check()
		return w, s
	}
	once := func(t *testing.T, w *worldtest.World, s fixture) {
		equal(t, "events", len(w.Events("gm")), 1)
		view := w.View(s.poll)
		equal(t, "status", view.Poll.Status, rules.Finalized)
		equal(t, "event", view.Poll.GoogleEventID, poll.EventID(s.poll, 1))
		atRest(t, w)
	}
	t.Run("the drain ends it in exactly one event", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		w.Run(2 * time.Minute)
		once(t, w, s)
	})
	t.Run("a calendar that refuses to show the event leaves it to be asked again", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		w.Refuse("events.get", 403, "forbidden", 3)
		w.Run(2 * time.Minute)
		w.Check()
		w.Run(time.Hour)
		once(t, w, s)
		if strings.Contains(w.Log(), `poll=""`) {
			t.Errorf("a line tells of no poll:\n%s", w.Log())
		}
	})
	t.Run("the same finalise again ends it in exactly one event", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		if _, err := w.Finalise(s.poll, s.slots[0]); err != nil {
			t.Error(err)
		}
		once(t, w, s)
		w.Run(2 * time.Minute)
		once(t, w, s)
	})
	t.Run("another finalise leaves its own event alone", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		if _, err := w.Finalise(s.poll, s.slots[1]); err != nil {
			t.Error(err)
		}
		w.Run(2 * time.Minute)
		events := w.Events("gm")
		if len(events) != 1 || events[0].ID != poll.EventID(s.poll, 2) {
			t.Errorf("events: %+v", events)
		}
		atRest(t, w)
	})
	t.Run("a cancellation leaves none", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		if _, err := w.Cancel(s.poll); err != nil {
			t.Error(err)
		}
		if intents := w.Intents(); len(intents) != 1 || intents[0].Kind != poll.IntentDelete {
			t.Errorf("the insert is not a deletion now: %+v", intents)
		}
		w.Run(2 * time.Minute)
		equal(t, "events", len(w.Events("gm")), 0)
		equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
		atRest(t, w)
	})
	t.Run("an event that was deleted since is made anew", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		w.DeleteEvent("gm", poll.EventID(s.poll, 1))
		w.Run(2 * time.Minute)
		events := w.Events("gm")
		if len(events) != 1 || events[0].ID != poll.EventID(s.poll, 2) {
			t.Errorf("events: %+v", events)
		}
		equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
		atRest(t, w)
	})
	t.Run("an event that was moved since is followed", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		w.MoveEvent("gm", poll.EventID(s.poll, 1), worldtest.Noon)
		w.Run(2 * time.Minute)
		view := w.View(s.poll)
		equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
		equal(t, "start", view.Winning.Start, worldtest.Noon.Start)
		equal(t, "baseline", view.Poll.Sync.Baseline, rules.Timed(worldtest.Ten.Start, worldtest.Ten.End))
		atRest(t, w)
	})
}

func TestFinalise_ThatIsAskedForAgain_IsKnownByItsFraction(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	ask := scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, Duration: time.Hour / 7}
	_, err := w.FinaliseAs(s.poll, ask)
	kind(t, err, fault.Unavailable)
	view, err := w.FinaliseAs(s.poll, ask)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "generation", view.Poll.Sync.Generation, 1)
	w.Run(2 * time.Minute)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateOK)
	atRest(t, w)
}

func TestFinalise_Refused_LeavesThePollAsItWas(t *testing.T) {
	t.Parallel()
	for _, refusal := range []struct {
		status int
		reason string
		kind   fault.Kind
	}{
		{403, "requiredAccessLevel", fault.Provider},
		{403, "rateLimitExceeded", fault.RateLimited},
		{403, "quotaExceeded", fault.Exhausted},
		{404, "notFound", fault.NotFound},
		{400, "timeRangeEmpty", fault.Provider},
	} {
		t.Run(refusal.reason, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			before := w.View(s.poll).Poll
			w.Refuse("events.insert", refusal.status, refusal.reason, 1)
			_, err := w.Finalise(s.poll, s.slots[0])
			kind(t, err, refusal.kind)
			equal(t, "intents", len(w.Intents()), 0)
			w.Run(2 * time.Minute)
			after := w.View(s.poll).Poll
			equal(t, "status", after.Status, rules.Open)
			equal(t, "winning slot", after.WinningSlotID, "")
			equal(t, "updated", after.UpdatedAt, before.UpdatedAt)
			equal(t, "events", len(w.Events("gm")), 0)
			equal(t, "journal", len(w.Journal(s.poll)), 0)
			atRest(t, w)
		})
	}
}

func TestFinaliseAgain_Refused_GoesOnFollowingTheOldEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Refuse("events.insert", 403, "requiredAccessLevel", 1)
	// The event moves while the insert is under way, and a sync reads it.
	w.On("before events.insert", func() { w.MoveEvent("gm", s.event, worldtest.Noon); w.RunDue() })
	_, err := w.Finalise(s.poll, s.slots[1])
	kind(t, err, fault.Provider)
	w.Run(2 * time.Minute)
	view := w.View(s.poll)
	equal(t, "event", view.Poll.GoogleEventID, s.event)
	equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
	w.DeleteEvent("gm", s.event)
	w.Run(time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

func TestFinalise_AfterADeadProgramsInsert_KeepsTheIntent(t *testing.T) {
	t.Parallel()
	for _, refusal := range []struct {
		status int
		reason string
	}{{429, "rateLimitExceeded"}, {403, "rateLimitExceeded"}, {403, "quotaExceeded"}, {403, "requiredAccessLevel"}, {404, "notFound"}} {
		for name, goOn := range map[string]act{"the drain": drain, "the same finalise again": finaliseFirst} {
			t.Run(refusal.reason+", then "+name, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := fresh(w)
				w.Crash("after events.insert")
				w.Survives(func() { finaliseFirst.do(w, s) })
				w.TakeOver()
				w.Skip(time.Minute)
				w.Refuse("events.insert", refusal.status, refusal.reason, 1)
				goOn.do(w, s)
				w.Check()
				w.Run(15 * time.Minute)
				equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
				checkAgreement(t, w, s)
				atRest(t, w)
			})
		}
	}
}

func TestFinaliseAgain_RefusedAfterAnOutage_FollowsTheOldEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Refuse("events.insert", 503, "backendError", 1)
	_, err := w.Finalise(s.poll, s.slots[1])
	kind(t, err, fault.Unavailable)
	w.Refuse("events.insert", 403, "requiredAccessLevel", 0)
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(5 * time.Minute)
	equal(t, "event", w.View(s.poll).Poll.GoogleEventID, s.event)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	checkAgreement(t, w, s)
	atRest(t, w)
}
