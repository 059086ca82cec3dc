package calendarsync_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// ben's calendar, whose account gm linked too, shows a guest's copy of the event
// that gm gave to somebody else: it has the event's id and is another thing.
func TestMovedEvent_GuestsCopy_IsNotTakenForIt(t *testing.T) {
	t.Parallel()
	for name, finalise := range map[string]func(t *testing.T, w *worldtest.World) (pollID, eventID string){
		"made by us": func(t *testing.T, w *worldtest.World) (string, string) {
			t.Helper()
			pollID, slots := w.Poll()
			view, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, Attendees: []string{"ben@example.com"}})
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			return pollID, view.Poll.GoogleEventID
		},
		"made before us": func(t *testing.T, w *worldtest.World) (string, string) {
			t.Helper()
			return legacy(t, w, "ben@example.com")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.LinkAs("gm", "ben")
			pollID, eventID := finalise(t, w)
			shared(t, w, "cho", worldtest.Writer)
			w.MoveTo("gm", eventID, "cho")
			shared(t, w, "cho", worldtest.NoAccess)
			equal(t, "ben's copy is there", w.EventOf("ben", eventID).Live(), true)
			w.Run(time.Minute)
			equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
			w.Released(eventID)
			atRest(t, w)
		})
	}
}

// What cannot be searched for is neither cancelled nor announced, whether it was
// moved or deleted, until it can be.
func TestGoneEvent_WhereTheSearchFails_IsDeferred(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(w *worldtest.World){
		"the list of calendars": func(w *worldtest.World) { w.Refuse("calendarList.list", 503, "", 0) },
		"the other calendar": func(w *worldtest.World) {
			for range 20 { // its own calendar is asked first
				w.On("after events.get", func() { w.Refuse("events.get", 403, "forbidden", 1) })
				w.On("after events.get", func() {})
			}
		},
	} {
		for act, c := range map[string]struct {
			do       func(w *worldtest.World, eventID string)
			decision string
		}{
			"moved":   {func(w *worldtest.World, eventID string) { w.MoveAway("gm", eventID, worldtest.Club) }, "moved_calendar"},
			"deleted": {func(w *worldtest.World, eventID string) { w.DeleteEvent("gm", eventID) }, "cancel"},
		} {
			t.Run(act+", "+name, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				pollID, _, eventID := w.Finalised()
				fail(w)
				c.do(w, eventID)
				w.Run(30 * time.Minute)
				follows(t, w, pollID, "gm@example.com")
				equal(t, "error", w.View(pollID).Poll.Sync.Error.Code, rules.SyncFailed)
				equal(t, "it waits as", w.Calendar("gm").Deferred(eventID).Why, calendars.DeferredFailed)

				w.Calm()
				w.Heal()
				w.Sweep()
				w.Run(time.Minute)
				journal := w.Decisions(pollID)
				equal(t, "then", journal[2], c.decision)
				equal(t, "error", w.View(pollID).Poll.Sync.Error == nil, true)
				atRest(t, w)
			})
		}
	}
}

// A sync that a person asks for does not hide that the event keeps failing.
func TestGoneEvent_WhereTheSearchFails_AndAPersonAsksForASync_ShowsIt(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]time.Duration{"before any run": 0, "between two": 10 * time.Second, "once it is shown": 30 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.Refuse("calendarList.list", 503, "", 0)
			w.DeleteEvent("gm", eventID)
			w.Run(waits)
			if _, err := w.Scheduler.Sync(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			w.Run(30 * time.Minute)
			equal(t, "error", w.View(pollID).Poll.Sync.Error != nil && w.View(pollID).Poll.Sync.Error.Code == rules.SyncFailed, true)
			equal(t, "it waits as", w.Calendar("gm").Deferred(eventID).Why, calendars.DeferredFailed)
			w.Heal()
			w.Sweep()
			w.Run(time.Minute)
			equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
			atRest(t, w)
		})
	}
}

