package calendarsync_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// What owners make of events beside moving them.
var (
	wholeDay = map[string]any{
		"start": map[string]any{"date": "2026-03-10", "dateTime": nil}, "end": map[string]any{"date": "2026-03-11", "dateTime": nil},
	}
	weekly = map[string]any{"recurrence": []string{"RRULE:FREQ=WEEKLY"}}
)

// timed takes a day back.
func timed(slot worldtest.Slot) map[string]any {
	return map[string]any{
		"start": map[string]any{"dateTime": slot.Start.Format(time.RFC3339), "date": nil},
		"end":   map[string]any{"dateTime": slot.End.Format(time.RFC3339), "date": nil},
	}
}

func TestAnEventThatBecomesAWholeDay_IsFollowedAndRestored(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.PatchEvent("gm", eventID, wholeDay)
	w.Run(time.Minute)
	day := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	stands(t, w, pollID, rules.StateRescheduled, day)
	equal(t, "the slot is a day", w.View(pollID).Winning.AllDay, true)
	equal(t, "its end", w.View(pollID).Winning.End, day.AddDate(0, 0, 1))

	w.PatchEvent("gm", eventID, map[string]any{"end": map[string]any{"date": "2026-03-12"}})
	w.Run(time.Minute)
	equal(t, "the end of two days", w.View(pollID).Winning.End, day.AddDate(0, 0, 2))

	w.PatchEvent("gm", eventID, timed(ten))
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	equal(t, "winning slot", w.View(pollID).Poll.WinningSlotID, slots[0])
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule", "reschedule_again", "restore"})
	same(t, "ana's notices", w.Notices("ana"), []string{"SESSION_RESCHEDULED", "SESSION_RESCHEDULED", "SESSION_RESTORED"})
	atRest(t, w)
}

// An event that became a series is no time of a session: its poll warns and
// stays, moves of the series decide nothing, and the single event that it
// becomes again is followed from where it stands.
func TestAnEventThatBecomesASeries_WarnsUntilItIsSingleAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act   func(w *worldtest.World, eventID string)
		state rules.State
		start time.Time
	}{
		"at its time": {func(*worldtest.World, string) {}, rules.StateOK, ten.Start},
		"after the series moved": {
			func(w *worldtest.World, eventID string) { w.MoveEvent("gm", eventID, noon); w.Run(time.Minute) },
			rules.StateRescheduled, noon.Start,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.PatchEvent("gm", eventID, weekly)
			w.Run(time.Minute)
			shows(t, w, pollID, rules.RecurringUnsupported, rules.StateOK)
			c.act(w, eventID)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			same(t, "journal of the series", w.Decisions(pollID), []string{"finalise", "warn"})
			equal(t, "notices of ana", len(w.Notices("ana")), 0)

			w.PatchEvent("gm", eventID, map[string]any{"recurrence": nil})
			w.Run(time.Minute)
			stands(t, w, pollID, c.state, c.start)
			shows(t, w, pollID, "", c.state)
			atRest(t, w)
		})
	}
	t.Run("or is deleted", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Options{})
		pollID, _, eventID := w.Finalised()
		w.PatchEvent("gm", eventID, weekly)
		w.Run(time.Minute)
		w.DeleteEvent("gm", eventID)
		w.Run(time.Minute)
		equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
		equal(t, "error", w.View(pollID).Poll.Sync.Error == nil, true)
		atRest(t, w)
	})
}

// A session that is over for a day is left as it was, whatever becomes of its
// event; after a month its event is followed no more.
func TestASessionThatIsOver_IsLeftAsItWas(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *worldtest.World, eventID string){
		"its event is moved":   func(w *worldtest.World, eventID string) { w.MoveEvent("gm", eventID, eight) },
		"its event is deleted": func(w *worldtest.World, eventID string) { w.DeleteEvent("gm", eventID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.Skip(ten.End.AddDate(0, 0, 2).Sub(w.Clock.Now()))
			act(w, eventID)
			w.Sweep()
			w.Run(time.Minute)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			same(t, "journal", w.Decisions(pollID), []string{"finalise", "record"})
			equal(t, "notices of ana", len(w.Notices("ana")), 0)
			equal(t, "index entries", len(w.Index()), 1)
			atRest(t, w)
		})
	}
	t.Run("after a month its event is followed no more", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Options{})
		pollID, _, eventID := w.Finalised()
		for w.Clock.Now().Before(ten.End.AddDate(0, 0, 30)) {
			equal(t, "index entries", len(w.Index()), 1)
			w.Skip(24 * time.Hour)
			w.Sweep()
			w.Run(time.Minute)
		}
		equal(t, "index entries in the end", len(w.Index()), 0)
		equal(t, "event of the poll", w.View(pollID).Poll.GoogleEventID, eventID)
		equal(t, "interests", w.Calendar("gm").Interests[poll.ConsumerPoll], 0)
		stands(t, w, pollID, rules.StateOK, ten.Start)
		same(t, "journal", w.Decisions(pollID), []string{"finalise"})
	})
}

