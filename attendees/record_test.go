package attendees_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees"
)

// What became of an address in the series once an occurrence is known says nothing about it.
func TestInherits_OfAnOccurrence_IsWhatItBeganWith(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	series := attendees.EventRecord{Entries: map[string]attendees.Entry{
		"adding": {State: attendees.Adding}, "before": {State: attendees.Removed, At: since.Add(-1)},
		"kept": {State: attendees.Theirs, At: since.Add(-1)},
		"then": {State: attendees.Added, At: since}, "later": {State: attendees.Theirs, At: since.Add(1)},
	}}
	kept := map[string]attendees.Entry{"kept": {State: attendees.Added, At: since}, "gone": {State: attendees.Theirs}}
	for _, row := range []struct {
		event  attendees.EventRecord
		series attendees.EventRecord
		want   string
	}{
		{attendees.EventRecord{}, series, "adding before kept later then"},
		{attendees.EventRecord{Since: since}, series, "before kept"},
		{attendees.EventRecord{Since: since, Inherited: kept}, series, "before gone kept"},
		{attendees.EventRecord{Since: since, Inherited: kept}, attendees.EventRecord{}, "gone kept"},
	} {
		got := row.event.Inherits(row.series)
		if names := strings.Join(slices.Sorted(maps.Keys(got)), " "); names != row.want {
			t.Errorf("%+v: %s", row, names)
		}
		if of, has := row.event.Inherited["kept"]; has && got["kept"] != of {
			t.Errorf("%+v: %+v", row, got)
		}
	}
	if len(series.Entries) != 5 {
		t.Errorf("the series changed: %+v", series)
	}
}
