package plan_test

import (
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

var origin = plan.Origin{OwnerID: "ana", AccountID: "work", CalendarID: "work@x"}

// observed is what a calendar shows of a meeting.
func observed(changes ...func(e *gcal.Event)) gcal.Event {
	e := gcal.Event{ID: "ev", ETag: "1", EventState: rules.Present, Updated: now, Details: &gcal.Details{
		ICalUID: "uid", Summary: "Budget", Description: "Figures", Location: "Room 1", Start: at(hour), End: at(2 * hour),
	}}
	for _, change := range changes {
		change(&e)
	}
	return e
}

func detail(change func(d *gcal.Details)) func(e *gcal.Event) {
	return func(e *gcal.Event) { change(e.Details); e.ETag += "+"; e.Updated = e.Updated.Add(time.Minute) }
}

func isGone(e *gcal.Event) {
	*e = gcal.Event{ID: e.ID, EventState: rules.Gone, InstanceOf: e.InstanceOf, Details: &gcal.Details{Original: e.Details.Original}}
}

func isInstance(e *gcal.Event) {
	e.InstanceOf, e.Details.Original = "series", at(0)
}

func TestCanonical_OfANewEvent(t *testing.T) {
	t.Parallel()
	next, changed := plan.Canonical(mirror.Event{ID: "evt_1"}, observed(), origin, now)
	want := mirror.Event{
		ID: "evt_1", OwnerID: "ana", AccountID: "work", CalendarID: "work@x", EventID: "ev", ICalUID: "uid",
		Title: "Budget", Description: "Figures", Location: "Room 1", Start: at(hour), End: at(2 * hour),
		Status: "confirmed", Visibility: "default", Transparency: "opaque", Kind: "default", ETag: "1", Updated: now,
		Version: 1, Source: mirror.SourceProvider, From: now.Add(hour), Until: now.Add(2 * hour), CreatedAt: now, UpdatedAt: now,
	}
	if !changed || !reflect.DeepEqual(next, want) {
		t.Errorf("it is %+v, want %+v", next, want)
	}
}

func TestCanonical_OfAKnownEvent(t *testing.T) {
	t.Parallel()
	known, _ := plan.Canonical(mirror.Event{ID: "evt_1"}, observed(), origin, now)
	for name, row := range map[string]struct {
		shown   gcal.Event
		changed bool
		version int64
		check   func(e mirror.Event) bool
	}{
		"again": {observed(), false, 1, nil},
		"older": {
			observed(detail(func(d *gcal.Details) { d.Summary = "Old" }), func(e *gcal.Event) { e.Updated = now.Add(-hour) }),
			false, 1, nil,
		},
		"unreadable times": {observed(detail(func(d *gcal.Details) { d.Start = recurrence.Moment{} })), false, 1, nil},
		"malformed": {
			observed(detail(func(d *gcal.Details) { d.Summary = "?" }), func(e *gcal.Event) { e.EventState = rules.Unreadable }),
			false, 1, nil,
		},
		"times in UTC": {
			observed(detail(func(d *gcal.Details) { d.Start.Time = d.Start.Time.Local() }), func(e *gcal.Event) { e.ETag, e.Updated = "1", now }),
			false, 1, nil,
		},
		"the etag": {
			observed(detail(func(*gcal.Details) {})), true, 1,
			func(e mirror.Event) bool { return e.ETag == "1+" && e.Updated.After(now) },
		},
		"declined": {
			observed(detail(func(d *gcal.Details) { d.Response = "declined" })), true, 1,
			func(e mirror.Event) bool { return e.Declined },
		},
		"tentative response": {
			observed(detail(func(d *gcal.Details) { d.Response = "tentative" })), true, 1,
			func(e mirror.Event) bool { return !e.Declined },
		},
		"moved": {
			observed(detail(func(d *gcal.Details) { d.Start, d.End = at(3*hour), at(4*hour) })), true, 2,
			func(e mirror.Event) bool { return e.From.Equal(now.Add(3 * hour)) },
		},
		"title": {
			observed(detail(func(d *gcal.Details) { d.Summary = "New" })), true, 2,
			func(e mirror.Event) bool { return e.Title == "New" },
		},
		"zone": {
			observed(detail(func(d *gcal.Details) { d.Start.Zone = "Asia/Tokyo" })), true, 2,
			func(e mirror.Event) bool { return e.Start.Zone == "Asia/Tokyo" },
		},
		"all day": {observed(detail(func(d *gcal.Details) {
			d.Start, d.End = recurrence.Moment{Date: "2026-03-05"}, recurrence.Moment{Date: "2026-03-07"}
		})), true, 2, func(e mirror.Event) bool {
			return e.Start.AllDay() && e.Until.Equal(time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC))
		}},
		"a series": {observed(detail(func(d *gcal.Details) { d.Recurrence = []string{"RRULE:FREQ=DAILY;COUNT=3"} })), true, 2,
			func(e mirror.Event) bool {
				return e.Until.Equal(now.Add(50 * hour))
			}},
		"an endless series": {observed(detail(func(d *gcal.Details) { d.Recurrence = []string{"RRULE:FREQ=DAILY"} })), true, 2,
			func(e mirror.Event) bool {
				return e.Until.Year() == 9999
			}},
		"an unreadable rule": {observed(detail(func(d *gcal.Details) { d.Recurrence = []string{"RRULE:FREQ=SOMETIMES"} })), true,
			2, func(e mirror.Event) bool {
				return e.Until.Year() == 9999
			}},
		"deleted, the id alone": {observed(isGone), true, 2, func(e mirror.Event) bool {
			return e.Status == "cancelled" && e.Title == "Budget" && e.Start == at(hour) && e.ICalUID == "uid" && e.Updated.Equal(now)
		}},
		"moved beyond the window": {observed(detail(func(d *gcal.Details) {
			d.Start, d.End = at(401*24*hour), at(401*24*hour+hour)
		})), true, 2, func(e mirror.Event) bool {
			return e.PlanAt.After(now.Add(23*hour)) && e.PlanAt.Before(now.Add(25*hour))
		}},
	} {
		next, changed := plan.Canonical(known, row.shown, origin, now.Add(time.Minute))
		if changed != row.changed || next.Version != row.version {
			t.Errorf("%s: changed %t, version %d", name, changed, next.Version)
		}
		if !changed && !reflect.DeepEqual(next, known) {
			t.Errorf("%s: unchanged, but another: %+v", name, next)
		}
		if row.check != nil && !row.check(next) {
			t.Errorf("%s: it is %+v", name, next)
		}
	}
}

