package mirror_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

var day = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// stored is a store with some events.
func stored(t *testing.T, events ...mirror.Event) store.Store {
	t.Helper()
	documents, err := memorystore.Open(mirror.Queries)
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, e := range events {
			if err := tx.Create(mirror.EventPath(e.ID), mirror.EncodeEvent(e)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

func event(id string, from, until time.Duration, rules ...string) mirror.Event {
	return mirror.Event{ID: id, OwnerID: "gm", From: day.Add(from), Until: day.Add(until), Recurrence: rules}
}

func TestOverlapsOfPeople_LongShortAndEndless_FindsEachOnce(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	endless := event("evt_endless", -900*hour, 0, "RRULE:FREQ=DAILY")
	endless.Until = mirror.Endless()
	other := event("evt_other", 9*hour, 10*hour)
	other.OwnerID = "ana"
	moved := event("evt_moved", 200*hour, 201*hour)
	moved.OriginalStart = recurrence.Moment{Time: day.Add(9 * hour)}
	documents := stored(t, endless, other, moved,
		event("evt_past", -30*hour, -26*hour), event("evt_touches", -26*hour, -24*hour), event("evt_day_before", -2*hour, -hour),
		event("evt_into", -hour, hour), event("evt_night", -24*hour, hour), event("evt_inside", 9*hour, 10*hour),
		event("evt_day_after", 47*hour, 49*hour), event("evt_after", 48*hour, 49*hour), event("evt_week", -72*hour, 72*hour),
		event("evt_over", -72*hour, -26*hour), event("evt_later", 49*hour, 480*hour),
		event("evt_ended", -900*hour, -26*hour, "RRULE:FREQ=DAILY;COUNT=2"))
	want := []string{"evt_day_after", "evt_day_before", "evt_endless", "evt_inside", "evt_into", "evt_moved", "evt_night", "evt_week"}
	found, err := mirror.OverlapsOfPeople(t.Context(), documents, []string{"gm"}, day, day.Add(24*hour))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range found {
		got = append(got, e.ID)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEndingAfter_InPages_FindsEachOnce(t *testing.T) {
	t.Parallel()
	var events []mirror.Event
	for i := range 7 {
		events = append(events, event(fmt.Sprint("evt_", i), 0, time.Duration(i/3)*time.Hour))
	}
	documents := stored(t, events...)
	var got []string
	for at, pages := "", 0; pages == 0 || at != ""; pages++ {
		page, next, err := mirror.EndingAfter(t.Context(), documents, "gm", mirror.Ending{After: day.Add(-1), Limit: 2, At: at})
		if err != nil || pages > 4 {
			t.Fatalf("page %d: %v", pages, err)
		}
		for _, e := range page {
			got = append(got, e.ID)
		}
		at = next
	}
	if want := []string{"evt_0", "evt_1", "evt_2", "evt_3", "evt_4", "evt_5", "evt_6"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestOfOrigin_OtherCalendarOrAccount_IsAnotherEvent(t *testing.T) {
	t.Parallel()
	e := event("evt_1", 0, 1)
	e.AccountID, e.CalendarID, e.EventID = "acc", "cal", "e"
	group := event("evt_2", 0, 1)
	documents := stored(t, e, group)
	for _, row := range []struct {
		account, calendar, event string
		want                     bool
	}{{"acc", "cal", "e", true}, {"acc2", "cal", "e", false}, {"acc", "cal2", "e", false}, {"acc", "cal", "e2", false}} {
		found, ok, err := mirror.OfOrigin(t.Context(), documents, row.account, row.calendar, row.event)
		if err != nil || ok != row.want || ok && found.ID != e.ID {
			t.Errorf("%+v: %v, %t, %v", row, found.ID, ok, err)
		}
	}
}

func TestOfGroupsUID_OfManyGroups_FindsAll(t *testing.T) {
	t.Parallel()
	var events []mirror.Event
	var groups []string
	for i := range 65 {
		e := event(fmt.Sprintf("evt_%02d", i), 0, 1)
		e.GroupID, e.ICalUID = fmt.Sprint("group-", i), "uid"
		events, groups = append(events, e), append(groups, e.GroupID)
	}
	found, err := mirror.OfGroupsUID(t.Context(), stored(t, events...), groups[1:], "uid")
	if err != nil || len(found) != 64 {
		t.Errorf("%d found: %v", len(found), err)
	}
}
