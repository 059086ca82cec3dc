package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

func appDeletes(t *testing.T, w *worldtest.World, pollID string) bool {
	t.Helper()
	deleted, err := w.Scheduler.DeleteEvent(w.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	return deleted
}

// Each row is how a poll's event stands when the app asks to delete it, and gives the event that goes.
func TestDeleteEvent_TheEventGoes_AndThePollStays(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *worldtest.World, s fixture) (event string){
		"as it was made": func(_ *worldtest.World, s fixture) string { return s.event },
		"moved": func(w *worldtest.World, s fixture) string {
			w.MoveEvent("gm", s.event, worldtest.Three)
			w.Run(time.Minute)
			return s.event
		},
		"another one that the app gave it, and nobody synced": func(w *worldtest.World, s fixture) string {
			w.Released(s.event)
			made := w.InsertEvent("gm", map[string]any{
				"summary": "By the app", "start": map[string]any{"dateTime": "2026-03-10T10:00:00Z"},
				"end": map[string]any{"dateTime": "2026-03-10T11:00:00Z"},
			})
			w.Edit(poll.Path(s.poll), poll.Set("googleEventId", made.ID))
			return made.ID
		},
		"deleted there already, and nobody knows": func(w *worldtest.World, s fixture) string {
			w.LosePushes()
			w.DeleteEvent("gm", s.event)
			return s.event
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			event := prepare(w, s)
			equal(t, "deleted", appDeletes(t, w, s.poll), true)
			w.Run(time.Minute)
			view := w.View(s.poll)
			equal(t, "the event lives", w.EventOf("gm", event).Live(), false)
			equal(t, "status", view.Poll.Status, rules.Finalized)
			equal(t, "state", view.Poll.Sync.State, rules.StateNone)
			equal(t, "event", view.Poll.GoogleEventID, "")
			equal(t, "calendar is kept", view.Poll.GoogleCalendarID != "", true)
			equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[0])
			equal(t, "slots", len(view.Slots), len(s.slots))
			equal(t, "index entries", len(w.Index()), 0)
			equal(t, "deleted again", appDeletes(t, w, s.poll), false)
			atRest(t, w)
		})
	}
}

func TestDeleteEvent_WhereThereIsNone_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	before := w.Document(poll.Path(s.poll)).Data["updatedAt"]
	equal(t, "deleted", appDeletes(t, w, s.poll), false)
	equal(t, "updated", w.Document(poll.Path(s.poll)).Data["updatedAt"], before)
	equal(t, "entries", len(w.Journal(s.poll)), 0)
}

func TestDeleteEvent_DuringAFinalisation_TakesItBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer = true })
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.Unavailable)
	equal(t, "deleted", appDeletes(t, w, s.poll), false)
	w.Heal()
	atRest(t, w)
	for _, event := range w.Events("gm") {
		equal(t, "an event lives", event.Live(), false)
	}
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Open)
}

func TestDeleteEvent_OtherPersonOrNoAccount_IsRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	_, err := w.Scheduler.DeleteEvent(w.Context(), worldtest.Person("ana"), s.poll, worldtest.Cause)
	kind(t, err, fault.Forbidden)
	_, err = w.Scheduler.DeleteEvent(w.Context(), worldtest.Person("gm"), "no-such-poll", worldtest.Cause)
	kind(t, err, fault.NotFound)
	w.Revoke("gm")
	w.MoveEvent("gm", s.event, worldtest.Three)
	w.Run(10 * time.Minute)
	_, err = w.Scheduler.DeleteEvent(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
	kind(t, err, fault.Revoked)
	equal(t, "event", w.View(s.poll).Poll.GoogleEventID, s.event)
}

// A finalisation under way is taken back; what is left of an earlier move is no
// matter of it, and the journal says so.
func TestDeleteEvent_FinalisingACancelledMovedPoll_TakesThatBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.MoveEvent("gm", s.event, worldtest.Three)
	w.Run(time.Minute)
	if _, err := w.Cancel(s.poll); err != nil {
		t.Fatal(err)
	}
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.Unavailable)
	equal(t, "deleted", appDeletes(t, w, s.poll), false)
	w.Run(30 * time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}
