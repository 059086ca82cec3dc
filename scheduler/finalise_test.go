package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func kind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if !fault.Is(err, want) {
		t.Errorf("got the error %v, want one of kind %q", err, want)
	}
}

func TestFinalise_MakesOneEventWithTheRightTimesAndMarks(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	view, err := w.FinaliseAs(pollID, scheduler.Finalise{
		SlotID: slots[0], CreateEvent: true, Duration: 90 * time.Minute, Attendees: []string{"ben@example.com", "stranger@example.net"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)

	p := view.Poll
	events := w.Events("gm")
	if len(events) != 1 {
		t.Fatalf("there are %d events", len(events))
	}
	event := events[0]
	made := rules.Timed(worldtest.Ten.Start, worldtest.Ten.Start.Add(90*time.Minute))
	equal(t, "event id", event.ID, p.GoogleEventID)
	equal(t, "derived id", event.ID, poll.EventID(pollID, 1))
	equal(t, "event time", event.Fingerprint(), made)
	equal(t, "title", event.Title, "Session nine")
	equal(t, "text", event.Text, "Bring dice")
	equal(t, "time zone", event.Start.TimeZone, "Europe/Berlin")
	equal(t, "guests", len(event.Attendees), 2)
	equal(t, "mark of the poll", event.Marks.Private["questschedulerPoll"], pollID)
	equal(t, "mark of the generation", event.Marks.Private["questschedulerGeneration"], "1")

	equal(t, "status", p.Status, rules.Finalized)
	equal(t, "winning slot", p.WinningSlotID, slots[0])
	equal(t, "calendar", p.GoogleCalendarID, "gm@example.com")
	equal(t, "state", p.Sync.State, rules.StateOK)
	equal(t, "baseline", p.Sync.Baseline, made)
	equal(t, "applied", p.Sync.Applied, made)
	equal(t, "priority of the slot", p.SlotPriority[slots[0]], worldtest.Start.UnixMilli())
	document := store.Fields(w.Document(poll.Path(pollID)).Data)
	equal(t, "finalizedAtMs", document.Int("finalizedAtMs"), worldtest.Start.UnixMilli())
	entries := w.Index()
	if len(entries) != 1 ||
		entries[0].Link() != (rules.Link{Account: w.Account("gm"), Calendar: "gm@example.com", Event: event.ID, Generation: 1}) {
		t.Errorf("index: %+v", entries)
	}
	equal(t, "events.insert calls", w.Calls("events.insert"), 1)
	atRest(t, w)
}

func TestFinalise_WithoutEvent_FollowsNoCalendar(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	view, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[1]})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	equal(t, "status", view.Poll.Status, rules.Finalized)
	equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[1])
	equal(t, "event of the poll", view.Poll.GoogleEventID, "")
	equal(t, "state", view.Poll.Sync.State, rules.StateNone)
	equal(t, "events", len(w.Events("gm")), 0)
	equal(t, "index entries", len(w.Index()), 0)
	atRest(t, w)
}

func TestFinaliseAgain_ReplacesTheEvent(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(map[bool]string{false: "and deletes the old one", true: "and releases the old one"}[keep], func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			view, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[1], CreateEvent: true, KeepOldEvent: keep})
			if err != nil {
				t.Fatal(err)
			}
			if keep {
				w.Released(s.event)
			}
			w.Run(time.Minute)
			equal(t, "old event is there", w.EventOf("gm", s.event).Live(), keep)
			equal(t, "new event is there", w.EventOf("gm", view.Poll.GoogleEventID).Live(), true)
			equal(t, "index entries", len(w.Index()), 1)
			equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[1])
			if keep { // what happens to a released event is nobody's business
				w.DeleteEvent("gm", s.event)
				w.Run(time.Minute)
				equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
			}
			atRest(t, w)
		})
	}
}

