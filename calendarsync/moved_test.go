package calendarsync_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// follows fails where a poll is not finalised with its event in a calendar, once,
// or anything was announced.
func follows(t *testing.T, w *worldtest.World, pollID, calendarID string) {
	t.Helper()
	equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, calendarID)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	for _, person := range []string{"gm", "ana", "ben", "cho"} {
		equal(t, "notices of "+person, len(w.Notices(person)), 0)
	}
	atRest(t, w)
}

// shared gives gm the right to write to somebody's own calendar, or takes it.
func shared(t *testing.T, w *worldtest.World, person string, role worldtest.Role) {
	t.Helper()
	if err := w.Google.Share(worldtest.Person(person).Email, "gm", role); err != nil {
		t.Fatal(err)
	}
}

func TestMovedEvent_ToACalendarNothingFollowed_IsFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	before := w.View(pollID).Poll
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Run(time.Minute)

	stands(t, w, pollID, rules.StateOK, ten.Start)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "moved_calendar"})
	equal(t, "generation", w.View(pollID).Poll.Sync.Generation, before.Sync.Generation)
	equal(t, "polls that follow the calendar it left", w.Calendar("gm").Interests[poll.ConsumerPoll], 0)
	equal(t, "polls that follow its new one", w.Calendar(worldtest.Club).Interests[poll.ConsumerPoll], 1)
	follows(t, w, pollID, worldtest.ClubCalendar)

	t.Log("it is watched there")
	w.MoveEvent(worldtest.Club, eventID, noon)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	w.DeleteEvent(worldtest.Club, eventID)
	w.Run(time.Minute)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

func TestMovedEvent_IntoAHiddenCalendar_IsFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	if err := w.Google.Hide(worldtest.ClubCalendar, "gm", true); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	follows(t, w, pollID, worldtest.ClubCalendar)
	w.MoveEvent(worldtest.Club, eventID, noon)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
}

func TestMovedEvent_ToAKnownCalendar_NeedsNoList(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	other, slots := w.Poll()
	if _, err := w.FinaliseAs(other, worldtest.Ask{SlotID: slots[1], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
		t.Fatal(err)
	}
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Run(time.Minute)
	follows(t, w, pollID, worldtest.ClubCalendar)
	follows(t, w, other, worldtest.ClubCalendar)
	equal(t, "calls of calendarList.list", w.Calls("calendarList.list"), 0)
}

func TestMovedEvent_ToASecondAccountsCalendar_IsFollowed(t *testing.T) {
	t.Parallel()
	for name, role := range map[string]worldtest.Role{"both see it": worldtest.Writer, "the second alone sees it": worldtest.NoAccess} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			second := w.LinkAs("gm", "ben")
			pollID, _, eventID := w.Finalised()
			shared(t, w, "ben", worldtest.Writer)
			w.MoveTo("gm", eventID, "ben")
			shared(t, w, "ben", role)
			w.Run(time.Minute)
			equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, "ben@example.com")
			account := w.Account("gm")
			if role == worldtest.NoAccess {
				account = second.ID
			}
			equal(t, "account", w.Index()[0].AccountID, account)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			w.MoveEvent("ben", eventID, noon)
			w.Run(time.Minute)
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
		})
	}
}

func TestMovedEvent_ThereAndBack_IsFollowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between time.Duration // between the moves
		journal []string
	}{
		"before any sync":       {0, []string{"finalise"}},
		"after it was followed": {time.Minute, []string{"finalise", "moved_calendar", "moved_calendar"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.MoveAway("gm", eventID, worldtest.Club)
			if c.between > 0 {
				w.Run(c.between)
			}
			w.MoveAway(worldtest.Club, eventID, "gm")
			w.Run(time.Minute)
			same(t, "journal", w.Decisions(pollID), c.journal)
			follows(t, w, pollID, "gm@example.com")
			w.MoveEvent("gm", eventID, noon)
			w.Run(time.Minute)
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			atRest(t, w)
		})
	}
}

