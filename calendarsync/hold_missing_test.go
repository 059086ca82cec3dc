package calendarsync_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// unlistedBut has a full listing lack the events of some polls, of which the first that are asked for
// cannot be read; 0: none of them. leave takes an event, given its place in the order in which they
// are asked for, out of the calendar.
func unlistedBut(t *testing.T, w *worldtest.World, polls, unread int, leave func(i int, event string)) (pollIDs []string) {
	t.Helper()
	of := map[string]string{}
	for range polls {
		pollID, _, event := w.Finalised()
		of[event] = pollID
	}
	w.Run(time.Minute)
	var events []string
	for event := range of {
		events = append(events, event)
	}
	slices.Sort(events)
	for i, event := range events {
		leave(i, event)
		pollIDs = append(pollIDs, of[event])
	}
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.LosePushes()
	w.Sweep()
	w.Refuse("events.get", 500, "", unread)
	w.RunDue()
	w.Heal()
	return pollIDs
}

// listAgainUnread has all be listed while no event can be read.
func listAgainUnread(t *testing.T, w *worldtest.World) {
	t.Helper()
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Refuse("events.get", 500, "", 0)
	w.RunDue()
	w.Heal()
}

// One that can never be read keeps the owner from hearing of the others for some minutes, however
// often all is listed.
func TestHold_OneIsNeverRead_IsAnnouncedAllTheSame(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 2, HoldShare: 0.1}})
	polls := unlistedBut(t, w, 4, 1, func(_ int, event string) { w.DeleteEvent("gm", event) })
	w.Refuse("events.get", 500, "", 0)
	w.Run(5 * time.Minute)
	equal(t, "notices of a hold at first", holdNotices(w), 0)
	equal(t, "the others show it", w.Held(w.View(polls[3]).Poll), true)
	for range 3 {
		listAgainUnread(t, w)
		w.Refuse("events.get", 500, "", 0)
		w.Run(4 * time.Minute)
	}
	equal(t, "notices of a hold", holdNotices(w), 1)
	shows(t, w, polls[0], rules.SyncFailed, rules.StateError)
}

// Once the last that could not be read needs no hold, no other run may come for hours.
func TestHold_TheLastUnreadIsThereAfterAll_IsAnnounced(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	back := ""
	polls := unlistedBut(t, w, 3, 1, func(i int, event string) {
		if i == 0 {
			back = event
		}
		w.DeleteEvent("gm", event)
	})
	w.UndeleteEvent("gm", back)
	w.LosePushes()
	w.Run(time.Minute)
	equal(t, "the one that is there is held", w.Held(w.View(polls[0]).Poll), false)
	equal(t, "another one is held", w.Held(w.View(polls[1]).Poll), true)
	equal(t, "notices of a hold", holdNotices(w), 1)
	equal(t, "no further run is due", w.Calendar("gm").SyncAt.IsZero(), true)
	atRest(t, w)
}

// What is awaited is gone with its poll's word: that it cannot be read makes no deletion one of many.
func TestHold_AwaitedEventsCannotBeRead_HoldsNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	for range 2 {
		_, _, awaited := w.Finalised()
		w.DeleteEvent("gm", awaited)
		w.Run(time.Minute)
	}
	_, _, nameless := w.Finalised()
	deleted, _, event := w.Finalised()
	w.Run(time.Minute)
	w.Malform("gm", nameless, wrongFields["id"])
	w.DeleteEvent("gm", event)
	for _, awaited := range w.Index() {
		if awaited.Awaited {
			w.Plant("events.get", func(f *worldtest.Fault) { f.Status, f.Event = 500, awaited.EventID })
		}
	}
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.LosePushes()
	w.Sweep()
	w.Run(10 * time.Minute)
	equal(t, "status", w.View(deleted).Poll.Status, rules.Cancelled)
}

// Events that cannot be read count with those that are gone, so that no few of them are cancelled
// for being read, and they are held as well once they are found gone. The owner is told once.
func TestHold_SomeCannotBeRead_HoldsAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unread    int
		confirmed int // before the others can be read
	}{
		"two of them":                          {2, 0},
		"all of them":                          {0, 0},
		"all but one, which is confirmed soon": {3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 2, HoldShare: 0.1}})
			polls := unlistedBut(t, w, 4, c.unread, func(_ int, event string) { w.DeleteEvent("gm", event) })
			if c.confirmed > 0 {
				if err := w.Confirm(w.Calendar("gm"), polls); err != nil {
					t.Fatal(err)
				}
			}
			w.Run(3 * time.Hour)
			held := polls[:len(polls)-c.confirmed]
			for _, pollID := range held {
				equal(t, "held", w.Held(w.View(pollID).Poll), true)
				equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
			}
			equal(t, "notices of a hold", holdNotices(w), 1)
			listAgainUnread(t, w)
			equal(t, "held while nothing can be read", len(w.Calendar("gm").Held()), len(held))
			if err := w.Confirm(w.Calendar("gm"), held); err != nil {
				t.Fatal(err)
			}
			w.Run(10 * time.Minute)
			for _, pollID := range polls {
				equal(t, "status in the end", w.View(pollID).Poll.Status, rules.Cancelled)
			}
			atRest(t, w)
		})
	}
}

