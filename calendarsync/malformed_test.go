package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// wrongFields are fields of the wrong JSON type, each of which used to fail the
// page that it stands on.
var wrongFields = map[string]string{
	"recurrence": `{"recurrence": "RRULE:FREQ=WEEKLY"}`,
	"start":      `{"start": "2026-03-10T12:00:00Z"}`,
	"end":        `{"end": ["2026-03-10T12:00:00Z"]}`,
	"dateTime":   `{"start": {"dateTime": 1773144000}}`,
	"updated":    `{"updated": 1773144000}`,
	"etag":       `{"etag": {}}`,
	"id":         `{"id": 7}`,
}

// One event that cannot be read is deferred alone: the others of its page are
// applied, its own poll says so, and follows it again once it can be read, also
// where nothing changed in the event itself.
func TestMalformedEvent_OnAPage_IsDeferredAlone(t *testing.T) {
	t.Parallel()
	for name, fields := range wrongFields {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{PageSize: 10})
			pollID, _, eventID := w.Finalised()
			other, _, otherEvent := w.Finalised()
			w.Run(time.Minute)
			token := w.Calendar("gm").SyncToken

			w.Malform("gm", eventID, fields)
			w.MoveEvent("gm", eventID, noon)
			w.MoveEvent("gm", otherEvent, three)
			w.Run(time.Minute)
			stands(t, w, other, rules.StateRescheduled, three.Start)
			shows(t, w, pollID, rules.UnreadableEvent, rules.StateOK)
			calendar := w.Calendar("gm")
			equal(t, "the token moved on", calendar.SyncToken != token, true)
			equal(t, "the calendar's error", calendar.LastError, "")
			equal(t, "why the event is asked for", calendar.Deferred(eventID).Why, calendars.DeferredFailed)

			w.Sweep() // it cannot be fetched individually either
			w.Run(time.Minute)
			shows(t, w, pollID, rules.UnreadableEvent, rules.StateOK)
			same(t, "journal in the meantime", w.Decisions(pollID), []string{"finalise", "warn"})

			w.Heal()
			w.Sweep()
			w.Run(time.Minute)
			shows(t, w, pollID, "", rules.StateRescheduled)
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			equal(t, "deferred events", len(w.Calendar("gm").DeferredEvents()), 0)
			atRest(t, w)
		})
	}
}

// What is deleted is gone, whatever else its event says.
func TestMalformedEvent_ThatIsDeleted_Cancels(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.Malform("gm", eventID, wrongFields["start"])
	w.DeleteEvent("gm", eventID)
	w.Run(time.Minute)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

// A full listing that shows it malformed has shown it: nothing is cancelled.
func TestMalformedEvent_InFullListing_CancelsNothing(t *testing.T) {
	t.Parallel()
	for name, fields := range wrongFields {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.Run(time.Minute)
			w.Malform("gm", eventID, fields)
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.Sweep()
			w.Run(5 * time.Minute)
			shows(t, w, pollID, rules.UnreadableEvent, rules.StateOK)
			w.MoveEvent("gm", eventID, noon)
			w.Heal()
			w.Run(time.Minute)
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			atRest(t, w)
		})
	}
}

// Where the answer of an insert is lost, its event is found by its id. Marks that
// cannot be read do not make it somebody else's: then it is left open whose it is.
func TestMalformedEvent_InsertAnswerLost_EndsInOneEvent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		status rules.Status // while it is malformed
	}{
		"with marks":    {wrongFields["start"], rules.Finalized},
		"without marks": {`{"extendedProperties": {"private": ["poll"]}}`, rules.Open},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, slots := w.Poll()
			w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
			if _, err := w.Finalise(pollID, slots[0]); err == nil {
				t.Fatal("the answer was not lost")
			}
			eventID := w.Events("gm")[0].ID
			w.Malform("gm", eventID, c.fields)
			w.Run(5 * time.Minute)
			equal(t, "status", w.View(pollID).Poll.Status, c.status)
			w.Heal()
			w.Sweep()
			w.Run(5 * time.Minute)
			equal(t, "its event", w.View(pollID).Poll.GoogleEventID, eventID)
			shows(t, w, pollID, "", rules.StateOK)
			equal(t, "events", len(w.Events("gm")), 1)
			atRest(t, w)
		})
	}
}

// An event that was moved to another calendar and cannot be identified there is not
// treated as deleted.
func TestMovedEvent_MalformedThere_IsNotGone(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{
		"organizer": `{"organizer": "club"}`,
		"marks":     `{"extendedProperties": {"private": ["poll"]}}`,
		"start":     wrongFields["start"],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.Run(time.Minute)
			w.MoveAway("gm", eventID, worldtest.Club)
			w.Malform(worldtest.Club, eventID, fields)
			w.Run(5 * time.Minute)
			equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
			w.Heal()
			w.MoveEvent(worldtest.Club, eventID, noon)
			w.Sweep()
			w.Run(5 * time.Minute)
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, worldtest.ClubCalendar)
			atRest(t, w)
		})
	}
}
