package attendees

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// At Google a group may have any number of people, and one document has 1 MiB.
func TestCompare_OfMoreCalendarsThanARecordNames_LeavesThemOut(t *testing.T) {
	t.Parallel()
	ends := now.Add(200 * day)
	inCalendar := func(key string, organized bool, guests ...string) shownEvent {
		event := gcal.Event{ID: "ev", ETag: "tag", Organizer: ana, Updated: now, EventState: rules.Present, Details: &gcal.Details{
			ICalUID: "ev@google.com", Organized: organized, GuestsMayEdit: !organized,
			Start: recurrence.Moment{Time: ends.Add(-time.Hour)}, End: recurrence.Moment{Time: ends},
		}}
		for _, address := range guests {
			event.Details.Guests = append(event.Details.Guests, gcal.Guest{Address: address, Response: "needsAction"})
		}
		return show(key, "acc_"+key, key+"@first.example", event)
	}
	full := EventRecord{
		ID: "att_1", ICalUID: "ev@google.com", Version: 7, EndsAt: ends, Copies: map[string]Copy{}, UpdatedAt: before,
		Entries: map[string]Entry{ben2: {State: Added, Primary: ben, At: before, Copy: "k0"}},
	}
	for i := range mostCopies {
		shown := inCalendar(fmt.Sprint("k", i), false)
		full.Copies[shown.key] = shown.copied
	}
	due := full
	due.Due = now.Add(day)
	moved := inCalendar("k7", false, ben, ben2)
	moved.copied.EventID = "ev2"
	for name, row := range map[string]struct {
		was          EventRecord
		shown        shownEvent
		changed, due bool
		copies       int
	}{
		"as it should be":               {full, inCalendar("one more", false, ben, ben2), false, false, mostCopies},
		"calling for a change":          {full, inCalendar("one more", false, ben2), true, true, mostCopies},
		"calling for one while another": {due, inCalendar("one more", false, ben2), false, true, mostCopies},
		"the organizer's":               {full, inCalendar("one more", true, ben2), true, true, mostCopies + 1},
		"a known one":                   {full, inCalendar("k7", false, ben2), true, true, mostCopies},
		"a known one's event":           {full, moved, true, false, mostCopies},
	} {
		next, changed := compare(row.was, EventRecord{}, row.shown, people, now)
		if changed != row.changed || next.Due.IsZero() == row.due || len(next.Copies) != row.copies || next.Due.Equal(now) && next.Version != 8 {
			t.Errorf("%s: changed %t, due %v, version %d, with %d calendars", name, changed, next.Due, next.Version, len(next.Copies))
		}
	}
}