// What is deleted while others are held, and cannot be read at once, is cancelled as ever.
func TestHold_ADeletionLater_IsNotHeld(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
	later, last := "", 2
	polls := unlistedBut(t, w, 3, 1, func(i int, event string) {
		if i == last {
			later = event
			return
		}
		w.DeleteEvent("gm", event)
	})
	w.Run(3 * time.Hour)
	equal(t, "held", len(w.Calendar("gm").Held()), 2)
	w.DeleteEvent("gm", later)
	w.Refuse("events.get", 500, "", 1)
	w.Run(3 * time.Hour)
	equal(t, "status", w.View(polls[last]).Poll.Status, rules.Cancelled)
	equal(t, "held", len(w.Calendar("gm").Held()), 2)
}

// Whichever read fails while an event that could not be read is found gone, or moved, its poll shows
// the hold that it joins, or follows it.
func TestHold_ReadsFailAnywhereWhileOneJoins_ShowsItAll(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]bool{"gone": false, "moved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, reached := 1, true
			for ; reached && n <= worldtest.MostPoints; n++ {
				p := &points.Points{}
				w := worldtest.New(t, worldtest.Options{
					Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1},
					Wrap:     func(documents store.Store) store.Store { return &points.Reads{Store: documents, Points: p} },
				})
				polls := unlistedBut(t, w, 3, 1, func(i int, event string) {
					if moved && i == 0 {
						w.MoveAway("gm", event, worldtest.Club)
						return
					}
					w.DeleteEvent("gm", event)
				})
				p.FailAt(n)
				w.Run(5 * time.Second)
				reached = p.Reached()
				p.FailAt(0)
				w.LosePushes()
				w.Run(3 * time.Hour)
				at := fmt.Sprintf(", read %d failed", n)
				one := w.View(polls[0]).Poll
				equal(t, "it follows its event"+at, one.GoogleCalendarID == worldtest.ClubCalendar, moved)
				equal(t, "it is held and says so"+at, w.Held(one) && one.Sync.Error != nil, !moved)
				equal(t, "it is announced"+at, w.Calendar("gm").HoldUnannounced, false)
			}
			points.Struck(t, n-2, 20)
		})
	}
}

// Google answers an account 600 calls a minute: many missing events are read a part at a time,
// and the calendar is asked once for all of a part whether they are gone.
func TestFullListing_LacksMoreThanARunReads_HoldsThemAllInTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("many events")
	}
	t.Parallel()
	for name, refuse := range map[string]func(w *worldtest.World){
		"deletions are reported": func(*worldtest.World) {},
		"nothing is found":       func(w *worldtest.World) { w.Refuse("events.get", 404, "", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const missing, searches = 210, 100 // events are also sought in other calendars, 50 in a run
			w := worldtest.New(t, worldtest.Options{PageSize: 250})
			var polls, events []string
			for range missing {
				pollID, _, event := w.Finalised()
				polls, events = append(polls, pollID), append(events, event)
			}
			w.Run(10 * time.Minute)
			for _, event := range events {
				w.DeleteEvent("gm", event)
			}
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.LosePushes()
			w.Sweep()
			refuse(w)
			gets, lists := w.Calls("events.get"), w.Calls("events.list")
			w.RunDue()
			if held := len(w.Calendar("gm").Held()); held != 200 {
				t.Errorf("%d are held after the first run", held)
			}
			w.Run(3 * time.Hour)
			if read := w.Calls("events.get") - gets; read > missing+searches {
				t.Errorf("%d events were read", read)
			}
			if listed := w.Calls("events.list") - lists; listed > searches {
				t.Errorf("calendars were listed %d times", listed)
			}
			for _, pollID := range polls {
				equal(t, "held", w.Held(w.View(pollID).Poll), true)
			}
			equal(t, "notices of a hold", holdNotices(w), 1)
		})
	}
}
