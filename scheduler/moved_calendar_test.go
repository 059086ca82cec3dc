package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// movedAway is a poll whose event was moved to another calendar just now, and no sync
// has run since.
func movedAway(w *worldtest.World) fixture {
	s := finalised(w)
	w.MoveAway("gm", s.event, worldtest.Club)
	w.LosePushes()
	return s
}

// live are the events of gm's two calendars that were not deleted.
func live(w *worldtest.World) int { return len(w.Events("gm")) + len(w.Events(worldtest.Club)) }

// journal fails where the journal of a poll says something else.
func journal(t *testing.T, w *worldtest.World, s fixture, want ...string) {
	t.Helper()
	equal(t, "journal", strings.Join(w.Decisions(s.poll), ", "), strings.Join(want, ", "))
}

// An entry that had to step aside for another calendar's event of the same id moves along.
func TestMovedEvent_WithAnEntryOfItsOwnCalendar_IsFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	account := w.Account("gm")
	w.Write(poll.SharedIndexPath(s.event, account, "gm@example.com"), poll.Set("schedulerId", s.poll),
		poll.Set("accountId", account), poll.Set("calendarId", "gm@example.com"), poll.Set("generation", int64(1)))
	w.Write(poll.IndexPath(s.event), poll.Set("schedulerId", "other"), poll.Set("accountId", "another"), poll.Set("calendarId", "elsewhere"))
	w.MoveAway("gm", s.event, worldtest.Club)
	w.Run(time.Minute)
	journal(t, w, s, "finalise", "moved_calendar")
	entry, _, err := poll.FindIndex(t.Context(), w.Documents, account, worldtest.ClubCalendar, s.event)
	if err != nil || entry == nil || entry.PollID != s.poll {
		t.Errorf("the entry in its calendar is %+v, %v", entry, err)
	}
	other, _, err := poll.FindIndex(t.Context(), w.Documents, "another", "elsewhere", s.event)
	if err != nil || other == nil || other.PollID != "other" {
		t.Errorf("the other poll's entry is %+v, %v", other, err)
	}
}

func TestDeletion_OfAMovedEvent_DeletesItWhereItIs(t *testing.T) {
	t.Parallel()
	gm := worldtest.Person("gm")
	for name, c := range map[string]struct {
		do   func(w *worldtest.World, s fixture) error
		left int
	}{
		"cancel": {func(w *worldtest.World, s fixture) error {
			_, err := w.Cancel(s.poll)
			return err
		}, 0},
		"reopen": {func(w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reopen(w.Context(), gm, s.poll, true, worldtest.Cause)
			return err
		}, 0},
		"delete": {func(w *worldtest.World, s fixture) error {
			return w.Scheduler.Delete(w.Context(), gm, s.poll, false, worldtest.Cause)
		}, 0},
		"delete the event": {func(w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.DeleteEvent(w.Context(), gm, s.poll, worldtest.Cause)
			return err
		}, 0},
		"finalise again": {func(w *worldtest.World, s fixture) error {
			_, err := w.Finalise(s.poll, s.slots[1])
			return err
		}, 1},
		"finalise again without an event": {func(w *worldtest.World, s fixture) error {
			_, err := w.FinaliseAs(s.poll, worldtest.Ask{SlotID: s.slots[1]})
			return err
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := movedAway(w)
			if err := c.do(w, s); err != nil {
				t.Fatal(err)
			}
			w.Run(5 * time.Minute)
			equal(t, "the moved event is there", w.EventOf(worldtest.Club, s.event).Live(), false)
			equal(t, "events", live(w), c.left)
			atRest(t, w)
		})
	}
}

func TestDeletion_OfAMovedEvent_WaitsForTheSearch(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := movedAway(w)
	w.Refuse("calendarList.list", 503, "", 0)
	if _, err := w.Cancel(s.poll); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Hour)
	equal(t, "intents", len(w.Intents()), 1)
	w.Heal()
	w.Run(time.Hour)
	equal(t, "events", live(w), 0)
	atRest(t, w)
}

// An event whose search fails for a whole day is left, with an error in the log.
func TestDeletion_WhereTheSearchKeepsFailing_EndsAfterADay(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := movedAway(w)
	w.Refuse("calendarList.list", 503, "", 0)
	if _, err := w.Cancel(s.poll); err != nil {
		t.Fatal(err)
	}
	w.Run(20 * time.Hour)
	equal(t, "intents after 20 hours", len(w.Intents()), 1)
	w.Run(5 * time.Hour)
	equal(t, "intents", len(w.Intents()), 0)
	equal(t, "it is logged", strings.Contains(w.Log(), "search for a missing event in other calendars failed"), true)
	w.Released(s.event)
	atRest(t, w)
}

