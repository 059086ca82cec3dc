package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// A finalisation whose answer was lost is known again by what it asks for, until it is done; then
// by its name.
func TestInProgress_IsTheSameChoice(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	ask := scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, Title: "Session", Request: "r1"}
	account := w.Account("gm")
	asks := map[string]struct {
		spoil          func(*scheduler.Finalise)
		underWay, done bool
	}{
		"the same":                {func(*scheduler.Finalise) {}, true, true},
		"under another name":      {func(a *scheduler.Finalise) { a.Request = "r2" }, true, false},
		"without a name":          {func(a *scheduler.Finalise) { a.Request = "" }, true, false},
		"its calendar by name":    {func(a *scheduler.Finalise) { a.CalendarID, a.Request = "gm@example.com", "r2" }, true, false},
		"its calendar as primary": {func(a *scheduler.Finalise) { a.CalendarID, a.Request = "primary", "r2" }, true, false},
		"its account by name":     {func(a *scheduler.Finalise) { a.AccountID, a.Request = account, "r2" }, true, false},
		"another calendar":        {func(a *scheduler.Finalise) { a.CalendarID, a.Request = worldtest.ClubCalendar, "r2" }, false, false},
		"another account":         {func(a *scheduler.Finalise) { a.AccountID, a.Request = "another", "r2" }, false, false},
		"another slot":            {func(a *scheduler.Finalise) { a.SlotID = s.slots[1] }, false, false},
		"another title":           {func(a *scheduler.Finalise) { a.Title, a.Request = "Other", "r2" }, false, false},
		"without an event":        {func(a *scheduler.Finalise) { a.CreateEvent = false }, false, false},
	}
	check := func(when string, want func(name string) bool) {
		t.Helper()
		for name, c := range asks {
			ask := ask
			c.spoil(&ask)
			is, err := w.Scheduler.InProgress(t.Context(), gm, s.poll, ask)
			if err != nil {
				t.Errorf("%s, %s: %v", when, name, err)
			}
			equal(t, when+", "+name, is, want(name))
			equal(t, when+", "+name+", by its outcome", w.Scheduler.Repeats(
				t.Context(), gm, s.poll, ask, fault.New(fault.Unavailable, "later"),
			), want(name))
		}
	}
	check("before", func(string) bool { return false })
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	_, err := w.FinaliseAs(s.poll, ask)
	kind(t, err, fault.Unavailable)
	equal(t, "what the intent failed of", w.Intents()[0].Error, fault.Unavailable.String())
	check("under way", func(name string) bool { return asks[name].underWay })
	_, err = w.Scheduler.InProgress(t.Context(), worldtest.Person("ana"), s.poll, ask)
	kind(t, err, fault.Forbidden)
	wrong := ask
	wrong.SlotID = "no slot"
	_, err = w.Scheduler.InProgress(t.Context(), gm, s.poll, wrong)
	kind(t, err, fault.NotFound)
	w.Run(time.Minute)
	check("done", func(name string) bool { return asks[name].done })
	w.Unlink("gm") // what a finalisation needs may be missing by now
	view, err := w.FinaliseAs(s.poll, ask)
	if err != nil {
		t.Errorf("the same once more: %v", err)
	}
	equal(t, "slot of the same once more", view.Poll.WinningSlotID, ask.SlotID)
	w.Run(time.Hour)
	check("long done", func(string) bool { return false })
	atRest(t, w)
}

// Another outcome than that Google did not answer says by itself whether something was repeated.
func TestRepeats_ByTheOutcome(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	for outcome, want := range map[error]bool{nil: true, fault.New(fault.Conflict, "no"): false, errors.New("no"): false} {
		equal(t, "repeats", w.Scheduler.Repeats(t.Context(), gm, s.poll, scheduler.Finalise{SlotID: s.slots[0]}, outcome), want)
	}
}

func TestRefused_IsWhatAnotherTryCannotMend(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind]bool{
		fault.Invalid: true, fault.Forbidden: true, fault.NotFound: true, fault.Conflict: true,
		fault.Unavailable: false, fault.Internal: false, fault.Revoked: false, fault.RateLimited: false,
	} {
		equal(t, kind.String(), scheduler.Refused(fault.New(kind, "no")), want)
	}
	equal(t, "nothing", scheduler.Refused(nil), false)
}
