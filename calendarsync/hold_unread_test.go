package calendarsync_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// Whichever read fails once many events were found gone: all of them are held in the end, and the
// owner is told.
func TestHold_ReadsFailAnywhere_HoldsAllAndSaysSo(t *testing.T) {
	t.Parallel()
	n, reached := 1, true
	for ; reached && n <= worldtest.MostPoints; n++ {
		t.Run(fmt.Sprintf("at read %d", n), func(t *testing.T) {
			p := &points.Points{}
			w := worldtest.New(t, worldtest.Options{
				Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1},
				Wrap:     func(documents store.Store) store.Store { return &points.Reads{Store: documents, Points: p} },
			})
			first, _, _ := w.Finalised()
			second, _, _ := w.Finalised()
			w.Run(time.Minute)
			for _, event := range w.Events("gm") {
				w.DeleteEvent("gm", event.ID)
			}
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			for len(w.Google.PendingPushes()) > 1 {
				w.LosePushes()
			}
			w.Sweep()
			// Each is asked for, and then whether we may write to its calendar.
			w.On("after events.get", func() {
				w.On("after events.get", func() { w.On("after events.list", func() { p.FailAt(n) }) })
			})
			w.RunDue()
			reached = p.Reached()
			p.FailAt(0)
			w.LosePushes()
			w.Run(10 * time.Minute)
			for _, pollID := range []string{first, second} {
				equal(t, "held", w.Held(w.View(pollID).Poll), true)
				equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
			}
			if notices := holdNotices(w); notices != 1 && notices != 2 { // two where the second was held by the next run
				t.Errorf("there are %d notices of a hold", notices)
			}
			equal(t, "it is announced", w.Calendar("gm").HoldUnannounced, false)
		})
	}
	points.Struck(t, n-2, 20)
}

// An insert that is under way in another calendar is no reason to fetch an event from this one.
func TestFullListing_DuringAnInsertElsewhere_DefersNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calendarID string
		want       int
	}{"in another calendar": {worldtest.ClubCalendar, 0}, "in this one": {"", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			pollID, slots := w.Poll()
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			listed := w.Calls("events.list")
			w.On("before events.insert", func() {
				w.Sweep()
				w.RunDue()
				equal(t, "it is listed", w.Calls("events.list") > listed, true)
				equal(t, "events to be fetched", len(w.Calendar("gm").DeferredEvents()), c.want)
			})
			if _, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: c.calendarID}); err != nil {
				t.Fatal(err)
			}
			w.Run(10 * time.Minute)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			equal(t, "events to be fetched in the end", len(w.Calendar("gm").DeferredEvents()), 0)
			atRest(t, w)
		})
	}
}