func TestFinaliseAgain_InAnotherCalendar_MovesTheInterest(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	view, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[1], CreateEvent: true, CalendarID: worldtest.ClubCalendar})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	equal(t, "polls that follow the first calendar", w.Calendar("gm").Interests[poll.ConsumerPoll], 0)
	equal(t, "polls that follow the second calendar", w.Calendar(worldtest.Club).Interests[poll.ConsumerPoll], 1)
	equal(t, "events in the first", len(w.Events("gm")), 0)
	w.MoveEvent(worldtest.Club, view.Poll.GoogleEventID, worldtest.Noon)
	w.Run(time.Minute)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	atRest(t, w)
	if _, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, CalendarID: "gm@example.com"}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.MoveEvent("gm", w.View(s.poll).Poll.GoogleEventID, worldtest.Noon)
	w.Run(time.Minute)
	equal(t, "state back in the first calendar", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	atRest(t, w)
}

func TestFinalise_InAnothersAccount_IsNotFound(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	_, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[1], CreateEvent: true, AccountID: w.Account("ana")})
	kind(t, err, fault.NotFound)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}

func TestFinalise_WhereTheWatchFails_SucceedsAndSaysSo(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Refuse("events.watch", 503, "backendError", 1)
	view, err := w.Finalise(s.poll, s.slots[0])
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "status", view.Poll.Status, rules.Finalized)
	equal(t, "state", view.Poll.Sync.State, rules.StateError)
	if view.Poll.Sync.Error == nil || view.Poll.Sync.Error.Code != rules.WatchFailed {
		t.Errorf("error: %+v", view.Poll.Sync.Error)
	}
	w.Run(time.Minute)
	w.Check()
	if err := w.Watcher.Ensure(t.Context(), w.Account("gm"), "gm@example.com"); err != nil {
		t.Fatal(err)
	}
	p := w.View(s.poll).Poll
	equal(t, "state after a watch lives", p.Sync.State, rules.StateOK)
	equal(t, "error after a watch lives", p.Sync.Error == nil, true)
	w.MoveEvent("gm", p.GoogleEventID, worldtest.Noon)
	w.Run(time.Minute)
	equal(t, "state after a move", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	atRest(t, w)
}

func TestFinalise_IsForTheCreatorAndASlotOfThePoll(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	ask := scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true}
	_, err := w.Scheduler.Finalise(t.Context(), worldtest.Person("ana"), s.poll, ask, worldtest.Cause)
	kind(t, err, fault.Forbidden)
	_, err = w.Scheduler.Finalise(t.Context(), scheduler.Person{ID: "stranger"}, s.poll, ask, worldtest.Cause)
	kind(t, err, fault.NotFound)
	_, err = w.Finalise(s.poll, "no-such-slot")
	kind(t, err, fault.NotFound)
	_, err = w.Finalise("no-such-poll", s.slots[0])
	kind(t, err, fault.NotFound)
	equal(t, "calls of Google", w.Calls(""), 0)
	equal(t, "intents", len(w.Intents()), 0)
	w.Check()
}

func TestFinalise_ShowsWhatTheWebAppReads(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Write(poll.Path(s.poll), poll.Set("embeddedPolls", []string{"e1"}), poll.Set("timezoneMode", "manual"))
	if _, err := w.Finalise(s.poll, s.slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	data := store.Fields(w.Document(poll.Path(s.poll)).Data)
	sync := data.Map("calendarSync")
	equal(t, "timezoneMode", data.String("timezoneMode"), "manual")
	equal(t, "embedded polls", slices.Equal(data.Strings("embeddedPolls"), []string{"e1"}), true)
	equal(t, "state", sync.String("state"), "OK")
	equal(t, "baseline start", sync.Map("baseline").String("startUtc"), "2026-03-10T10:00:00.000Z")
	equal(t, "baseline end", sync.Map("baseline").String("endUtc"), "2026-03-10T11:00:00.000Z")
	equal(t, "fingerprint", sync.String("lastEventFingerprint"), "2026-03-10T10:00:00.000Z|2026-03-10T11:00:00.000Z|false")
	for _, name := range []string{"rescheduled", "cancelled", "error"} {
		if _, there := sync[name]; there {
			t.Errorf("calendarSync.%s is there", name)
		}
	}
	if _, there := data["cancelled"]; there {
		t.Error("cancelled is there")
	}
}

// A program died when its event was made, before it could say so. Whatever the
// calendar answers to the one that takes over, the event is not forgotten.
// An insert without an answer is refused for good when it is tried again: in
// the end the poll is as it was, and its older event followed.
