package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// A listing with an event that it does not name may show any: what Google does
// not find is no deletion then.
func TestNamelessEvent_InListing_ProvesNoDeletion(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.Malform("gm", eventID, wrongFields["id"])
	w.Refuse("events.get", 404, "notFound", 0)
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(time.Hour)
	shows(t, w, pollID, rules.SyncFailed, rules.StateError)
	w.Heal()
	w.Sweep()
	w.Run(time.Hour)
	shows(t, w, pollID, "", rules.StateOK)
	atRest(t, w)
}

// The nameless event of a listing may be one that a person restored from the bin: it is
// fetched, and what cannot be read or found yet is deferred.
func TestNamelessEvent_ThatIsAwaited_RevivesItsPoll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nameless int // which of the events cannot be identified
		missing  bool
		back     bool
		deferred bool // while the event is nameless
		end      rules.Status
	}{
		"it is back":                  {0, false, true, true, rules.Finalized},
		"it is back and is not found": {0, true, true, true, rules.Finalized},
		"another one is nameless":     {1, false, true, false, rules.Finalized},
		"it is still deleted":         {1, false, false, false, rules.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
			pollID, _, eventID := w.Finalised()
			second, _, secondEvent := w.Finalised()
			third, _, thirdEvent := w.Finalised()
			w.DeleteEvent("gm", eventID)
			w.DeleteEvent("gm", secondEvent)
			w.Run(time.Minute)
			equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)

			w.Malform("gm", []string{eventID, thirdEvent}[c.nameless], wrongFields["id"])
			if c.missing {
				w.Refuse("events.get", 404, "notFound", 0)
			}
			if c.back && !w.UndeleteEvent("gm", eventID) {
				t.Fatal("there is no deleted event to bring back")
			}
			w.MoveEvent("gm", thirdEvent, noon)
			w.Run(time.Hour)
			deferred := w.Calendar("gm").Deferred(eventID).Why != ""
			equal(t, "it is deferred", deferred, c.deferred)
			equal(t, "the second poll", w.View(second).Poll.Status, rules.Cancelled)
			equal(t, "notices of a hold", holdNotices(w), 0)

			w.Heal()
			w.Sweep()
			w.Run(time.Hour)
			equal(t, "status", w.View(pollID).Poll.Status, c.end)
			equal(t, "the second poll", w.View(second).Poll.Status, rules.Cancelled)
			stands(t, w, third, rules.StateRescheduled, noon.Start)
			equal(t, "deferred events", len(w.Calendar("gm").DeferredEvents()), 0)
			atRest(t, w)
		})
	}
}

// Events that were deleted earlier count neither as gone nor as linked.
func TestNamelessEvent_InListing_HoldsNoAwaitedEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		share float64
		gone  int // of the linked events, of which one more is there
		held  bool
	}{
		"few are gone":  {0.1, 1, false},
		"most are gone": {0.6, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: c.share}})
			for range 3 {
				_, _, eventID := w.Finalised()
				w.DeleteEvent("gm", eventID)
			}
			w.Run(time.Minute)
			polls := map[string]string{}
			for range c.gone {
				pollID, _, eventID := w.Finalised()
				polls[pollID] = eventID
			}
			_, _, nameless := w.Finalised()
			w.Malform("gm", nameless, wrongFields["id"])
			for _, eventID := range polls {
				w.DeleteEvent("gm", eventID)
			}
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.Sweep()
			w.Run(time.Minute)
			for pollID := range polls {
				equal(t, "held", w.Held(w.View(pollID).Poll), c.held)
				equal(t, "cancelled", w.View(pollID).Poll.Status == rules.Cancelled, !c.held)
			}
		})
	}
}
