package worldtest_test

import (
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
)

// No change of guests counts as another write to an event, for any organizer of the event
// and any answer of Google's.
func TestGuestCalls_OfAnyOrganizer_AreAllCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		organizer string
		refusals  int
		patches   int
	}{
		"a primary address":  {"pia", 0, 1},
		"a second address":   {"pia2", 0, 0},
		"Google refuses one": {"pia", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Attended: true})
			for _, person := range []string{"pia", "pola"} {
				primary, second := person+"@one.example", person+"@two.example"
				w.Sheet.Rows = append(w.Sheet.Rows, worldtest.SheetRow{
					Cells: []string{primary, second, "active"}, Primary: primary, Seconds: []string{second},
				})
			}
			if err := w.ReloadMappings(""); err != nil {
				t.Fatal(err)
			}
			if c.refusals > 0 {
				w.Refuse("events.patch", 503, "backendError", c.refusals)
			}
			event := w.Gather(c.organizer, map[string]any{
				"guestsCanModify": true, "attendees": []any{map[string]any{"email": "pola@one.example"}},
				"start": map[string]any{"dateTime": "2026-03-11T09:00:00Z"},
				"end":   map[string]any{"dateTime": "2026-03-11T10:00:00Z"},
			})
			w.Run(10 * time.Minute)
			if w.GatheringOf(c.organizer, event.ID).Guest("pola@two.example") == nil {
				t.Fatal("nobody was added")
			}
			if calls := w.Calls("events.patch"); w.GuestCalls() != calls || calls != 1+c.refusals {
				t.Errorf("counted %d of %d calls, of which %d were refused", w.GuestCalls(), calls, c.refusals)
			}
			if w.GuestPatches() != c.patches {
				t.Errorf("counted %d changes, want %d", w.GuestPatches(), c.patches)
			}
		})
	}
}
