package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func TestSync_After410_ListsEverything(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(w *worldtest.World, eventID string)
		want func(t *testing.T, w *worldtest.World, pollID string)
	}{
		"and follows a move in the gap": {
			func(w *worldtest.World, eventID string) { w.MoveEvent("gm", eventID, noon) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			},
		},
		"and finds a deletion in the gap": {
			func(w *worldtest.World, eventID string) { w.DeleteEvent("gm", eventID) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
				same(t, "ana's notices", w.Notices("ana"), []string{"SESSION_CANCELLED"})
			},
		},
		"and leaves alone what did not change": {
			func(*worldtest.World, string) {},
			func(t *testing.T, w *worldtest.World, pollID string) {
				stands(t, w, pollID, rules.StateOK, ten.Start)
				same(t, "journal", w.Decisions(pollID), []string{"finalise"})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			other := finalisedToo(w)
			for range 5 { // more than a page of others'
				w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}})
			}
			w.Run(time.Minute)
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			c.act(w, eventID)
			w.LosePushes()
			w.Sweep()
			w.Run(time.Minute)
			c.want(t, w, pollID)
			stands(t, w, other, rules.StateOK, ten.Start)
			atRest(t, w)
		})
	}
}

// finalisedToo is one more poll of gm, finalised in the same calendar.
func finalisedToo(w *worldtest.World) (pollID string) {
	pollID, _, _ = w.Finalised()
	return pollID
}

func TestStaleSync_CommitsNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	count := &tally{}
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.Syncer.Meter = count.count
	w.MoveEvent("gm", eventID, noon)
	// The first sync stands still after its listing for longer than its lease;
	// in the meantime the event moves back and another sync does it all.
	w.On("after events.list", func() {
		w.MoveEvent("gm", eventID, ten)
		w.LosePushes()
		w.Sweep()
		w.Run(2 * calendars.Lease)
	})
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	same(t, "journal", w.Decisions(pollID), []string{"finalise"})
	counted := count.take()
	if len(counted) < 2 || counted[0] != "sync by sweep: ok" || counted[len(counted)-1] != "sync by push: overtaken" {
		t.Errorf("it recorded %q", counted)
	}
	atRest(t, w)
}

// An event is changed after Google made it and before the poll follows it, and
// a sync at the calendar (which another poll follows) passes over the change.
func TestChange_DuringTheInsert_IsNotLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(w *worldtest.World, eventID string)
		want func(t *testing.T, w *worldtest.World, pollID string)
	}{
		"a move": {
			func(w *worldtest.World, eventID string) { w.MoveEvent("gm", eventID, noon) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			},
		},
		"a deletion": {
			func(w *worldtest.World, eventID string) { w.DeleteEvent("gm", eventID) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			pollID, slots := w.Poll()
			w.On("after events.insert", func() {
				c.act(w, poll.EventID(pollID, 1))
				w.Run(10 * time.Second)
				equal(t, "deferred", w.Calendar("gm").Deferred(poll.EventID(pollID, 1)).Why, calendars.DeferredRace)
			})
			if _, err := w.Finalise(pollID, slots[0]); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			c.want(t, w, pollID)
			equal(t, "deferred events", len(w.Calendar("gm").DeferredEvents()), 0)
			atRest(t, w)
		})
	}
}

// An event that cannot be applied holds up neither the other events nor the
// cursor, and is asked for again.
func TestSync_RequestedByAPerson_RunsAtOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.LosePushes()
	view, err := w.Scheduler.Sync(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
	_, err = w.Scheduler.Sync(t.Context(), worldtest.Person("ana"), pollID, scheduler.Cause{})
	if err == nil {
		t.Error("ana may ask for a sync")
	}
	atRest(t, w)
}

// The tasks of a calendar that cannot be read do not add up over an outage.
func TestAPollThatWasDeletedDirectly_TakesItsEventAlong(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Remove(poll.Path(pollID))
	w.MoveEvent("gm", eventID, noon)
	w.Run(2 * time.Minute)
	equal(t, "events", len(w.Events("gm")), 0)
	equal(t, "index entries", len(w.Index()), 0)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}

// The sync meets the deleted poll before any document change is reported: the
// creator's setting decides about the event there as it does everywhere else.
func TestDeletedPoll_MetBySyncFirst_KeepsEventAsSet(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"kept": true, "deleted": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Write(store.Doc("users", "gm"), store.Update{Path: store.Field("settings", "keepCalendarEvents"), Value: keeps})
			pollID, _, eventID := w.Finalised()
			if keeps {
				w.Released(eventID)
			}
			w.Remove(poll.Path(pollID))
			w.MoveEvent("gm", eventID, noon)
			w.Run(2 * time.Minute)
			equal(t, "the event lives", w.EventOf("gm", eventID).Live(), keeps)
			equal(t, "index entries", len(w.Index()), 0)
			equal(t, "intents", len(w.Intents()), 0)
			left, err := poll.Left(t.Context(), w.Documents, pollID, false)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "something is left of the poll", left, false)
			atRest(t, w)
		})
	}
}

// A sync stands still for longer than its lease and then ends, well or not:
// nothing of what it says counts.
func TestStaleSync_StoresNoToken(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *worldtest.World){
		"ends well": func(*worldtest.World) {},
		"fails":     func(w *worldtest.World) { w.Refuse("events.list", 503, "backendError", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.RunDue()
			count := &tally{}
			w.Syncer.Meter = count.count
			insert := func() {
				w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}})
			}
			var token string
			overtake := func() {
				insert()
				w.Run(2 * calendars.Lease)
				token = w.Calendar("gm").SyncToken
				end(w)
			}
			if name == "fails" {
				w.On("before events.list", overtake)
			} else {
				w.On("after events.list", overtake)
			}
			insert()
			w.RunDue()
			equal(t, "another sync did it all", token != "", true)
			equal(t, "token", w.Calendar("gm").SyncToken, token)
			equal(t, "failure", w.Calendar("gm").LastError, "")
			if name == "ends well" {
				count.want(t, "when a run is overtaken", "sync by push: ok", "sync by push: overtaken")
			}
			w.Run(time.Minute)
			atRest(t, w)
		})
	}
}

// The calendar's zone is that of its last listing, and a listing without one keeps it.
func TestSync_OfACalendarInAnotherZone_RecordsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Run(time.Minute)
	before := w.Calendar("gm").TimeZone
	w.SetZone("gm", "Pacific/Auckland")
	w.Sweep()
	w.Run(time.Minute)
	if got := w.Calendar("gm").TimeZone; before == "" || before == "Pacific/Auckland" || got != "Pacific/Auckland" {
		t.Errorf("the zone was %q and is %q, want Pacific/Auckland", before, got)
	}
	atRest(t, w)
}

// An insert may take long. What its event waits for is fetched ever more rarely.
func TestChange_DuringALongInsert_IsFetchedEverMoreRarely(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	pollID, slots := w.Poll()
	fetches := 0
	w.On("after events.insert", func() {
		w.MoveEvent("gm", poll.EventID(pollID, 1), noon)
		before := w.Calls("events.get")
		w.Run(30 * time.Second)
		fetches = w.Calls("events.get") - before
	})
	if _, err := w.Finalise(pollID, slots[0]); err != nil {
		t.Fatal(err)
	}
	if fetches < 2 || fetches > 8 {
		t.Errorf("%d fetches in half a minute", fetches)
	}
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}
