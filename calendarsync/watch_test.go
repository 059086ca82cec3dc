package calendarsync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

func statuses(w *worldtest.World) []string {
	var found []string
	for _, watch := range w.Watches() {
		found = append(found, store.Fields(watch.Data).String("status"))
	}
	return found
}

func ensure(t *testing.T, w *worldtest.World) {
	t.Helper()
	if err := w.Watcher.Ensure(t.Context(), w.Account("gm"), "gm@example.com"); err != nil {
		t.Fatal(err)
	}
}

func TestEnsure_MakesOneChannelAndKeepsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	ensure(t, w)
	same(t, "channels", statuses(w), []string{"active"})
	equal(t, "events.watch calls", w.Calls("events.watch"), 1)
	watch := store.Fields(w.Watches()[0].Data)
	equal(t, "owner", watch.String("userId"), "gm")
	equal(t, "calendar", watch.String("calendarKey"), w.CalendarKey("gm"))
	equal(t, "expiration", watch.Time("expiration"), worldtest.Start.Add(7*24*time.Hour))
	equal(t, "resource is known", watch.String("resourceId") != "", true)
	watched := func() bool {
		t.Helper()
		is, err := w.Watcher.Watched(t.Context(), w.Account("gm"), "gm@example.com")
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	equal(t, "watched", watched(), true)
	w.Skip(7 * 24 * time.Hour)
	equal(t, "watched when it ended", watched(), false)
	atRest(t, w)
}

func TestEnsure_TakesANewChannelInTime_AndStopsTheOld(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	old := w.Watches()[0].Path
	w.Skip(5*24*time.Hour - 30*time.Minute)
	ensure(t, w)
	equal(t, "the old one is kept while it lasts", w.Watches()[0].Path, old)
	w.Run(time.Hour)
	// Both live for a moment, and the old one is stopped last.
	w.On("before channels.stop", func() { same(t, "channels on the way", statuses(w), []string{"retiring", "active"}) })
	ensure(t, w)
	same(t, "channels", statuses(w), []string{"active"})
	equal(t, "the old one is gone", w.Watches()[0].Path != old, true)
	equal(t, "channels.stop calls", w.Calls("channels.stop"), 1)
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

func TestEnsure_ThatFails_LeavesWhatLives(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Skip(5*24*time.Hour + time.Minute)
	w.Refuse("events.watch", 403, "push.webhookUrlUnauthorized", 1)
	err := w.Watcher.Ensure(t.Context(), w.Account("gm"), "gm@example.com")
	if !fault.Is(err, fault.Provider) {
		t.Errorf("got %v", err)
	}
	same(t, "channels", statuses(w), []string{"active", "error"})
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	ensure(t, w)
	same(t, "channels after the next", statuses(w), []string{"active"})
	atRest(t, w)
}

func TestEnsure_WhereTheOldCannotBeStopped_AcceptsBoth(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Skip(5*24*time.Hour + time.Minute)
	w.Refuse("channels.stop", 503, "backendError", 1)
	ensure(t, w)
	same(t, "channels", statuses(w), []string{"retiring", "active"})
	equal(t, "lines of the log", strings.Count(w.Log(), "could not be stopped yet"), 1)
	w.RunDue() // the new one's first push
	w.MoveEvent("gm", eventID, noon)
	equal(t, "pushes", len(w.Google.PendingPushes()), 2)
	w.RunDue()
	equal(t, "pushes that were refused or kept", len(w.Google.PendingPushes()), 0)
	w.Run(time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule"})
	atRest(t, w)
}

func TestWithoutAnAddress_ThereAreNoChannels(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{NoPushes: true})
	pollID, _, eventID := w.Finalised()
	equal(t, "events.watch calls", w.Calls("events.watch"), 0)
	equal(t, "state", w.View(pollID).Poll.Sync.State, rules.StateOK)
	w.MoveEvent("gm", eventID, noon)
	w.Sweep()
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

func TestRenewal_OneFailureDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Refuse("events.watch", 503, "backendError", 2)
	w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	w.Refuse("events.watch", 503, "backendError", 1)
	if err := w.RenewAll("t"); err == nil {
		t.Error("no error for the failure")
	}
	live := 0
	for _, status := range statuses(w) {
		if status == "active" {
			live++
		}
	}
	equal(t, "live channels", live, 1)
	if err := w.RenewAll("t"); err != nil {
		t.Error(err)
	}
	// Google did not answer for the others: they may be open, and are kept.
	same(t, "channels", slices.Sorted(slices.Values(statuses(w))), []string{"active", "active", "error", "error", "error"})
	w.Run(time.Minute)
	atRest(t, w)
}

// Nothing said what happened while no channel lived, so each such calendar is
// synced.
func TestRestart_SyncsCalendarsThatWereUnwatched(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Skip(8 * 24 * time.Hour) // the channel has expired
	w.MoveEvent("gm", eventID, worldtest.Times("2026-03-11T10:00:00Z", time.Hour))
	w.RunDue()
	stands(t, w, pollID, rules.StateOK, ten.Start)
	w.Restart()
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, ten.Start.Add(24*time.Hour))
	atRest(t, w)
}

func TestStopAll_StopsEveryChannel(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, eventID := w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	if err := w.Watcher.StopAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "channels", len(w.Watches()), 0)
	w.MoveEvent("gm", eventID, noon)
	equal(t, "pushes", len(w.Google.PendingPushes()), 0)
}
