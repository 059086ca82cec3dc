package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// A poll is finalised into a calendar where the deletion of its event is
// believed, and into no other.
func TestFinalise_ByAccessRole_FollowsOrRefuses(t *testing.T) {
	t.Parallel()
	for role, follows := range map[worldtest.Role]bool{
		"freeBusyReader": false, worldtest.Reader: false,
		worldtest.WriterWithoutPrivateAccess: true, worldtest.Writer: true, worldtest.Owner: true,
	} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			w.ShareClub(role)
			inserts := w.Calls("events.insert")
			view, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar})
			if !follows {
				kind(t, err, fault.Forbidden)
				equal(t, "code", fault.CodeOf(err), scheduler.CodeCalendarReadOnly)
				equal(t, "events asked for", w.Calls("events.insert")-inserts, 0)
				equal(t, "intents", len(w.Intents()), 0)
				equal(t, "status", w.View(s.poll).Poll.Status, rules.Open)
				atRest(t, w)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			w.MoveEvent(worldtest.Club, view.Poll.GoogleEventID, worldtest.Noon)
			w.Run(time.Minute)
			equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
			w.PatchEvent(worldtest.Club, view.Poll.GoogleEventID, map[string]any{"visibility": "private"})
			w.Run(time.Minute)
			equal(t, "status with a private event", w.View(s.poll).Poll.Status, rules.Finalized)
			equal(t, "state with a private event", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
			w.DeleteEvent(worldtest.Club, view.Poll.GoogleEventID)
			w.Run(time.Minute)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
			atRest(t, w)
		})
	}
}

// Where the role cannot be asked for, the insert says what is wrong.
func TestFinalise_AccessRoleUnknown_GoesOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Refuse("events.list", 503, "backendError", 1)
	if _, err := w.Finalise(s.poll, s.slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	equal(t, "events", len(w.Events("gm")), 1)
	atRest(t, w)
}
