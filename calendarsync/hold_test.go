package calendarsync_test

import (
	"strconv"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
	"questscheduler/rules"
)

// The program dies between the hold and its announcement. The owner is notified even if
// fewer events are held by the next sync.
func TestHold_NotAnnounced_IsAnnouncedByTheNextSync(t *testing.T) {
	t.Parallel()
	met := 0
	for n, died := 1, true; died; n++ {
		w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
		first, _, _ := w.Finalised()
		second, slots, _ := w.Finalised()
		for _, event := range w.Events("gm") {
			w.DeleteEvent("gm", event.ID)
		}
		if err := w.Google.ExpireSyncTokens(); err != nil {
			t.Fatal(err)
		}
		w.CrashAt(n)
		lived, point := w.Survives(w.RunDue)
		died = !lived
		w.TakeOver()
		held := w.Held(w.View(first).Poll) && w.Held(w.View(second).Poll)
		if !died || !held || holdNotices(w) > 0 {
			continue // before the hold, or after it was announced
		}
		met++
		if _, err := w.Finalise(second, slots[1]); err != nil {
			t.Fatal(err)
		}
		w.Run(5 * time.Minute)
		equal(t, "notices of a hold, dead "+point, holdNotices(w), 1)
		equal(t, "the other one is held", w.Held(w.View(first).Poll), true)
		atRest(t, w)
	}
	equal(t, "a crash fell between the hold and its announcement", met > 0, true)
}

// holdNotices counts the announcements of a hold to gm.
func holdNotices(w *worldtest.World) (times int) {
	for _, notice := range w.Notices("gm") {
		if notice == notify.NoticeHeld {
			times++
		}
	}
	return times
}

// Every full listing lacks what is held, and a confirmation may come during one.
func TestHold_ConfirmedDuringAFullListing_StaysConfirmed(t *testing.T) {
	t.Parallel()
	n := 1
	for struck := true; struck; n++ {
		w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
		meant, _, _ := w.Finalised()
		unsaid, _, _ := w.Finalised()
		for _, event := range w.Events("gm") {
			w.DeleteEvent("gm", event.ID)
		}
		w.LosePushes()
		listAll := func() {
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.Sweep()
		}
		listAll()
		w.Run(2 * time.Minute)
		equal(t, "both are held", w.Held(w.View(meant).Poll) && w.Held(w.View(unsaid).Poll), true)
		listAll()
		w.At(n, func() {
			confirmed, err := w.Watcher.Confirm(t.Context(), worldtest.Person("gm"), w.CalendarKey("gm"), []string{meant}, worldtest.Cause)
			if err != nil || confirmed != 1 {
				t.Errorf("confirmed %d, %v", confirmed, err)
			}
		})
		w.RunDue()
		struck = w.Struck()
		w.Calm()
		w.Run(2 * time.Minute)
		if struck {
			equal(t, "the one that was confirmed at point "+strconv.Itoa(n), w.View(meant).Poll.Status, rules.Cancelled)
		}
		equal(t, "the other one is held", w.Held(w.View(unsaid).Poll), true)
		atRest(t, w)
	}
	points.Struck(t, n-2, 14)
}

// Events that are awaited are neither linked nor gone: a full listing that lacks
// them asks for none of them, and holds nothing on their account.
func TestFullListing_LacksAwaitedEvents_AsksForNone(t *testing.T) {
	t.Parallel()
	settings := worldtest.Settings{HoldMin: 1, HoldShare: 0.5}
	w := worldtest.New(t, worldtest.Options{Settings: settings})
	var polls, events []string
	for range 8 {
		pollID, _, eventID := w.Finalised()
		polls, events = append(polls, pollID), append(events, eventID)
	}
	for _, eventID := range events[:6] {
		w.DeleteEvent("gm", eventID)
		w.Run(time.Minute)
	}
	before := w.Calls("events.get")
	w.DeleteEvent("gm", events[6])
	w.LosePushes()
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "status of the seventh", w.View(polls[6]).Poll.Status, rules.Cancelled)
	if asked := w.Calls("events.get") - before; asked > 3 { // there, where it may have been moved to, and there again
		t.Errorf("%d events were asked for, want the seventh alone", asked)
	}
	w.Revoke("gm")
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "error of one that is awaited", w.View(polls[0]).Poll.Sync.Error == nil, true)
	equal(t, "error of the one that is followed", w.View(polls[7]).Poll.Sync.Error != nil, true)
	atRest(t, w)
}