// A calendar that its account lists may hold the event, whatever Google says of it now.
func TestGoneEvent_WhileAListedCalendarIsNotThere_IsDeferred(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	for _, match := range []string{"events.get", "events.list"} {
		if err := w.Google.Control().Plant(control.Rule{Match: match, Calendar: worldtest.ClubCalendar, Status: 404}); err != nil {
			t.Fatal(err)
		}
	}
	w.DeleteEvent("gm", eventID)
	w.Run(30 * time.Minute)
	follows(t, w, pollID, "gm@example.com")
	equal(t, "it waits as", w.Calendar("gm").Deferred(eventID).Why, calendars.DeferredFailed)
	w.Heal()
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

// A calendar that did not answer is synced, which finds out whether it is lost, unless that is asked for
// already, or a run of it failed and is tried again.
func TestGoneEvent_WhileAKnownCalendarIsSilent_HasThatSynced(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before func(w *worldtest.World, club calendars.Calendar) []store.Update
		by     string // what it is asked for by
	}{
		"it succeeded": {nil, "drain"},
		"it fails": {func(w *worldtest.World, club calendars.Calendar) []store.Update {
			return club.MarkFailing(w.Clock.Now(), fault.Unavailable.String())
		}, ""},
		"it is asked for": {func(w *worldtest.World, _ calendars.Calendar) []store.Update {
			return calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})
		}, "person"},
		"nothing wants it": {func(*worldtest.World, calendars.Calendar) []store.Update {
			return []store.Update{{Path: store.Field("interests", poll.ConsumerPoll), Value: int64(0)}}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			inClub(t, w)
			_, _, eventID := w.Finalised()
			w.Run(time.Minute)
			for _, match := range []string{"events.get", "events.list"} {
				if err := w.Google.Control().Plant(control.Rule{Match: match, Calendar: worldtest.ClubCalendar, Status: 404}); err != nil {
					t.Fatal(err)
				}
			}
			if row.before != nil {
				club := w.Calendar(worldtest.Club)
				w.Write(calendars.Path(club.Key), row.before(w, club)...)
			}
			w.DeleteEvent("gm", eventID)
			w.LosePushes()
			key := w.CalendarKey("gm")
			w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
			if _, err := w.Outbox.Run(t.Context(), calendars.SyncKind, key); err != nil {
				t.Fatal(err)
			}
			equal(t, "it waits as", w.Calendar("gm").Deferred(eventID).Why, calendars.DeferredFailed)
			equal(t, "the other is asked for", w.Calendar(worldtest.Club).Asked(), row.by != "")
			if row.by != "" {
				equal(t, "by", w.Calendar(worldtest.Club).SyncCause, row.by)
			}
		})
	}
}

// A move is fresh, and Google may not find the event in its new calendar yet.
func TestMovedEvent_ThatGoogleDoesNotFindYet_IsDeferred(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Refuse("events.get", 404, "", 2)
	w.Run(time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "moved_calendar"})
	follows(t, w, pollID, worldtest.ClubCalendar)
}

// A search asks 25 other calendars at most, of which the club's is one here.
func TestGoneEvent_AmongTooManyCalendars_IsDeferred(t *testing.T) {
	t.Parallel()
	for rooms, searched := range map[int]bool{24: true, 25: false} {
		t.Run(fmt.Sprintf("%d others", rooms+1), func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			for i := range rooms {
				w.OpenCalendar(fmt.Sprintf("room-%02d@group.calendar.google.com", i), "gm")
			}
			pollID, _, eventID := w.Finalised()
			w.DeleteEvent("gm", eventID)
			w.Run(10 * time.Minute)
			if searched {
				same(t, "journal", w.Decisions(pollID), []string{"finalise", "cancel"})
				return
			}
			follows(t, w, pollID, "gm@example.com")
			equal(t, "error", w.View(pollID).Poll.Sync.Error.Code, rules.SyncFailed)
		})
	}
}

// Hidden calendars are asked as long as there is room for them.
func TestGoneEvent_AmongManyHiddenCalendars_IsCancelled(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for i := range 30 {
		room := fmt.Sprintf("room-%02d@group.calendar.google.com", i)
		w.OpenCalendar(room, "gm")
		if err := w.Google.Hide(room, "gm", i%3 == 0); err != nil { // 20 others are shown, and the club's
			t.Fatal(err)
		}
	}
	pollID, _, eventID := w.Finalised()
	w.DeleteEvent("gm", eventID)
	w.Run(10 * time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "cancel"})
}

// An account whose token another client was given says nothing of its owner's other calendars.
func TestGoneEvent_BesideAnAccountThatRefusesTheClient_IsCancelled(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	second := w.LinkAs("gm", "ben").ID
	pollID, _, eventID := w.Finalised()
	list := w.Syncer.MoveFinder.Calendars.List
	w.Syncer.MoveFinder.Calendars.List = func(ctx context.Context, account string) ([]gcal.CalendarEntry, error) {
		if account == second {
			return nil, &fault.Error{Kind: fault.Provider, Code: accounts.CodeClientRefused}
		}
		return list(ctx, account)
	}
	w.DeleteEvent("gm", eventID)
	w.Run(time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "cancel"})
}

// What was moved and then deleted is gone from there, too, though Google may show all of it.
func TestMovedEvent_DeletedWhereItWent_IsGone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	w.DeleteEvent(worldtest.Club, eventID)
	w.Malform(worldtest.Club, eventID, fmt.Sprintf(`{
		"organizer": {"email": %q, "self": true},
		"extendedProperties": {"private": {"questschedulerPoll": %q, "questschedulerGeneration": "1"}}
	}`, worldtest.ClubCalendar, pollID))
	w.Run(time.Minute)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "cancel"})
	atRest(t, w)
}

// Without the scope for the list, the primary calendars are all that is known.
func TestMovedEvent_WithoutTheListsScope_IsFollowedIfKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known    bool // a poll follows the calendar
		decision string
	}{"to a known calendar": {true, "moved_calendar"}, "to an unknown one": {false, "cancel"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.LinkAs("gm", "gm", "openid", "email", "https://www.googleapis.com/auth/calendar.events")
			if c.known {
				other, slots := w.Poll()
				if _, err := w.FinaliseAs(other, worldtest.Ask{SlotID: slots[1], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
					t.Fatal(err)
				}
			}
			pollID, _, eventID := w.Finalised()
			w.MoveAway("gm", eventID, worldtest.Club)
			w.Run(time.Minute)
			same(t, "journal", w.Decisions(pollID), []string{"finalise", c.decision})
			equal(t, "calls of calendarList.list", w.Calls("calendarList.list"), 0)
			if !c.known {
				w.Released(eventID)
			}
			atRest(t, w)
		})
	}
}