// The sync at the new calendar passes the event before the poll follows it there,
// so it is the link that has it synced.
func TestMovedEvent_WhereASyncPassedIt_IsFetched(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	other, slots := w.Poll()
	if _, err := w.FinaliseAs(other, worldtest.Ask{SlotID: slots[1], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
		t.Fatal(err)
	}
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	w.LosePushes()
	w.MoveEvent(worldtest.Club, eventID, noon) // its push comes, and finds no poll
	w.Run(time.Minute)
	same(t, "journal before", w.Decisions(pollID), []string{"finalise"})

	w.Sweep()
	w.Run(time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "moved_calendar", "reschedule"})
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	equal(t, "events still deferred", len(w.Calendar(worldtest.Club).DeferredEvents()), 0)
	atRest(t, w)
}

func TestMovedEvent_WithItsTime_IsFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	w.MoveEvent(worldtest.Club, eventID, noon)
	w.Run(time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "moved_calendar", "reschedule"})
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	equal(t, "notices of ana", fmt.Sprint(w.Notices("ana")), "[SESSION_RESCHEDULED]")
	atRest(t, w)
}

func TestMovedEvent_WhereNobodyOfOursReads_IsGone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	shared(t, w, "cho", worldtest.Writer)
	w.MoveTo("gm", eventID, "cho")
	shared(t, w, "cho", worldtest.NoAccess)
	w.Run(time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "cancel"})
	same(t, "notices of ana", w.Notices("ana"), []string{"SESSION_CANCELLED"})
	w.Released(eventID) // it is cho's now
	atRest(t, w)
}

// legacy is a poll of gm that the web app's own functions finalised before us,
// with an event whose id Google made.
func legacy(t *testing.T, w *worldtest.World, guests ...string) (pollID, eventID string) {
	t.Helper()
	pollID, slots := w.Poll()
	attendees := []map[string]any{}
	for _, guest := range guests {
		attendees = append(attendees, map[string]any{"email": guest})
	}
	made := w.InsertEvent("gm", map[string]any{
		"summary": "Session nine", "start": map[string]any{"dateTime": ten.Start.Format(time.RFC3339)},
		"end": map[string]any{"dateTime": ten.End.Format(time.RFC3339)}, "attendees": attendees,
	})
	w.Edit(poll.Path(pollID), poll.Set("status", string(rules.Finalized)), poll.Set("winningSlotId", slots[0]),
		poll.Set("googleEventId", made.ID), poll.Set("googleCalendarId", "gm@example.com"))
	w.Sweep()
	w.Run(time.Minute)
	if status := w.View(pollID).Poll.Status; status != rules.Finalized || len(w.Index()) != 1 {
		t.Fatalf("the poll is %s, with %d index entries", status, len(w.Index()))
	}
	return pollID, made.ID
}

// An event from before us has no marks of ours. What is known of it is its id,
// which Google made, and whose it is: that is enough to follow it.
func TestMovedEvent_MadeBeforeUs_IsFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, eventID := legacy(t, w)
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Run(time.Minute)
	equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, worldtest.ClubCalendar)
	same(t, "ids of before us in the calendar it left", w.Calendar("gm").LegacyEventIDs, nil)
	same(t, "ids of before us in its new one", w.Calendar(worldtest.Club).LegacyEventIDs, []string{eventID})
	w.MoveEvent(worldtest.Club, eventID, noon)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

// manyMoved are eight polls whose events were moved in a gap that only a full
// listing closes.
func manyMoved(w *worldtest.World) (polls []string) {
	var events []string
	for range 8 {
		pollID, _, eventID := w.Finalised()
		polls, events = append(polls, pollID), append(events, eventID)
	}
	for _, eventID := range events {
		w.MoveAway("gm", eventID, worldtest.Club)
	}
	if err := w.Google.ExpireSyncTokens(); err != nil {
		panic(err)
	}
	return polls
}

func TestMovedEvents_ManyAtOnce_AreNotHeld(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	polls := manyMoved(w)
	w.Run(5 * time.Minute)
	for _, pollID := range polls {
		follows(t, w, pollID, worldtest.ClubCalendar)
	}
}