// Only an insert under way may lack its event yet: the deletion of another is not waited for.
func TestFullListing_DuringADeletion_DefersNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Finalised()
	w.Refuse("events.delete", 503, "backendError", 0)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.RunDue()
	equal(t, "events to be deleted", len(w.Intents()), 1)
	w.ClearCalendar("gm")
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.On("before events.get", func() { equal(t, "deferred", len(w.Calendar("gm").DeferredEvents()), 0) })
	w.RunDue()
	w.Heal()
	w.Run(time.Hour)
	atRest(t, w)
}

// A held event whose index entry is gone is confirmed with any poll: nobody could confirm it
// otherwise.
func TestHold_WithoutIndexEntry_EndsWithAnyConfirmation(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	first, _, _ := w.Finalised()
	second, _, _ := w.Finalised()
	for _, event := range w.Events("gm") {
		w.DeleteEvent("gm", event.ID)
	}
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.Run(5 * time.Minute)
	equal(t, "held", len(w.Calendar("gm").Held()), 2)
	for _, entry := range w.Index() {
		if entry.PollID == first {
			w.Remove(poll.IndexPath(entry.EventID))
		}
	}
	count, err := w.Watcher.Confirm(t.Context(), worldtest.Person("gm"), w.CalendarKey("gm"), []string{second}, worldtest.Cause)
	if count != 2 || err != nil {
		t.Errorf("%d events are confirmed (%v), want 2", count, err)
	}
	w.Run(5 * time.Minute)
	equal(t, "deferred events", len(w.Calendar("gm").DeferredEvents()), 0)
	equal(t, "status of the other poll", w.View(second).Poll.Status, rules.Cancelled)
}

// However many events are gone at once, each is held: those beyond the searches of one run, too.
func TestHold_OfMoreThanARunSearchesFor_HoldsThemAll(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Shared: true, Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	polls := make([]string, 52)
	for i := range polls {
		pollID, slots := w.Poll()
		if _, err := w.Finalise(pollID, slots[0]); err != nil {
			t.Fatal(err)
		}
		polls[i] = pollID
	}
	w.Run(time.Minute)
	w.ClearCalendar("gm")
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.RunDue()
	for i, pollID := range polls {
		equal(t, "held: "+strconv.Itoa(i), w.Held(w.View(pollID).Poll), true)
	}
	equal(t, "deferred for a person", len(w.Calendar("gm").Held()), len(polls))
}

// allGoneAtOnce has a sync, which somebody asks for on a poll, find by a full listing that gm
// deleted every event.
func allGoneAtOnce(t *testing.T, w *worldtest.World, pollID string) {
	t.Helper()
	for _, event := range w.Events("gm") {
		w.DeleteEvent("gm", event.ID)
	}
	w.LosePushes()
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Scheduler.Sync(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.RunDue()
}

// Somebody who clears last month out of their calendar cancels nothing, so nothing is asked.
func TestHold_OfPastSessions_HoldsNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pass    func(w *worldtest.World)
		entries int
	}{
		"two days after":           {func(w *worldtest.World) { w.Run(11 * 24 * time.Hour) }, 3},
		"after a month of outages": {func(w *worldtest.World) { w.Clock.Advance(42 * 24 * time.Hour) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
			first, _, _ := w.Finalised()
			second, _, _ := w.Finalised()
			to, _, event := w.Finalised()
			w.MoveEvent("gm", event, worldtest.Times("2026-07-10T10:00:00+02:00", time.Hour))
			w.Run(time.Minute)
			c.pass(w)
			allGoneAtOnce(t, w, to)
			for _, past := range []string{first, second} {
				equal(t, "status of a past poll", w.View(past).Poll.Status, rules.Finalized)
				equal(t, "it shows no error", w.View(past).Poll.Sync.Error == nil, true)
			}
			equal(t, "status of the poll to come", w.View(to).Poll.Status, rules.Cancelled)
			equal(t, "notices of a hold", holdNotices(w), 0)
			equal(t, "entries, one of which awaits its event", len(w.Index()), c.entries)
		})
	}
}

// A hold may outlast its sessions: confirming it takes the error off them all the same.
func TestHold_ConfirmedWhenTheSessionsArePast_Ends(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	first, _, _ := w.Finalised()
	second, _, _ := w.Finalised()
	allGoneAtOnce(t, w, first)
	equal(t, "both are held", w.Held(w.View(first).Poll) && w.Held(w.View(second).Poll), true)
	w.Run(11 * 24 * time.Hour)
	if err := w.Confirm(w.Calendar("gm"), []string{first, second}); err != nil {
		t.Fatal(err)
	}
	w.Run(2 * time.Minute)
	for _, past := range []string{first, second} {
		equal(t, "status of a past poll", w.View(past).Poll.Status, rules.Finalized)
		equal(t, "state", w.View(past).Poll.Sync.State, rules.StateOK)
		equal(t, "it shows no error", w.View(past).Poll.Sync.Error == nil, true)
	}
	atRest(t, w)
}
