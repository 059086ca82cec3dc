package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// A deletion that is shown to a mere reader proves nothing. The poll stays, says
// that it could not be synced, and goes by what the calendar says once we may
// write there again.
func TestDeletion_ShownToReader_ShowsSyncFailed(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"deleted": false, "and brought back": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, slots := w.Poll()
			view, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar})
			if err != nil {
				t.Fatal(err)
			}
			eventID := view.Poll.GoogleEventID
			w.Run(time.Minute)
			w.ShareClub(worldtest.Reader)
			w.Sweep() // everything is listed again, and the event is there
			w.Run(5 * time.Minute)
			shows(t, w, pollID, "", rules.StateOK)

			w.DeleteEvent(worldtest.Club, eventID)
			w.Run(5 * time.Minute)
			w.Sweep()
			w.Run(5 * time.Minute)
			shows(t, w, pollID, rules.SyncFailed, rules.StateError)

			if back {
				w.UndeleteEvent(worldtest.Club, eventID)
			}
			w.ShareClub(worldtest.Owner)
			w.Sweep()
			w.Run(5 * time.Minute)
			if back {
				shows(t, w, pollID, "", rules.StateOK)
			} else {
				equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
			}
			atRest(t, w)
		})
	}
}