// To find the last occurrence of a long series takes milliseconds, and each full listing shows all.
func TestCanonical_OfASeries_IsExpandedAnewOnlyIfItsTimesChange(t *testing.T) {
	t.Parallel()
	series := func(change func(d *gcal.Details)) gcal.Event {
		return observed(detail(func(d *gcal.Details) { d.Recurrence = []string{"RRULE:FREQ=DAILY;COUNT=3"}; change(d) }))
	}
	known, _ := plan.Canonical(mirror.Event{ID: "evt_1"}, series(func(*gcal.Details) {}), origin, now)
	if want := now.Add(50 * hour); !known.Until.Equal(want) {
		t.Fatalf("it ends %s, want %s", known.Until, want)
	}
	known.Until = now.AddDate(1, 0, 0) // to be told from one that is worked out
	for name, row := range map[string]struct {
		change func(d *gcal.Details)
		want   time.Time
	}{
		"another title": {func(d *gcal.Details) { d.Summary = "Plans" }, known.Until},
		"a later end":   {func(d *gcal.Details) { d.End = at(3 * hour) }, now.Add(51 * hour)},
		"another start": {func(d *gcal.Details) { d.Start = at(0) }, now.Add(50 * hour)},
		"another rule":  {func(d *gcal.Details) { d.Recurrence = []string{"RRULE:FREQ=DAILY;COUNT=2"} }, now.Add(26 * hour)},
	} {
		if next, changed := plan.Canonical(known, series(row.change), origin, now); !changed || !next.Until.Equal(row.want) {
			t.Errorf("%s: it ends %s, want %s", name, next.Until, row.want)
		}
	}
}

func TestCanonical_DeletedAndRestored_IsAsBefore(t *testing.T) {
	t.Parallel()
	known, _ := plan.Canonical(mirror.Event{ID: "evt_1"}, observed(), origin, now)
	deleted, _ := plan.Canonical(known, observed(isGone), origin, now)
	back, changed := plan.Canonical(deleted, observed(detail(func(*gcal.Details) {})), origin, now)
	if !changed || back.Status != "confirmed" || back.Version != 3 || back.CreatedAt != known.CreatedAt {
		t.Errorf("it is %+v", back)
	}
}

func TestCanonical_OfExceptions(t *testing.T) {
	t.Parallel()
	known, changed := plan.Canonical(mirror.Event{ID: "evt_1"}, observed(isInstance), origin, now)
	if !changed || known.SeriesID != "series" || known.OriginalStart != at(0) || known.Start != at(hour) {
		t.Fatalf("an exception is %+v", known)
	}
	cancelled, changed := plan.Canonical(known, observed(isInstance, isGone), origin, now)
	if !changed || cancelled.Status != "cancelled" || cancelled.Title != "Budget" || cancelled.SeriesID != "series" ||
		cancelled.OriginalStart != at(0) {
		t.Errorf("cancelled, it is %+v", cancelled)
	}
	ofSeries := origin
	ofSeries.ICalUID = "uid"
	unknown, changed := plan.Canonical(mirror.Event{ID: "evt_2"}, observed(isInstance, isGone), ofSeries, now)
	if !changed || unknown.Status != "cancelled" || unknown.Start != at(0) || unknown.ICalUID != "uid" || unknown.Version != 1 {
		t.Errorf("cancelled before it was known, it is %+v", unknown)
	}
}

func TestCanonical_UnknownAndDeleted_IsNothing(t *testing.T) {
	t.Parallel()
	if next, changed := plan.Canonical(mirror.Event{ID: "evt_1"}, observed(isGone), origin, now); changed {
		t.Errorf("it is %+v", next)
	}
}

func TestCanonical_KeepsItsSource(t *testing.T) {
	t.Parallel()
	byAPI := mirror.Event{ID: "evt_1", Source: mirror.SourceAPI}
	next, _ := plan.Canonical(byAPI, observed(), origin, now)
	ofPoll := origin
	ofPoll.Source, ofPoll.PollID, ofPoll.GroupID = mirror.SourcePoll, "poll", "group"
	session, _ := plan.Canonical(mirror.Event{ID: "evt_2"}, observed(), ofPoll, now)
	if next.Source != mirror.SourceAPI || session.Source != mirror.SourcePoll || session.PollID != "poll" || session.GroupID != "group" {
		t.Errorf("the sources are %s and %s", next.Source, session.Source)
	}
}
