package mirrors_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors"
	"questscheduler/rules"
)

var inMarch = within("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")

// weekly makes a series of three Thursdays at work, which are mirrored at home.
func (w *world) weekly(change ...func(e *mirrors.NewEvent)) (series mirrors.Shown, name string) {
	w.Helper()
	w.mirrorWork()
	weekly := func(e *mirrors.NewEvent) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=3"} }
	series = w.create(dentist(append(change, weekly)...))
	return series, series.ID[len("evt_"):]
}

// span is a start and an end an hour later.
func span(start string) (from, to *time.Time) {
	at := at(start).Time
	return &at, new(at.Add(time.Hour))
}

func TestList_Occurrences_HaveAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, name := w.weekly()
	w.wantListed(inMarch, name+" 03-05 09:00", name+" 03-12 09:00", name+" 03-19 09:00")
	for i, shown := range w.list(gm, inMarch, 100) {
		want := series.ID + "_" + []string{"20260305T090000Z", "20260312T090000Z", "20260319T090000Z"}[i]
		if shown.OccurrenceID != want {
			t.Errorf("the address is %s, want %s", shown.OccurrenceID, want)
		}
		got, err := w.events().Get(w.ctx, gm, want)
		if err != nil || got.ID != series.ID || !got.Begins.Equal(shown.Begins) || !got.Ends.Equal(shown.Ends) ||
			len(got.Mirrors) != 1 || got.OccurrenceID != want {
			t.Errorf("%s is %+v, %v", want, got, err)
		}
	}
}

func TestChange_OfAnOccurrence_LeavesTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, name := w.weekly()
	address := series.ID + "_20260312T090000Z"
	etag := w.atGoogle(series).ETag
	if got := w.alter(address, mirrors.Change{Title: new("Dentist")}); got.OccurrenceID != address || w.atGoogle(series).ETag != etag {
		t.Errorf("without a difference it is %+v", got)
	}
	w.wantListed(inMarch, name+" 03-05 09:00", name+" 03-12 09:00", name+" 03-19 09:00")

	from, to := span("2026-03-13T15:00:00Z")
	moved := w.alter(address, mirrors.Change{Title: new("Surgeon"), Start: from, End: to})
	own := moved.ID[len("evt_"):]
	if moved.OccurrenceID != address || moved.SeriesID != series.EventID || moved.Title != "Surgeon" {
		t.Errorf("moved it is %+v", moved)
	}
	w.wantListed(inMarch, name+" 03-05 09:00", own+" 03-13 15:00", name+" 03-19 09:00")
	w.wantTitles(home, "Dentist", "Surgeon")
	for _, id := range []string{address, moved.ID} { // it keeps its address
		if got, err := w.events().Get(w.ctx, gm, id); err != nil || got.ID != moved.ID || !got.Begins.Equal(*from) {
			t.Errorf("%s is %+v, %v", id, got, err)
		}
	}
	w.alter(address, mirrors.Change{Title: new("Nurse")})
	w.wantTitles(home, "Dentist", "Nurse")

	w.alter(series.ID, mirrors.Change{Location: new("Bern")})
	if d := w.atGoogle(series).Details; d.Location != "Bern" || len(d.Recurrence) != 1 {
		t.Errorf("the series is %+v", d)
	}
}

func TestDelete_OfAnOccurrence_LeavesTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, name := w.weekly()
	address := series.ID + "_20260312T090000Z"
	for range 2 { // what is gone already is no error
		w.must(w.events().Delete(w.ctx, gm, address, nil, cause))
		w.settle()
		w.wantFollowedBySilence(refTo(work))
		w.wantListed(inMarch, name+" 03-05 09:00", name+" 03-19 09:00")
	}
	if w.atGoogle(series).EventState == rules.Gone {
		t.Error("the series is gone")
	}
	_, err := w.events().Get(w.ctx, gm, address)
	wantFault(t, "read", err, fault.NotFound, "")
	_, err = w.events().Change(w.ctx, gm, address, mirrors.Change{Title: new("New")}, cause)
	wantFault(t, "change", err, fault.NotFound, "")
	w.wantTitles(home, "Dentist")
}

