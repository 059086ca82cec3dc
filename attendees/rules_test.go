package attendees

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/rules"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestFailure_OfEachKind_WaitsSoLong(t *testing.T) {
	t.Parallel()
	after := func(kind fault.Kind, wait time.Duration) error {
		return &fault.Error{Kind: kind, Message: "Why.", RetryAfter: wait}
	}
	for name, c := range map[string]struct {
		before   int64
		err      error
		failures int64
		wait     time.Duration
		shown    string
	}{
		"first":                    {0, after(fault.Provider, 0), 1, 5 * time.Second, ""},
		"third":                    {2, after(fault.Provider, 0), 3, 80 * time.Second, ""},
		"fifth":                    {4, after(fault.Provider, 0), 5, 24 * time.Hour, "Why."},
		"ninth":                    {8, after(fault.Revoked, 0), 9, 24 * time.Hour, "Why."},
		"asked to wait":            {0, after(fault.Unavailable, time.Minute), 1, time.Minute, ""},
		"no answer for long":       {4, after(fault.Unavailable, 0), 5, time.Hour, "Why."},
		"quota":                    {0, after(fault.RateLimited, 0), 0, time.Minute, ""},
		"quota, asked to wait":     {4, after(fault.RateLimited, time.Hour), 4, time.Hour, ""},
		"quota of the day is used": {1, after(fault.Exhausted, 3*time.Hour), 1, 3 * time.Hour, ""},
		"without a kind":           {4, errors.New("odd"), 5, 24 * time.Hour, "Google Calendar refused this."},
	} {
		got := afterFailure(EventRecord{Failures: c.before}, c.err, noon)
		if got.Failures != c.failures || got.Due.Sub(noon) != c.wait || got.Error != c.shown ||
			got.FailedSince.IsZero() != (got.Failures == c.before) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// How often an event was not found counts, and how long that waits, without what failed before.
func TestFailure_NotFound_IsCountedAnew(t *testing.T) {
	t.Parallel()
	notFound, refused := &fault.Error{Kind: fault.NotFound}, &fault.Error{Kind: fault.Forbidden}
	record := EventRecord{Failures: 3}
	for i, c := range []struct {
		err     error
		missing int64
		wait    time.Duration
	}{
		{notFound, 1, 5 * time.Second},
		{notFound, 2, 20 * time.Second},
		{refused, 0, 24 * time.Hour},
		{notFound, 1, 5 * time.Second},
	} {
		record = afterFailure(record, c.err, noon)
		if record.Failures != int64(4+i) || record.Missing != c.missing || record.Due.Sub(noon) != c.wait {
			t.Errorf("after failure %d: %+v", 4+i, record)
		}
	}
	succeeded(&record)
	if record.Missing != 0 {
		t.Errorf("after success: %+v", record)
	}
}

func TestIdentify_OfEvents(t *testing.T) {
	t.Parallel()
	at := recurrence.Moment{Time: noon}
	for name, c := range map[string]struct {
		event  gcal.Event
		want   string
		series string
	}{
		"an event": {gcal.Event{ID: "e", Details: &gcal.Details{ICalUID: "u"}}, RecordID("u", recurrence.Moment{}), ""},
		"an exception": {
			gcal.Event{ID: "e", InstanceOf: "s", Details: &gcal.Details{ICalUID: "u", Original: at}}, RecordID("u", at),
			RecordID("u", recurrence.Moment{}),
		},
		"an exception of nowhen":   {gcal.Event{ID: "e", InstanceOf: "s", Details: &gcal.Details{ICalUID: "u"}}, "", ""},
		"without iCalUID":          {gcal.Event{ID: "e", Details: &gcal.Details{}}, "", ""},
		"malformed":                {gcal.Event{ID: "e", Malformed: true, Details: &gcal.Details{ICalUID: "u"}}, "", ""},
		"deleted, nothing but ids": {gcal.Event{ID: "e", EventState: rules.Gone}, RecordID("e@google.com", recurrence.Moment{}), ""},
		"a deleted exception": {
			gcal.Event{ID: "e", InstanceOf: "s", EventState: rules.Gone, Details: &gcal.Details{Original: at}}, RecordID("s@google.com", at),
			RecordID("s@google.com", recurrence.Moment{}),
		},
		"the later part of a series": {
			gcal.Event{ID: "e", Details: &gcal.Details{ICalUID: "u_R20260312T090000@google.com"}},
			RecordID("u_R20260312T090000@google.com", recurrence.Moment{}), RecordID("u@google.com", recurrence.Moment{}),
		},
		"the later part of one of whole days": {
			gcal.Event{ID: "e", Details: &gcal.Details{ICalUID: "u_R20260312@google.com"}},
			RecordID("u_R20260312@google.com", recurrence.Moment{}), RecordID("u@google.com", recurrence.Moment{}),
		},
		"an exception in the later part": {
			gcal.Event{ID: "e", InstanceOf: "s", Details: &gcal.Details{ICalUID: "u_R20260312@google.com", Original: at}},
			RecordID("u_R20260312@google.com", at), RecordID("u_R20260312@google.com", recurrence.Moment{}),
		},
	} {
		if got := identify(c.event); got.ID != c.want || got.SeriesID != c.series {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestEnd_OfEvents(t *testing.T) {
	t.Parallel()
	hour, date := recurrence.Moment{Time: noon.Add(time.Hour)}, func(day string) recurrence.Moment { return recurrence.Moment{Date: day} }
	start := recurrence.Moment{Time: noon, Zone: "UTC"}
	for name, c := range map[string]struct {
		details *gcal.Details
		want    time.Time
	}{
		"no details":       {nil, time.Time{}},
		"unreadable":       {&gcal.Details{}, time.Time{}},
		"an hour":          {&gcal.Details{Start: start, End: hour}, noon.Add(time.Hour)},
		"a day, somewhere": {&gcal.Details{Start: date("2026-03-01"), End: date("2026-03-02")}, noon.Add(24 * time.Hour)},
		"a series": {
			&gcal.Details{Start: start, End: hour, Recurrence: []string{"RRULE:FREQ=DAILY;COUNT=3"}}, noon.Add(49 * time.Hour),
		},
		"an endless series":  {&gcal.Details{Start: start, End: hour, Recurrence: []string{"RRULE:FREQ=DAILY"}}, time.Time{}},
		"an unreadable rule": {&gcal.Details{Start: start, End: hour, Recurrence: []string{"RRULE:FREQ=NEVER"}}, time.Time{}},
	} {
		if got := endOf(gcal.Event{Details: c.details}); !got.Equal(c.want) {
			t.Errorf("%s ends %v, want %v", name, got, c.want)
		}
	}
}

// An event without a known organizer is left alone: nobody knows whether that is an outsider.
func TestJudge_WithoutAnOrganizer_ChangesNothing(t *testing.T) {
	t.Parallel()
	const one, two = "ana@one.test", "ana@two.test"
	table := mappings.NewTable([]mappings.Mapping{{Primary: one, Secondaries: []string{two}}}).Within([]string{"one.test"})
	added := map[string]Entry{two: {State: Added, Primary: one}}
	for organizer, want := range map[string]string{
		"": "[] []", "eve@else.test": "[] [ana@two.test]", "@": "[] [ana@two.test]", "gm@One.test": "[] []",
	} {
		event := gcal.Event{
			ID: "e", Organizer: organizer,
			Details: &gcal.Details{ICalUID: "u", GuestsMayEdit: true, Guests: []gcal.Guest{{Address: one}, {Address: two}}},
		}
		d := judge(show("k", "a", "c", event), EventRecord{Entries: added}, EventRecord{}, table, noon)
		if got := fmt.Sprint(d.Add, " ", d.Remove); got != want {
			t.Errorf("organizer %q: %s, want %s", organizer, got, want)
		}
	}
}

// Since when an occurrence is known, and what it inherits, is recorded by the first whole list of its
// guests.
func TestCompare_FirstGuestsOfAnOccurrence_AreKept(t *testing.T) {
	t.Parallel()
	const one, two, other = "ana@one.test", "ana@two.test", "ben@two.test"
	table := mappings.NewTable([]mappings.Mapping{{Primary: one, Secondaries: []string{two}}}).Within([]string{"one.test"})
	series := EventRecord{
		Entries: map[string]Entry{
			two: {State: Theirs, Primary: one, At: noon}, other: {State: Added, At: noon.Add(time.Hour)},
		},
	}
	organizer := "gm@one.test"
	observe := func(was EventRecord, minutes int, cut bool, guests ...string) EventRecord {
		event := gcal.Event{ID: "e", Organizer: organizer, Updated: noon.Add(time.Duration(minutes) * time.Minute), Details: &gcal.Details{
			ICalUID: "u", GuestsMayEdit: true, GuestsOmitted: cut,
			Start: recurrence.Moment{Time: noon.Add(24 * time.Hour)}, End: recurrence.Moment{Time: noon.Add(25 * time.Hour)},
		}}
		for _, address := range guests {
			event.Details.Guests = append(event.Details.Guests, gcal.Guest{Address: address})
		}
		next, _ := compare(was, series, show("k", "a", "c", event), table, noon)
		return next
	}
	occurrence := EventRecord{ID: "att_o", ICalUID: "u", SeriesID: "att_s"}
	if cut := observe(occurrence, 1, true, one, two); !cut.Since.IsZero() || cut.Version != 0 {
		t.Errorf("by a cut list: %+v", cut)
	}
	if invited := observe(occurrence, 1, false, two); !invited.Since.Equal(noon.Add(time.Minute)) || !invited.Due.IsZero() {
		t.Errorf("with a second address alone: %+v", invited)
	}
	earlier := occurrence
	earlier.Version = 3
	for name, was := range map[string]EventRecord{"none": occurrence, "by an earlier program": earlier} {
		first := observe(was, 1, false, one, two)
		if !first.Since.Equal(noon.Add(time.Minute)) || len(first.Inherited) != 1 || first.Inherited[two] != series.Entries[two] {
			t.Errorf("record %s: %+v", name, first)
		}
		if first.Version != max(was.Version, 1) || !first.Due.IsZero() {
			t.Errorf("record %s: it is due: %+v", name, first)
		}
		if second := observe(first, 2, false, one, other); !second.Since.Equal(first.Since) || len(second.Inherited) != 1 || second.Due.IsZero() {
			t.Errorf("record %s, once it changed: %+v", name, second)
		}
	}
	series = EventRecord{}
	if nobody := observe(occurrence, 1, false, "gm@one.test"); !nobody.Since.IsZero() || nobody.Version != 0 {
		t.Errorf("without a mapped guest: %+v", nobody)
	}
	organizer = "gm@else.test"
	if outside := observe(occurrence, 1, false, one); !outside.Since.IsZero() || outside.Version != 0 {
		t.Errorf("of somebody else's event: %+v", outside)
	}
	organizer, occurrence.SeriesID = "gm@one.test", ""
	if single := observe(occurrence, 1, false, one); !single.Since.IsZero() || single.Due.IsZero() {
		t.Errorf("of an event that is no occurrence: %+v", single)
	}
}

// An absence that a mere reader of the calendar observed proves nothing, and an event that is
// over costs no read.
func TestObservation_ThatProvesNothing_IsIgnored(t *testing.T) {
	t.Parallel()
	s := &Service{Now: func() time.Time { return noon }} // no store: it would panic
	over := gcal.Event{
		ID:      "e",
		Details: &gcal.Details{ICalUID: "u", Start: recurrence.Moment{Time: noon.Add(-2 * time.Hour)}, End: recurrence.Moment{Time: noon}},
	}
	for name, o := range map[string]observation{
		"an absence": {shownEvent: show("k", "a", "c", gcal.Event{ID: "e", EventState: rules.Gone})},
		"it is over": {shownEvent: show("k", "a", "c", over), writable: true},
	} {
		passed, err := s.passPage(t.Context(), []observation{o})
		if err != nil || !passed["e"] || s.apply(t.Context(), o) != nil {
			t.Errorf("%s: %v, %v", name, passed, err)
		}
	}
}

func TestObservation_OfASupersededRun_WritesNothing(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(Queries)
	if err != nil {
		t.Fatal(err)
	}
	fenced := errors.New("a newer run began")
	s := &Service{Store: documents, Now: func() time.Time { return noon }}
	event := gcal.Event{
		ID: "e",
		Details: &gcal.Details{
			ICalUID: "u", Organized: true, Start: recurrence.Moment{Time: noon}, End: recurrence.Moment{Time: noon.Add(time.Hour)},
		},
	}
	o := observation{
		shownEvent: show("k", "a", "c", event), writable: true, holds: func(context.Context, store.Reader) error { return fenced },
	}
	if err := s.apply(t.Context(), o); !errors.Is(err, fenced) {
		t.Errorf("%v", err)
	}
}