// A day in which nobody searched is no day in which the search failed.
func TestDeletion_ADayWithoutASearch_IsSearchedFurther(t *testing.T) {
	t.Parallel()
	for name, pass := range map[string]func(w *worldtest.World){
		"while the program did not run":    func(w *worldtest.World) { w.Skip(25 * time.Hour) },
		"but for an hour at its beginning": func(w *worldtest.World) { w.Run(time.Hour); w.Skip(25 * time.Hour) },
		"while the account was unlinked": func(w *worldtest.World) {
			w.Unlink("gm")
			w.Run(25 * time.Hour)
			w.Link("gm")
		},
		"after the account was unlinked": func(w *worldtest.World) {
			w.Unlink("gm")
			w.Run(25 * time.Hour)
			w.Link("gm")
			w.Run(2 * time.Minute)
			w.Skip(25 * time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := movedAway(w)
			w.Refuse("calendarList.list", 503, "", 0)
			if _, err := w.Cancel(s.poll); err != nil {
				t.Fatal(err)
			}
			pass(w)
			w.Run(time.Hour)
			equal(t, "intents", len(w.Intents()), 1)
			w.Heal()
			w.Run(time.Hour)
			equal(t, "events", live(w), 0)
			atRest(t, w)
		})
	}
}

func TestDeletion_EventMovedAgainDuringIt_FindsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := movedAway(w)
	w.On("before events.delete", func() {
		w.On("before events.delete", func() { w.MoveAway(worldtest.Club, s.event, "gm") })
	})
	if _, err := w.Cancel(s.poll); err != nil {
		t.Fatal(err)
	}
	w.Run(10 * time.Minute)
	equal(t, "events", live(w), 0)
	atRest(t, w)
}

func TestDeletion_EventMovedBackDuringTheSearch_FindsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := movedAway(w)
	w.On("after events.delete", func() { w.MoveAway(worldtest.Club, s.event, "gm") })
	if _, err := w.Cancel(s.poll); err != nil {
		t.Fatal(err)
	}
	w.Run(10 * time.Minute)
	equal(t, "events", live(w), 0)
	atRest(t, w)
}

func TestRestoreOriginal_OfAMovedEvent_RestoresItWhereItIs(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	w.MoveAway("gm", s.event, worldtest.Club)
	w.LosePushes()
	view, err := w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", view.Poll.Sync.State, rules.StateOK)
	equal(t, "calendar", view.Poll.GoogleCalendarID, worldtest.ClubCalendar)
	equal(t, "event", w.EventOf(worldtest.Club, s.event).Fingerprint(), view.Poll.Sync.Baseline)
	journal(t, w, s, "finalise", "reschedule", "moved_calendar", "restore")
	w.Run(time.Minute)
	journal(t, w, s, "finalise", "reschedule", "moved_calendar", "restore")
	atRest(t, w)
}

func TestRestoreOriginal_OfAGoneEvent_WaitsForTheSearch(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	w.DeleteEvent("gm", s.event)
	w.LosePushes()
	restore := func() error {
		_, err := w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
		return err
	}
	w.Refuse("calendarList.list", 503, "", 1)
	kind(t, restore(), fault.Unavailable)
	kind(t, restore(), fault.Conflict)
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

// The event is moved between its insert and the transaction that links it: whether
// the answer came or was lost, it is one event, and is followed where it is.
func TestInsert_WhereTheEventIsMovedBeforeTheLink_FollowsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost    bool
		journal []string
	}{
		"the answer came":     {false, []string{"finalise", "moved_calendar"}},
		"the answer was lost": {true, []string{"finalise"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			w.On("after events.insert", func() {
				made := w.Events("gm")
				w.MoveAway("gm", made[0].ID, worldtest.Club)
				w.MoveEvent(worldtest.Club, made[0].ID, worldtest.Noon)
				w.RunDue() // the syncs of both calendars find no poll
			})
			if c.lost {
				w.Fail("after events.insert", fault.New(fault.Unavailable, "broken"))
			}
			if _, err := w.Finalise(s.poll, s.slots[0]); (err != nil) != c.lost {
				t.Fatal(err)
			}
			w.Run(10 * time.Minute)
			view := w.View(s.poll)
			equal(t, "calendar", view.Poll.GoogleCalendarID, worldtest.ClubCalendar)
			equal(t, "generation", view.Poll.Sync.Generation, 1)
			equal(t, "events", live(w), 1)
			equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
			equal(t, "time", view.Winning.Start.Equal(worldtest.Noon.Start), true)
			journal(t, w, s, append(c.journal, "reschedule")...)
			atRest(t, w)
		})
	}
}

// Where another poll follows the event in the calendar that it was moved to, it is
// that poll's.
func TestApply_AMovedEventThatAnotherPollFollows_IsGone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.MoveAway("gm", s.event, worldtest.Club)
	w.LosePushes()
	other := fresh(w)
	w.Edit(poll.Path(other.poll), poll.Set("status", string(rules.Finalized)), poll.Set("winningSlotId", other.slots[0]),
		poll.Set("googleEventId", s.event), poll.Set("googleCalendarId", worldtest.ClubCalendar))
	if _, err := w.Scheduler.Reconcile(t.Context(), other.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	equal(t, "status of the other", w.View(other.poll).Poll.Status, rules.Finalized)
	equal(t, "index entries, one of which awaits the event", len(w.Index()), 2)
	w.Released(s.event)
	atRest(t, w)
}

// A user who lost the right to write to a calendar cannot delete in it; the event
// may have been moved out of it before.
func TestCancel_EventMovedOutOfACalendarWeOnlyRead_DeletesIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	view, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.LosePushes()
	w.MoveAway(worldtest.Club, view.Poll.GoogleEventID, "gm")
	w.ShareClub(worldtest.Reader)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Run(15 * time.Minute)
	equal(t, "events of gm", len(w.Events("gm")), 0)
	atRest(t, w)
}