// If the other calendars do not answer, the events are held like any others. A
// confirmation does not cancel the polls whose events are found by then.
func TestMovedEvents_ThatAreHeld_AreFollowedOnceConfirmed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Refuse("calendarList.list", 503, "", 0)
	polls := manyMoved(w)
	w.Run(30 * time.Minute)
	equal(t, "error", w.View(polls[0]).Poll.Sync.Error.Code, rules.MassCancellationHeld)
	w.Heal()
	if err := w.Confirm(w.Calendar("gm"), polls); err != nil {
		t.Fatal(err)
	}
	w.Run(5 * time.Minute)
	for _, pollID := range polls {
		equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, worldtest.ClubCalendar)
		stands(t, w, pollID, rules.StateOK, ten.Start)
	}
	atRest(t, w)
}

func TestMovedEvent_InterruptedAnywhere_IsFollowed(t *testing.T) {
	t.Parallel()
	const most = 150
	for n := 1; n <= most; n++ {
		w := worldtest.New(t, worldtest.Options{})
		pollID, _, eventID := w.Finalised()
		w.MoveAway("gm", eventID, worldtest.Club)
		w.CrashAt(n)
		lived, point := w.Survives(func() { w.Run(time.Minute) })
		struck := w.Struck()
		w.Calm()
		if !lived {
			w.Check() // the link is in one calendar, whole
			w.Restart()
			w.Run(5 * time.Minute)
		}
		follows(t, w, pollID, worldtest.ClubCalendar)
		same(t, "journal", w.Decisions(pollID), []string{"finalise", "moved_calendar"})
		if t.Failed() {
			t.Fatalf("after it died at %d, %s", n, point)
		}
		if !struck {
			points.Struck(t, n-1, 19)
			return
		}
	}
	t.Errorf("it passes more than %d points", most)
}

func TestMovedEvent_WhileOnlyObserved_IsJournaledAndNotFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Observe(true)
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Run(time.Minute)
	equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, "gm@example.com")
	journal := w.Journal(pollID)
	last := journal[len(journal)-1]
	equal(t, "would be done", last.Decision, rules.MoveCalendar)
	equal(t, "observed", last.Observed, true)
	w.Observe(false)
	w.Sweep()
	w.Run(time.Minute)
	follows(t, w, pollID, worldtest.ClubCalendar)
}

// One of many that were found elsewhere cannot be written: it is deferred, and read
// again when it can be.
func TestMovedEvents_OneOfManyIsStuck_IsDeferred(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	polls := manyMoved(w)
	stuck := slices.MinFunc(polls, func(a, b string) int { // the one searched for first
		return strings.Compare(w.View(a).Poll.GoogleEventID, w.View(b).Poll.GoogleEventID)
	})
	fill(t, w, stuck)
	w.Run(30 * time.Minute)
	for _, pollID := range polls {
		if pollID != stuck {
			follows(t, w, pollID, worldtest.ClubCalendar)
		}
	}
	if reason := w.Calendar("gm").Deferred(w.View(stuck).Poll.GoogleEventID).Why; reason == "" {
		t.Error("the event is not deferred")
	}
	w.Write(poll.Path(stuck), poll.Set("fieldOfTheWebApp", "small"))
	w.Sweep()
	w.Run(5 * time.Minute)
	follows(t, w, stuck, worldtest.ClubCalendar)
}

// Many events were moved, and the search for them fails at first: nothing is held for a person.
func TestMovedEvents_WhereTheSearchFailsAtFirst_AreFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	polls := manyMoved(w)
	w.Refuse("calendarList.list", 503, "", 0)
	w.Run(10 * time.Second)
	w.Heal()
	w.Run(30 * time.Minute)
	for _, pollID := range polls {
		follows(t, w, pollID, worldtest.ClubCalendar)
	}
	equal(t, "notices of a hold", holdNotices(w), 0)
	atRest(t, w)
}

// What is missing from its calendar may come back to it while others are searched.
func TestDeletion_MovedBackDuringTheSearch_CancelsNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, event := w.Finalised()
	w.MoveAway("gm", event, worldtest.Club)
	w.On("before calendarList.list", func() { w.MoveAway(worldtest.Club, event, "gm") })
	w.Run(10 * time.Minute)
	equal(t, "decisions", strings.Join(w.Decisions(pollID), ", "), "finalise")
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	atRest(t, w)
}
