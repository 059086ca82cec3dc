package attendees_test

import (
	"iter"
	"slices"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/internal/store"
)

var day = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// filled are the stores with records of each kind.
func filled(t *testing.T) map[string]store.Store {
	t.Helper()
	with := func(state attendees.State, primary string) map[string]attendees.Entry {
		return map[string]attendees.Entry{"s." + primary: {State: state, Primary: primary}}
	}
	records := []attendees.EventRecord{
		{ID: "att_added", Entries: with(attendees.Added, "ana@first.example"), EndsAt: day},
		{ID: "att_adding", Entries: with(attendees.Adding, "ana@first.example"), Due: day.Add(2 * time.Hour), EndsAt: day.Add(time.Hour)},
		{ID: "att_both", Entries: map[string]attendees.Entry{
			"1@second.example": {State: attendees.Withdrawing, Primary: "ana@first.example"},
			"2@second.example": {State: attendees.Added, Primary: "ben@first.example"},
			"3@second.example": {State: attendees.Added, Primary: "ben@first.example"},
		}, Due: day.Add(time.Hour), Error: "The calendar refuses it.", Failures: 5},
		{ID: "att_declined", Entries: with(attendees.Declined, "ana@first.example"), EndsAt: day.Add(-time.Hour)},
		{ID: "att_removed", Entries: with(attendees.Removed, "ana@first.example"), Due: day.Add(3 * time.Hour), Failures: 1},
		{ID: "att_theirs", Entries: with(attendees.Theirs, "ana@first.example")},
	}
	all := stores(t)
	for _, documents := range all {
		run(t, documents, func(tx store.Tx) error {
			for _, e := range records {
				if err := tx.Create(attendees.EventPath(e.ID), attendees.EncodeEvent(e)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all
}

func ids(t *testing.T, found []attendees.EventRecord, err error) (all []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		all = append(all, e.ID)
	}
	return all
}

func collected(t *testing.T, all iter.Seq2[attendees.EventRecord, error]) []string {
	t.Helper()
	found, err := store.Collect(all)
	return ids(t, found, err)
}

func TestQueries_OfRecords_FindThem(t *testing.T) {
	t.Parallel()
	for name, documents := range filled(t) {
		due, err := attendees.SomeDue(t.Context(), documents, day.Add(4*time.Hour), 2)
		someDue := ids(t, due, err)
		failed, err := attendees.InError(t.Context(), documents, 10)
		inError := ids(t, failed, err)
		for _, row := range []struct {
			asked     string
			got, want []string
		}{
			{"due, longest first", collected(t, attendees.Due(t.Context(), documents, day.Add(2*time.Hour))), []string{"att_both", "att_adding"}},
			{"none is due", collected(t, attendees.Due(t.Context(), documents, day)), nil},
			{"two that are due", someDue, []string{"att_both", "att_adding"}},
			{
				"of a primary", collected(t, attendees.OfPrimary(t.Context(), documents, "ana@first.example")),
				[]string{"att_added", "att_adding", "att_both"},
			},
			{"of another", collected(t, attendees.OfPrimary(t.Context(), documents, "ben@first.example")), []string{"att_both"}},
			{"of a part of an address", collected(t, attendees.OfPrimary(t.Context(), documents, "ben")), nil},
			{"in error", inError, []string{"att_both"}},
		} {
			if !slices.Equal(row.got, row.want) {
				t.Errorf("%s: %s: %v, want %v", name, row.asked, row.got, row.want)
			}
		}
	}
}

func TestRemoveEnded_InPages_KeepsLaterAndUnknown(t *testing.T) {
	t.Parallel()
	for name, documents := range filled(t) {
		var removed []int
		for range 3 {
			count, _, err := attendees.RemoveEnded(t.Context(), documents, day.Add(time.Hour+attendees.Keep), 1)
			if err != nil {
				t.Fatal(err)
			}
			removed = append(removed, count)
		}
		if !slices.Equal(removed, []int{1, 1, 0}) {
			t.Errorf("%s: removed %v", name, removed)
		}
		for id, want := range map[string]bool{"att_added": false, "att_declined": false, "att_adding": true, "att_theirs": true} {
			if _, ok, err := attendees.Load(t.Context(), documents, id); err != nil || ok != want {
				t.Errorf("%s: %s is there: %t, %v", name, id, ok, err)
			}
		}
	}
}