func TestChange_OfAnAllDayOccurrence_IsThatDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, name := w.weekly(func(e *mirrors.NewEvent) {
		e.AllDay, e.Start, e.End = true, at("2026-03-05T00:00:00Z").Time, at("2026-03-06T00:00:00Z").Time
	})
	address := series.ID + "_20260312T000000Z"
	if got := w.list(gm, inMarch, 100)[1].OccurrenceID; got != address {
		t.Errorf("the address is %s", got)
	}
	moved := w.alter(address, mirrors.Change{Start: new(at("2026-03-13T00:00:00Z").Time), End: new(at("2026-03-14T00:00:00Z").Time)})
	w.wantListed(inMarch, name+" 03-05 00:00", moved.ID[len("evt_"):]+" 03-13 00:00", name+" 03-19 00:00")
	_, err := w.events().Get(w.ctx, gm, series.ID+"_20260319T010000Z")
	wantFault(t, "a time within a day", err, fault.NotFound, "")
}

func TestOccurrences_ThatAreNone_AreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, _ := w.weekly()
	single := w.create(dentist())
	w.counter.Reset()
	for name, id := range map[string]string{
		"another day":         series.ID + "_20260313T090000Z",
		"another hour":        series.ID + "_20260312T100000Z",
		"after the last":      series.ID + "_20260326T090000Z",
		"of a single event":   single.ID + "_20260305T090000Z",
		"of an unknown one":   "evt_none_20260305T090000Z",
		"without a series":    "_20260305T090000Z",
		"a day":               series.ID + "_20260312",
		"an occurrence's own": series.ID + "_20260312T090000Z_20260312T090000Z",
	} {
		_, got := w.events().Get(w.ctx, gm, id)
		_, changed := w.events().Change(w.ctx, gm, id, mirrors.Change{Title: new("New")}, cause)
		for _, err := range []error{got, changed, w.events().Delete(w.ctx, gm, id, nil, cause)} {
			wantFault(t, name, err, fault.NotFound, "")
		}
	}
	_, err := w.events().Get(w.ctx, ana, series.ID+"_20260312T090000Z")
	wantFault(t, "another person", err, fault.NotFound, "")
	wantFault(t, "another person deletes", w.events().Delete(w.ctx, ana, series.ID+"_20260312T090000Z", nil, cause), fault.NotFound, "")
	if cost := w.counter.Reset(); cost.Writes+cost.Deletes > 0 {
		t.Errorf("it wrote %+v", cost)
	}
}

func TestChange_OfASeriesToAnotherDay_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, name := w.weekly()
	for start, says := range map[string]string{
		"2026-03-12T10:00:00Z": series.ID + "_20260312T090000Z", // as a list shows an occurrence, an hour later
		"2026-03-12T22:30:00Z": series.ID + "_20260312T090000Z",
		"2026-03-12T23:30:00Z": "occurrence_id", // the next day in Zurich
		"2026-03-06T09:00:00Z": "occurrence_id",
	} {
		from, to := span(start)
		_, err := w.events().Change(w.ctx, gm, series.ID, mirrors.Change{Start: from, End: to}, cause)
		wantFault(t, start, err, fault.Conflict, mirrors.CodeOtherDay)
		if err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s says %v", start, err)
		}
	}
	w.wantListed(inMarch, name+" 03-05 09:00", name+" 03-12 09:00", name+" 03-19 09:00")
	from, to := span("2026-03-05T22:30:00Z")
	w.alter(series.ID, mirrors.Change{Start: from, End: to})
	w.wantListed(inMarch, name+" 03-05 22:30", name+" 03-12 22:30", name+" 03-19 22:30")
}

