package gcal_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// weekly is a series of five Sundays at 13:00 in Zurich, over the change of the clocks on
// 29 March, without its second.
func weekly() gcal.Content {
	series := evening()
	series.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=6", "EXDATE;TZID=Europe/Zurich:20260308T130000"}
	return series
}

func (w *world) instance(t *testing.T, series string, original recurrence.Moment) gcal.Event {
	t.Helper()
	event, err := w.client.Instance(t.Context(), mine, series, original)
	if err != nil {
		t.Fatalf("instance at %+v: %v", original, err)
	}
	return event
}

func at(month time.Month, day, hour int) recurrence.Moment {
	return recurrence.Moment{Time: time.Date(2026, month, day, hour, 0, 0, 0, time.UTC), Zone: "Europe/Zurich"}
}

func TestInstance_IsFoundByOriginalStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insertContent(t, "series", weekly())
	daily := days()
	daily.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=5"}
	w.insertContent(t, "entire", daily) // over the change of the clocks
	for name, row := range map[string]struct {
		series   string
		original recurrence.Moment
		content  gcal.Content
	}{
		"before the change of the clocks": {"series", at(time.March, 15, 12), evening()},
		"after it":                        {"series", at(time.March, 29, 11), evening()},
		"in UTC":                          {"series", recurrence.Moment{Time: at(time.April, 5, 11).Time}, evening()},
		"an all-day one":                  {"entire", recurrence.Moment{Date: "2026-03-28"}, days()},
		"an all-day one in summer":        {"entire", recurrence.Moment{Date: "2026-04-04"}, days()},
	} {
		got := w.instance(t, row.series, row.original)
		d := got.Details
		if got.InstanceOf != row.series || got.EventState != rules.Present || d.Original.Date != row.original.Date ||
			!d.Original.Time.Equal(row.original.Time) || d.Start != d.Original || len(d.Recurrence) > 0 || d.Summary != row.content.Summary {
			t.Errorf("%s: %+v, %+v", name, got, d)
		}
	}
	for name, row := range map[string]struct {
		series   string
		original recurrence.Moment
	}{
		"excluded": {"series", at(time.March, 8, 12)}, "at another hour": {"series", at(time.March, 29, 12)},
		"a day of a timed one": {"series", recurrence.Moment{Date: "2026-03-15"}}, "behind the end": {"series", at(time.June, 7, 11)},
		"a time of an all-day one": {"entire", at(time.March, 6, 23)}, "of no series": {"nothing", at(time.March, 15, 12)},
	} {
		if got, err := w.client.Instance(t.Context(), mine, row.series, row.original); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestInstance_Patched_IsAnExceptionThatIsFoundWhereItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insertContent(t, "series", weekly())
	_, token := listWide(t, w, "")
	original := at(time.March, 29, 11)
	moved := evening()
	moved.Start, moved.End = at(time.March, 30, 17), at(time.March, 30, 19)
	one := w.instance(t, "series", original)
	for _, content := range []gcal.Content{moved, days(), moved} { // to all-day and back
		var err error
		one, err = w.client.PatchContent(t.Context(), mine, one.ID, one.ETag, content)
		if err != nil {
			t.Fatal(err)
		}
		got := w.instance(t, "series", original)
		if got.ID != one.ID || got.ETag != one.ETag || !sameContent(shown(got), content) {
			t.Errorf("wrote %+v, found %+v", content, got.Details)
		}
	}
	changed, _ := listWide(t, w, token)
	if len(changed) != 1 || changed[0].ID != one.ID || changed[0].InstanceOf != "series" ||
		!changed[0].Details.Original.Time.Equal(original.Time) ||
		changed[0].Details.ICalUID != w.get(t, "series").Details.ICalUID {
		t.Errorf("listed as %+v", changed)
	}
}

func TestInstance_Cancelled_IsFoundAndComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insertContent(t, "series", weekly())
	original := at(time.March, 15, 12)
	one := w.instance(t, "series", original)
	if deleted, err := w.client.DeleteQuietly(t.Context(), mine, one.ID, one.ETag); err != nil || !deleted {
		t.Fatal(deleted, err)
	}
	gone := w.instance(t, "series", original)
	if gone.ID != one.ID || gone.EventState != rules.Gone || gone.InstanceOf != "series" || gone.Details.Status != "cancelled" {
		t.Errorf("cancelled: %+v, %+v", gone, gone.Details)
	}
	whole, _ := listWide(t, w, "")
	if len(whole) != 2 || whole[1].ID != one.ID || whole[1].EventState != rules.Gone || !whole[1].Details.Original.Time.Equal(original.Time) {
		t.Errorf("a full listing shows %+v", whole)
	}
	if _, err := w.client.PatchContent(t.Context(), mine, one.ID, gone.ETag, evening()); err != nil {
		t.Fatal(err)
	}
	if back := w.instance(t, "series", original); back.EventState != rules.Present || back.InstanceOf != "series" ||
		!sameContent(shown(back), evening()) {
		t.Errorf("back: %+v", back.Details)
	}
}

// A server that answers something else than the instance asked for finds none.
func TestInstance_OfAnotherStart_IsNotIt(t *testing.T) {
	t.Parallel()
	other := `{"id":"series_1","recurringEventId":"series","start":{"date":"2026-03-02"},"end":{"date":"2026-03-03"},"originalStartTime":{"date":"2026-03-02"}}`
	for items, kind := range map[string]fault.Kind{
		``: fault.NotFound, other: fault.NotFound, `null,` + other: fault.NotFound, `7`: fault.Unavailable,
	} {
		_, err := answering(t, items).Instance(t.Context(), mine, "series", recurrence.Moment{Date: "2026-03-01"})
		if !fault.Is(err, kind) {
			t.Errorf("%q: %v", items, err)
		}
	}
}

// listWide reads every page with details.
func listWide(t *testing.T, w *world, token string) (events []gcal.Event, next string) {
	t.Helper()
	for pageToken := ""; ; {
		page, err := w.client.List(t.Context(), mine, gcal.WithDetails, token, pageToken)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		events = append(events, page.Events...)
		if page.NextPage == "" {
			return events, page.NextSync
		}
		pageToken = page.NextPage
	}
}

func TestInstance_FirstPageEmpty_ReadsOn(t *testing.T) {
	t.Parallel()
	original := recurrence.Moment{Date: "2026-03-28"}
	got, err := paged(t, `{"items":[{"id":"series_20260328","originalStartTime":{"date":"2026-03-28"}}]}`).
		Instance(t.Context(), mine, "series", original)
	if err != nil || got.ID != "series_20260328" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = paged(t, `{"items":[]}`).Instance(t.Context(), mine, "series", original)
	wantKind(t, err, fault.NotFound, "")
	_, err = paged(t, "").Instance(t.Context(), mine, "series", original) // for ever
	wantKind(t, err, fault.Unavailable, "")
}