// A poll that was linked before this backend names an event whose id Google
// made, in the "primary" calendar.
func TestAPollLinkedBefore_IsAdoptedAndFollowed(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]worldtest.Slot{"where its slot is": ten, "where it has drifted to": noon} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, slots := w.Poll()
			event := w.InsertEvent("gm", timed(at))
			w.Write(poll.Path(pollID), poll.Set("status", "FINALIZED"), poll.Set("winningSlotId", slots[0]),
				poll.Set("googleEventId", event.ID), poll.Set("googleCalendarId", "primary"))
			w.Sweep()
			w.Run(time.Minute)
			p := w.View(pollID).Poll
			equal(t, "state", p.Sync.State, rules.StateOK)
			equal(t, "baseline", p.Sync.Baseline, rules.Timed(at.Start, at.End))
			equal(t, "calendar", p.GoogleCalendarID, "gm@example.com")
			equal(t, "winning slot", p.WinningSlotID, slots[0])
			equal(t, "notices of ana", len(w.Notices("ana")), 0)
			same(t, "ids by Google", w.Calendar("gm").LegacyEventIDs, []string{event.ID})

			w.MoveEvent("gm", event.ID, three)
			w.LosePushes() // it is watched from the next sweep on
			w.Sweep()
			w.Run(time.Minute)
			stands(t, w, pollID, rules.StateRescheduled, three.Start)
			w.MoveEvent("gm", event.ID, at)
			w.Run(time.Minute)
			equal(t, "winning slot after it moved back", w.View(pollID).Poll.WinningSlotID, slots[0])
			w.DeleteEvent("gm", event.ID)
			w.Run(time.Minute)
			equal(t, "status after the deletion", w.View(pollID).Poll.Status, rules.Cancelled)
			same(t, "ids by Google while it may come back", w.Calendar("gm").LegacyEventIDs, []string{event.ID})
			if _, err := w.Cancel(pollID); err != nil {
				t.Fatal(err)
			}
			same(t, "ids by Google after a person's cancel", w.Calendar("gm").LegacyEventIDs, []string{})
			atRest(t, w)
		})
	}
}

// What makes a stored sync token worth nothing, beside its expiry.
func TestSync_WithAnInvalidToken_ListsEverything(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w *worldtest.World){
		"got with other fields": func(w *worldtest.World) {
			w.Write(calendars.Path(w.CalendarKey("gm")), store.Update{Path: store.Field("maskVersion"), Value: int64(0)})
		},
		"rejected as no token": func(w *worldtest.World) {
			if err := w.Google.RejectSyncTokens(); err != nil {
				t.Error(err)
			}
		},
		"refused as too long ago": func(w *worldtest.World) { w.Refuse("events.list", 410, "updatedMinTooLongAgo", 1) },
		"refused for another calendar's access list": func(w *worldtest.World) {
			if err := w.Google.Share("gm@example.com", "ben", worldtest.Reader); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			gone, _, eventID := w.Finalised()
			w.DeleteEvent("gm", eventID)
			w.LosePushes()
			spoil(w)
			w.Sweep()
			w.Run(time.Minute)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			equal(t, "status of the one that was deleted", w.View(gone).Poll.Status, rules.Cancelled)
			same(t, "its journal", w.Decisions(gone), []string{"finalise", "cancel"})
			atRest(t, w)
		})
	}
}

// shows fails where a poll shows another error, or stands in another state.
func shows(t *testing.T, w *worldtest.World, pollID string, code rules.ErrorCode, state rules.State) {
	t.Helper()
	p := w.View(pollID).Poll
	got := rules.ErrorCode("")
	if p.Sync.Error != nil {
		got = p.Sync.Error.Code
	}
	if got != code || p.Sync.State != state || p.Status != rules.Finalized {
		t.Errorf("the poll is %s %q and shows %q, want FINALIZED %q and %q", p.Status, p.Sync.State, got, state, code)
	}
}

// What Google need not say of an event: when it was changed, and where its clock
// stands.
func TestMovedEvent_WithoutUpdatedOrOffset_IsFollowed(t *testing.T) {
	t.Parallel()
	// The calendar is in Berlin, an hour ahead of UTC.
	const floating = `"start": {"dateTime": "2026-03-10T13:00:00"}, "end": {"dateTime": "2026-03-10T14:00:00"}`
	for name, fields := range map[string]string{
		"without updated":      `{"updated": null}`,
		"without offset":       `{` + floating + `}`,
		"without any of these": `{"updated": null, ` + floating + `}`,
	} {
		for _, alone := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, asked for alone: %t", name, alone), func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				pollID, _, eventID := w.Finalised()
				if alone { // the listing that showed the move could not be read
					w.Malform("gm", eventID, wrongFields["recurrence"])
					w.MoveEvent("gm", eventID, noon)
					w.Run(time.Minute)
				}
				w.Malform("gm", eventID, fields)
				if alone {
					w.Sweep()
				} else {
					w.MoveEvent("gm", eventID, noon)
				}
				w.Run(time.Minute)
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
				w.Heal()
				w.MoveEvent("gm", eventID, ten)
				w.Run(time.Minute)
				w.Sweep()
				w.Run(time.Minute)
				stands(t, w, pollID, rules.StateOK, ten.Start)
				atRest(t, w)
			})
		}
	}
}