// A session that is over, and one that we deleted ourselves, is searched for nowhere.
func TestGoneEvent_ThatCancelsNothing_IsNotSearchedFor(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *worldtest.World, pollID, eventID string){
		"long over": func(w *worldtest.World, _, eventID string) {
			w.Skip(worldtest.Ten.End.Sub(worldtest.Start) + 48*time.Hour)
			w.DeleteEvent("gm", eventID)
		},
		"cancelled by us": func(w *worldtest.World, pollID, _ string) {
			if _, err := w.Cancel(pollID); err != nil {
				panic(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			act(w, pollID, eventID)
			w.Run(time.Minute)
			equal(t, "calls of calendarList.list", w.Calls("calendarList.list"), 0)
			atRest(t, w)
		})
	}
}

// Any user who writes to a calendar may give an event any id. One that has ours, and
// not the marks that go with it, was not moved there.
func TestGoneEvent_WhoseIDAnotherEventHas_IsGone(t *testing.T) {
	t.Parallel()
	marks := func(pollID, generation string) map[string]any {
		return map[string]any{"private": map[string]string{"questschedulerPoll": pollID, "questschedulerGeneration": generation}}
	}
	for name, extended := range map[string]func(pollID string) map[string]any{
		"without marks":           func(string) map[string]any { return nil },
		"of another poll":         func(string) map[string]any { return marks("another", "1") },
		"of another finalisation": func(pollID string) map[string]any { return marks(pollID, "7") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.InsertEvent(worldtest.Club, map[string]any{
				"id": eventID, "start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"},
				"extendedProperties": extended(pollID),
			})
			w.Released(eventID) // it is none of ours
			w.DeleteEvent("gm", eventID)
			w.Run(time.Minute)
			same(t, "journal", w.Decisions(pollID), []string{"finalise", "cancel"})
			equal(t, "the other event is there", w.EventOf(worldtest.Club, eventID).Live(), true)
			atRest(t, w)
		})
	}
}

// What a calendar shows under the event's id cannot be read: it may be the event.
func TestMovedEvent_ShownMalformed_IsDeferred(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Malform(worldtest.Club, eventID, `{"extendedProperties": {"private": ["poll"]}}`)
	w.Run(10 * time.Minute)
	stands(t, w, pollID, rules.StateError, ten.Start)
	w.Heal()
	w.Sweep()
	w.Run(10 * time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, worldtest.ClubCalendar)
	equal(t, "notices of ana", len(w.Notices("ana")), 0)
	atRest(t, w)
}

// A calendar that we know by an account whose grant died cannot be asked: the event
// may be there, so its absence elsewhere cancels nothing.
func TestGoneEvent_WhereAKnownCalendarRefuses_IsDeferred(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.LinkAs("gm", "ben")
	pollID, _, eventID := w.Finalised()
	other, slots := w.Poll()
	if _, err := w.FinaliseAs(other, worldtest.Ask{SlotID: slots[1], CreateEvent: true, CalendarID: "ben@example.com"}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.Revoke("ben")
	w.Sweep()
	w.Run(time.Minute)
	shared(t, w, "ben", worldtest.Writer)
	w.MoveTo("gm", eventID, "ben")
	shared(t, w, "ben", worldtest.NoAccess)
	w.Run(30 * time.Minute)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	equal(t, "notices of ana", len(w.Notices("ana")), 0)
}

// A search that fails is tried again, for any reason, and says which.
func TestSearch_ThatFails_SaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(w *worldtest.World)
		says  string // a part of the error
	}{
		"an event that is not answered": {func(w *worldtest.World) { w.Refuse("events.get", 503, "backendError", 1) }, "events.get"},
		"a listing that is not": {func(w *worldtest.World) {
			w.Refuse("events.get", 404, "notFound", 1)
			w.Refuse("events.list", 503, "backendError", 1)
		}, "events.list"},
		"an event that is refused":        {func(w *worldtest.World) { w.Refuse("events.get", 403, "forbidden", 1) }, "events.get"},
		"a list of calendars that is not": {func(w *worldtest.World) { w.Refuse("calendarList.list", 503, "backendError", 1) }, "calendarList.list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			gone := missing(w.Calendar("gm"))
			c.begin(w)
			_, err := w.Scheduler.Calendar.Find(t.Context(), gone)
			equal(t, "it failed as", fault.KindOf(err), fault.Unavailable)
			equal(t, "code", fault.CodeOf(err), calendarsync.CodeSearchFailed)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
			found, err := w.Scheduler.Calendar.Find(t.Context(), gone)
			if err != nil || found != nil {
				t.Errorf("once Google answers: %+v, %v", found, err)
			}
		})
	}
}
