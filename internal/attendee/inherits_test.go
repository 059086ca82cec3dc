package attendee_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/attendee"
)

// What became of an address in the series once an occurrence is known says nothing about it.
func TestInherits_OfAnOccurrence_IsWhatItBeganWith(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	series := attendee.EventRecord{Entries: map[string]attendee.Entry{
		"adding": {State: attendee.Adding}, "before": {State: attendee.Removed, At: since.Add(-1)},
		"kept": {State: attendee.Theirs, At: since.Add(-1)},
		"then": {State: attendee.Added, At: since}, "later": {State: attendee.Theirs, At: since.Add(1)},
	}}
	kept := map[string]attendee.Entry{"kept": {State: attendee.Added, At: since}, "gone": {State: attendee.Theirs}}
	for _, row := range []struct {
		event  attendee.EventRecord
		series attendee.EventRecord
		want   string
	}{
		{attendee.EventRecord{}, series, "adding before kept later then"},
		{attendee.EventRecord{Since: since}, series, "before kept"},
		{attendee.EventRecord{Since: since, Inherited: kept}, series, "before gone kept"},
		{attendee.EventRecord{Since: since, Inherited: kept}, attendee.EventRecord{}, "gone kept"},
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
