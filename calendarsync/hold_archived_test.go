package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// Nobody could find a hold of an archived poll to confirm it: the poll shows none.
func TestUnlisted_EventsOfArchivedPolls_HoldNothing(t *testing.T) {
	t.Parallel()
	for name, pass := range map[string]time.Duration{"sessions over": 11 * 24 * time.Hour, "sessions to come": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
			live, _, itsEvent := w.Finalised()
			w.MoveEvent("gm", itsEvent, worldtest.Times("2026-07-10T10:00:00+02:00", time.Hour))
			var archived, events []string
			for range 3 {
				pollID, _, eventID := w.Finalised()
				archived, events = append(archived, pollID), append(events, eventID)
			}
			w.Run(pass)
			for i, pollID := range archived {
				if _, err := w.Scheduler.Archive(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
					t.Fatal(err)
				}
				w.DeleteEvent("gm", events[i])
				w.Run(time.Minute)
			}
			listAll(t, w, live)
			equal(t, "held", len(w.Calendar("gm").Held()), 0)
			equal(t, "notices of a hold", holdNotices(w), 0)
			w.DeleteEvent("gm", itsEvent)
			listAll(t, w, live)
			equal(t, "status of the poll whose deletion is a single one", w.View(live).Poll.Status, rules.Cancelled)
			equal(t, "status of an archived one", w.View(archived[0]).Poll.Status, rules.Archived)
			atRest(t, w)
		})
	}
}

// A poll that shows a hold which its calendar lost can be confirmed again.
func TestUnlisted_HoldLostByTheCalendar_IsHeldAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	first, _, firstEvent := w.Finalised()
	second, _, secondEvent := w.Finalised()
	allGoneAtOnce(t, w, first)
	w.Write(calendars.Path(w.CalendarKey("gm")), calendars.Settle(firstEvent), calendars.Settle(secondEvent))
	listAll(t, w, first)
	equal(t, "both are held", w.Held(w.View(first).Poll) && w.Held(w.View(second).Poll), true)
	atRest(t, w)
}

// listAll has a sync, which somebody asks for on a poll, list everything.
func listAll(t *testing.T, w *worldtest.World, pollID string) {
	t.Helper()
	w.LosePushes()
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Scheduler.Sync(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(2 * time.Minute)
}
