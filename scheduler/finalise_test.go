package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
	"questscheduler/store"
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
	if len(entries) != 1 || entries[0].Link() != (rules.Link{Account: w.Account("gm"), Calendar: "gm@example.com", Event: event.ID, Generation: 1}) {
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

func TestFinalise_AnswerLostAfterInsert(t *testing.T) {
	t.Parallel()
	lose := func(t *testing.T) (*worldtest.World, story) {
		w := worldtest.New(t, worldtest.Options{})
		s := fresh(w)
		w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
		_, err := w.Finalise(s.poll, s.slots[0])
		kind(t, err, fault.Unavailable)
		equal(t, "status", w.View(s.poll).Poll.Status, rules.Open)
		equal(t, "intents", len(w.Intents()), 1)
		w.Check()
		return w, s
	}
	once := func(t *testing.T, w *worldtest.World, s story) {
		equal(t, "events", len(w.Events("gm")), 1)
		view := w.View(s.poll)
		equal(t, "status", view.Poll.Status, rules.Finalized)
		equal(t, "event", view.Poll.GoogleEventID, poll.EventID(s.poll, 1))
		atRest(t, w)
	}
	t.Run("the drain ends it in exactly one event", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		w.Run(2 * time.Minute)
		once(t, w, s)
	})
	t.Run("the same finalise again ends it in exactly one event", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		if _, err := w.Finalise(s.poll, s.slots[0]); err != nil {
			t.Error(err)
		}
		once(t, w, s)
		w.Run(2 * time.Minute)
		once(t, w, s)
	})
	t.Run("another finalise leaves its own event alone", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		if _, err := w.Finalise(s.poll, s.slots[1]); err != nil {
			t.Error(err)
		}
		w.Run(2 * time.Minute)
		events := w.Events("gm")
		if len(events) != 1 || events[0].ID != poll.EventID(s.poll, 2) {
			t.Errorf("events: %+v", events)
		}
		atRest(t, w)
	})
	t.Run("a cancellation leaves none", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		if _, err := w.Cancel(s.poll); err != nil {
			t.Error(err)
		}
		if intents := w.Intents(); len(intents) != 1 || intents[0].Kind != poll.IntentDelete {
			t.Errorf("the insert is not a deletion now: %+v", intents)
		}
		w.Run(2 * time.Minute)
		equal(t, "events", len(w.Events("gm")), 0)
		equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
		atRest(t, w)
	})
	t.Run("an event that was deleted meanwhile is made anew", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		w.DeleteEvent("gm", poll.EventID(s.poll, 1))
		w.Run(2 * time.Minute)
		events := w.Events("gm")
		if len(events) != 1 || events[0].ID != poll.EventID(s.poll, 2) {
			t.Errorf("events: %+v", events)
		}
		equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
		atRest(t, w)
	})
	t.Run("an event that was moved meanwhile is followed", func(t *testing.T) {
		t.Parallel()
		w, s := lose(t)
		w.MoveEvent("gm", poll.EventID(s.poll, 1), worldtest.Noon)
		w.Run(2 * time.Minute)
		view := w.View(s.poll)
		equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
		equal(t, "start", view.Winning.Start, worldtest.Noon.Start)
		equal(t, "baseline", view.Poll.Sync.Baseline, rules.Timed(worldtest.Ten.Start, worldtest.Ten.End))
		atRest(t, w)
	})
}

func TestFinalise_ThatIsAskedForAgain_IsKnownByItsFraction(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	ask := scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, Duration: time.Hour / 7}
	_, err := w.FinaliseAs(s.poll, ask)
	kind(t, err, fault.Unavailable)
	view, err := w.FinaliseAs(s.poll, ask)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "generation", view.Poll.Sync.Generation, 1)
	w.Run(2 * time.Minute)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateOK)
	atRest(t, w)
}

func TestFinalise_Refused_LeavesThePollAsItWas(t *testing.T) {
	t.Parallel()
	for _, refusal := range []struct {
		status int
		reason string
		kind   fault.Kind
	}{
		{403, "requiredAccessLevel", fault.Provider},
		{403, "rateLimitExceeded", fault.RateLimited},
		{403, "quotaExceeded", fault.Exhausted},
		{404, "notFound", fault.NotFound},
		{400, "timeRangeEmpty", fault.Provider},
	} {
		t.Run(refusal.reason, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			before := w.View(s.poll).Poll
			w.Refuse("events.insert", refusal.status, refusal.reason, 1)
			_, err := w.Finalise(s.poll, s.slots[0])
			kind(t, err, refusal.kind)
			equal(t, "intents", len(w.Intents()), 0)
			w.Run(2 * time.Minute)
			after := w.View(s.poll).Poll
			equal(t, "status", after.Status, rules.Open)
			equal(t, "winning slot", after.WinningSlotID, "")
			equal(t, "updated", after.UpdatedAt, before.UpdatedAt)
			equal(t, "events", len(w.Events("gm")), 0)
			equal(t, "journal", len(w.Journal(s.poll)), 0)
			atRest(t, w)
		})
	}
}

func TestFinaliseAgain_Refused_GoesOnFollowingTheOldEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Refuse("events.insert", 403, "requiredAccessLevel", 1)
	// The event moves while the insert is under way, and a look sees it.
	w.On("before events.insert", func() { w.MoveEvent("gm", s.event, worldtest.Noon); w.RunDue() })
	_, err := w.Finalise(s.poll, s.slots[1])
	kind(t, err, fault.Provider)
	w.Run(2 * time.Minute)
	view := w.View(s.poll)
	equal(t, "event", view.Poll.GoogleEventID, s.event)
	equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
	w.DeleteEvent("gm", s.event)
	w.Run(time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
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
	if _, err := w.Finalise(s.poll, s.slots[0]); err != nil {
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
func TestFinalise_MadeByADeadProgram_IsNotForgottenWhenTheNextIsRefused(t *testing.T) {
	t.Parallel()
	for _, refusal := range []struct {
		status int
		reason string
	}{{429, "rateLimitExceeded"}, {403, "rateLimitExceeded"}, {403, "quotaExceeded"}, {403, "requiredAccessLevel"}, {404, "notFound"}} {
		for name, goOn := range map[string]act{"the drain": drain, "the same finalise again": finaliseFirst} {
			t.Run(refusal.reason+", then "+name, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := fresh(w)
				w.Crash("after events.insert")
				w.Survives(func() { finaliseFirst.do(w, s) })
				w.TakeOver()
				w.Skip(time.Minute)
				w.Refuse("events.insert", refusal.status, refusal.reason, 1)
				goOn.do(w, s)
				w.Check()
				w.Run(15 * time.Minute)
				equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
				oneStory(t, w, s)
				atRest(t, w)
			})
		}
	}
}

// An insert without an answer is refused for good when it is tried again: in
// the end the poll is as it was, and its older event followed.
func TestFinaliseAgain_RefusedAfterAnOutage_GoesOnFollowingTheOldEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Refuse("events.insert", 503, "backendError", 1)
	_, err := w.Finalise(s.poll, s.slots[1])
	kind(t, err, fault.Unavailable)
	w.Refuse("events.insert", 403, "requiredAccessLevel", 0)
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(5 * time.Minute)
	equal(t, "event", w.View(s.poll).Poll.GoogleEventID, s.event)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	oneStory(t, w, s)
	atRest(t, w)
}
