package worldtest_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/internal/test/worldtest"
)

// row maps a person's primary address to the second addresses of others.
func row(person string, others ...string) worldtest.SheetRow {
	mapped := worldtest.SheetRow{Primary: person + "@one.example"}
	for _, other := range others {
		mapped.Seconds = append(mapped.Seconds, other+"@two.example")
	}
	mapped.Cells = []string{mapped.Primary, strings.Join(mapped.Seconds, ", "), "active"}
	return mapped
}

// load has the mappings be those of some rows.
func load(t *testing.T, w *worldtest.World, rows ...worldtest.SheetRow) {
	t.Helper()
	reload(t, w, rows...)
	w.Run(10 * time.Minute)
}

// reload is load before anything of it is carried out.
func reload(t *testing.T, w *worldtest.World, rows ...worldtest.SheetRow) {
	t.Helper()
	w.Sheet.Rows = rows
	if err := w.ReloadMappings(""); err != nil {
		t.Fatal(err)
	}
	if problems := w.AfterReload(""); len(problems) > 0 {
		t.Fatal(problems)
	}
}

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
			load(t, w, row("pia", "pia"), row("pola", "pola"))
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

// What an occurrence lacked while the program had added it to the series counts as removed by
// a person from then on, also once the program withdrew it from the series.
func TestAttendees_WithdrawnFromASeries_StayOutOfAnOccurrence(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Attended: true})
	load(t, w, row("pia", "paul", "pia"), row("paul", "paul"), row("pola", "pola"))
	series := w.Gather("pia", map[string]any{
		"attendees": []any{map[string]any{"email": "pia@one.example"}}, "recurrence": []any{"RRULE:FREQ=DAILY;COUNT=3"},
		"start": map[string]any{"dateTime": "2026-03-11T09:00:00Z", "timeZone": "UTC"},
		"end":   map[string]any{"dateTime": "2026-03-11T10:00:00Z", "timeZone": "UTC"},
	})
	changed := w.OccurrencesOfSeries(series)[1]
	w.Uninvite("pia", changed, "pia@one.example")
	w.Run(10 * time.Minute)
	w.Invite("pia", changed, worldtest.Guest{"email": "paul@one.example"})
	w.Run(10 * time.Minute)
	load(t, w, row("pia", "pia"), row("paul", "paul"), row("pola", "pola"))
	if w.GatheringOf("pia", series.ID).Guest("paul@two.example") != nil || w.GatheringOf("pia", changed).Guest("paul@two.example") != nil {
		t.Error("the address is there")
	}
	if problems := w.AttendeeDisagreements(); len(problems) > 0 {
		t.Error(problems)
	}
}

// An occurrence that was changed before the program read it, while the program took an address out of
// its series, keeps the address: that it was the program's is not known, nor is its removal.
func TestAttendees_RemovedFromAnUnreadOccurrence_MayComeAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Attended: true})
	load(t, w, row("pia", "pia"), row("paul", "paul"), row("pola", "pola"))
	series := w.Gather("pia", map[string]any{
		"attendees": []any{map[string]any{"email": "pola@one.example"}}, "recurrence": []any{"RRULE:FREQ=DAILY;COUNT=3"},
		"start": map[string]any{"dateTime": "2026-03-11T09:00:00Z", "timeZone": "UTC"},
		"end":   map[string]any{"dateTime": "2026-03-11T10:00:00Z", "timeZone": "UTC"},
	})
	w.Run(10 * time.Minute)
	changed := w.OccurrencesOfSeries(series)[1]
	w.Invite("pia", changed, worldtest.Guest{"email": "paul@one.example"})
	reload(t, w, row("pia", "pia"), row("paul", "paul"), row("pola", "team"))
	for _, due := range w.Wakes.Due(w.Clock.Now()) {
		if due.Kind == attendees.Kind { // before the calendar is read
			w.RunTask(due.ID)
		}
	}
	w.Run(10 * time.Minute)
	if w.GatheringOf("pia", series.ID).Guest("pola@two.example") != nil || w.GatheringOf("pia", changed).Guest("pola@two.example") == nil {
		t.Fatal("the address was not taken out of the series alone")
	}
	w.Uninvite("pia", changed, "pola@two.example")
	w.Run(10 * time.Minute)
	load(t, w, row("pia", "pia"), row("paul", "pola"), row("pola", "team"))
	if w.GatheringOf("pia", changed).Guest("pola@two.example") == nil {
		t.Error("the address is not there")
	}
	if problems := append(w.Problems(), w.AttendeeDisagreements()...); len(problems) > 0 {
		t.Error(problems)
	}
}