// Another zone alone moves no occurrence, though the first may be on another day there.
func TestChange_OfASeriesZone_MovesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		from, to, start, asked string
		refused                string // what the error names; "" for no error
	}{
		"the next day there":            {"UTC", "Europe/Zurich", "2026-03-05T23:30:00Z", "2026-03-05T23:30:00Z", ""},
		"and earlier":                   {"UTC", "Europe/Zurich", "2026-03-05T23:30:00Z", "2026-03-05T22:45:00Z", ""},
		"the day before there":          {"Asia/Tokyo", "UTC", "2026-03-05T01:30:00Z", "2026-03-05T01:30:00Z", ""},
		"the same day there alone":      {"Europe/Zurich", "Asia/Tokyo", "2026-03-05T05:00:00Z", "2026-03-04T21:00:00Z", ""},
		"the next week, in both":        {"UTC", "Europe/Zurich", "2026-03-05T23:30:00Z", "2026-03-12T23:30:00Z", "_20260312T233000Z"},
		"the next week, on another day": {"UTC", "Europe/Zurich", "2026-03-05T23:30:00Z", "2026-03-12T22:30:00Z", "_20260312T233000Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			from, to := span(row.start)
			series, _ := w.weekly(func(e *mirrors.NewEvent) { e.Start, e.End, e.TimeZone = *from, *to, row.from })
			from, to = span(row.asked)
			shown, err := w.events().Change(w.ctx, gm, series.ID, mirrors.Change{Start: from, End: to, TimeZone: new(row.to)}, cause)
			if row.refused != "" {
				wantFault(t, "the change", err, fault.Conflict, mirrors.CodeOtherDay)
				if err != nil && !strings.Contains(err.Error(), series.ID+row.refused) {
					t.Errorf("it says %v, want %s", err, row.refused)
				}
				return
			}
			if err != nil || !shown.Begins.Equal(*from) || w.atGoogle(shown).Details.Start.Zone != row.to {
				t.Errorf("it is %+v, %v", shown, err)
			}
		})
	}
}

func TestAllDay_FromALocalMidnight_IsThatDay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, zone, first, after string }{
		"UTC":                {"2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z", "", "2026-03-10", "2026-03-11"},
		"UTC, with a zone":   {"2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z", "Asia/Tokyo", "2026-03-10", "2026-03-11"},
		"UTC, in the west":   {"2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z", "America/New_York", "2026-03-10", "2026-03-11"},
		"east":               {"2026-03-10T00:00:00+01:00", "2026-03-11T00:00:00+01:00", "Europe/Zurich", "2026-03-10", "2026-03-11"},
		"far east":           {"2026-03-10T00:00:00+14:00", "2026-03-12T00:00:00+14:00", "Pacific/Kiritimati", "2026-03-10", "2026-03-12"},
		"west":               {"2026-03-10T00:00:00-04:00", "2026-03-11T00:00:00-04:00", "America/New_York", "2026-03-10", "2026-03-11"},
		"clocks go forward":  {"2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00", "Europe/Zurich", "2026-03-29", "2026-03-30"},
		"midnight elsewhere": {"2026-03-10T00:00:00+01:00", "2026-03-11T00:00:00+01:00", "", "2026-03-09", "2026-03-10"},
	} {
		w := newWorld(t)
		w.mirrorWork()
		from, err := time.Parse(time.RFC3339, c.from)
		w.must(err)
		to, err := time.Parse(time.RFC3339, c.to)
		w.must(err)
		days := func(shown mirrors.Shown) gcal.Event { return w.atGoogle(shown) }
		made := w.create(dentist(func(e *mirrors.NewEvent) { e.Start, e.End, e.TimeZone, e.AllDay = from, to, c.zone, true }))
		other := w.create(dentist())
		zone := c.zone
		if zone == "" {
			zone = "UTC"
		}
		changed := w.alter(other.ID, mirrors.Change{Start: &from, End: &to, TimeZone: &zone, AllDay: new(true)})
		for what, shown := range map[string]mirrors.Shown{"made": made, "changed": changed} {
			if d := days(shown).Details; d.Start != (recurrence.Moment{Date: c.first}) || d.End != (recurrence.Moment{Date: c.after}) {
				t.Errorf("%s, %s: %v to %v", name, what, d.Start, d.End)
			}
		}
	}
}

func TestGet_AnOccurrenceAfterManyOthers_IsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series := w.create(dentist(func(e *mirrors.NewEvent) { e.Recurrence = []string{"RRULE:FREQ=DAILY"} }))
	address := series.ID + "_20290702T080000Z" // in summer time
	got, err := w.events().Get(w.ctx, gm, address)
	if err != nil || got.OccurrenceID != address || got.Ends.Sub(got.Begins) != time.Hour {
		t.Errorf("it is %+v, %v", got, err)
	}
}
