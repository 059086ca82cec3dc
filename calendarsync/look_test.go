package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/cursor"
	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func TestALook_After410_ListsEverything(t *testing.T) {
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

// "Gone" is believed only of a calendar that answers us as a writer.
func TestAnAbsence_IsNoDeletion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		reason string
		match  string
	}{
		"where the event's get is refused":  {403, "forbidden", "events.get"},
		"where the whole calendar is gone":  {404, "notFound", "events.*"},
		"where Google is broken":            {503, "backendError", "events.*"},
		"where we ask too much":             {429, "rateLimitExceeded", "events.*"},
		"where the quota is used up":        {403, "quotaExceeded", "events.*"},
		"where the list of changes is gone": {404, "notFound", "events.list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.Refuse(c.match, c.status, c.reason, 0)
			// A full listing would not show it, and the get is what lies.
			w.MoveEvent("gm", eventID, noon)
			w.Run(5 * time.Minute)
			equal(t, "status under the fault", w.View(pollID).Poll.Status, rules.Finalized)
			w.Check()
			w.Heal()
			w.Sweep()
			w.Run(time.Hour) // what a used up quota is left alone for
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			atRest(t, w)
		})
	}
}

func TestALostAccessToTheCalendar_CancelsNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	if _, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	for _, role := range []worldtest.Role{worldtest.Reader, worldtest.NoAccess} {
		if err := w.Google.Share(worldtest.ClubCalendar, "gm", role); err != nil {
			t.Fatal(err)
		}
		w.Sweep()
		w.Run(10 * time.Minute)
		equal(t, "status with the role "+string(role), w.View(pollID).Poll.Status, rules.Finalized)
	}
	if err := w.Google.Share(worldtest.ClubCalendar, "gm", worldtest.Owner); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(15 * time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	w.DeleteEvent(worldtest.Club, w.View(pollID).Poll.GoogleEventID)
	w.Run(time.Minute)
	equal(t, "status after a deletion", w.View(pollID).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

func TestAStaleLook_CommitsNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	// The first look stands still after its listing for longer than its lease;
	// meanwhile the event moves back and another look does it all.
	w.On("after events.list", func() {
		w.MoveEvent("gm", eventID, ten)
		w.LosePushes()
		w.Sweep()
		w.Run(2 * cursor.Lease)
	})
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	same(t, "journal", w.Decisions(pollID), []string{"finalise"})
	atRest(t, w)
}

func TestARevokedGrant_StopsTheSyncUntilItIsLinkedAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Revoke("gm")
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	view := w.View(pollID)
	equal(t, "status", view.Poll.Status, rules.Finalized)
	equal(t, "state", view.Poll.Sync.State, rules.StateError)
	equal(t, "error", view.Poll.Sync.Error.Code, rules.TokenExpired)
	equal(t, "start", view.Winning.Start, ten.Start)
	w.Check()

	before := w.Calls("")
	w.MoveEvent("gm", eventID, three)
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "further calls of Google", w.Calls("")-before, 0)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "warn"})

	w.Link("gm")
	w.Sweep()
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	equal(t, "error is over", w.View(pollID).Poll.Sync.Error == nil, true)
	atRest(t, w)
}

func TestAGrantThatIsBack_ClearsTheErrorOfEventsThatDidNotChange(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Revoke("gm")
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "state", w.View(pollID).Poll.Sync.State, rules.StateError)
	w.Sweep()
	w.Run(time.Minute)
	same(t, "what the owner was told", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
	w.Link("gm")
	w.Refuse("events.list", 503, "backendError", 1) // of all moments now
	w.Sweep()
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	atRest(t, w)
}

// An event is changed after Google made it and before the poll follows it, and
// a look at the calendar (which another poll follows) passes over the change.
func TestAChangeAmidTheInsert_IsNotLost(t *testing.T) {
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
				equal(t, "parked", w.Calendar("gm").Pending[poll.EventID(pollID, 1)], cursor.PendingRace)
			})
			if _, err := w.Finalise(pollID, slots[0]); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			c.want(t, w, pollID)
			equal(t, "parked events", len(w.Calendar("gm").Pending), 0)
			atRest(t, w)
		})
	}
}

// An event that cannot be applied holds up neither the other events nor the
// cursor, and is asked for again.
func TestAnEventThatKeepsFailing_IsParked(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	other := finalisedToo(w)
	fill(t, w, pollID)
	w.MoveEvent("gm", eventID, noon)
	w.MoveEvent("gm", w.View(other).Poll.GoogleEventID, three)
	w.Run(2 * time.Minute)
	stands(t, w, other, rules.StateRescheduled, three.Start)
	equal(t, "status of the poll that fails", w.View(pollID).Poll.Status, rules.Finalized)
	equal(t, "parked", w.Calendar("gm").Pending[eventID], cursor.PendingFailed)
	before := w.Calendar("gm").SyncToken

	w.MoveEvent("gm", w.View(other).Poll.GoogleEventID, ten)
	w.Run(2 * time.Minute)
	stands(t, w, other, rules.StateOK, ten.Start)
	equal(t, "the cursor moved on", w.Calendar("gm").SyncToken != before, true)
	equal(t, "failures", w.Calendar("gm").LastError, "")

	w.Write(poll.Path(pollID), poll.Set("fieldOfTheWebApp", "little"))
	w.Sweep()
	w.Run(2 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	equal(t, "parked events", len(w.Calendar("gm").Pending), 0)
	atRest(t, w)
}

func TestASyncOfAPerson_LooksAtOnce(t *testing.T) {
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
func TestALongOutage_MakesNoCrowdOfTasks(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	cancelled, _, _ := w.Finalised()
	w.Refuse("events.*", 503, "backendError", 0)
	if _, err := w.Cancel(cancelled); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		w.MoveEvent("gm", eventID, noon)
		w.Run(10 * time.Minute)
		w.MoveEvent("gm", eventID, three)
		w.Run(10 * time.Minute)
	}
	for _, kind := range w.Depths() {
		if kind.Waiting > 3 {
			t.Errorf("%d tasks of kind %s wait", kind.Waiting, kind.Kind)
		}
	}
	w.Heal()
	w.Run(15 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}

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

// A look stands still for longer than its lease and then ends, well or not:
// nothing of what it says counts.
func TestAStaleLook_MovesNoCursor(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *worldtest.World){
		"ends well": func(*worldtest.World) {},
		"fails":     func(w *worldtest.World) { w.Refuse("events.list", 503, "backendError", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			insert := func() {
				w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}})
			}
			var token string
			overtake := func() {
				insert()
				w.Run(2 * cursor.Lease)
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
			equal(t, "another look did it all", token != "", true)
			equal(t, "token", w.Calendar("gm").SyncToken, token)
			equal(t, "failure", w.Calendar("gm").LastError, "")
			w.Run(time.Minute)
			atRest(t, w)
		})
	}
}

// The access to a calendar goes between its listing and the get of an event.
func TestAnEventOfACalendarThatIsLost_IsNotGone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	if _, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	asked := false
	w.On("before events.get", func() {
		asked = true
		if err := w.Google.Share(worldtest.ClubCalendar, "gm", worldtest.NoAccess); err != nil {
			t.Error(err)
		}
	})
	if _, err := w.Scheduler.Sync(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
		t.Error(err)
	}
	w.Run(10 * time.Minute)
	equal(t, "the event was asked for", asked, true)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	if err := w.Google.Share(worldtest.ClubCalendar, "gm", worldtest.Owner); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(10 * time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	atRest(t, w)
}
