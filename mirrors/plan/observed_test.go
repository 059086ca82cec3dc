package plan_test

import (
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// active is a written mirror, with its event as written.
func active() (mirror.Mirror, gcal.Event) {
	google := newCalendars()
	s := written(situation(meeting("a", hour)), google)
	m := s.Mirrors[0]
	return m, google.events[m.TargetCalendarID+"/"+m.EventID]
}

// dragged is the event after a person moved it at a time.
func dragged(event gcal.Event, after time.Duration) gcal.Event {
	details := *event.Details
	details.Start, details.End = at(after), at(after+hour)
	event.Details, event.ETag, event.Updated = &details, event.ETag+after.String(), event.Updated.Add(after)
	return event
}

func TestObserved(t *testing.T) {
	t.Parallel()
	m, event := active()
	in := func(state mirror.State, changes ...func(m *mirror.Mirror)) mirror.Mirror {
		next := m
		next.State = state
		for _, change := range changes {
			change(&next)
		}
		return next
	}
	reverts := func(ago ...time.Duration) func(m *mirror.Mirror) {
		return func(m *mirror.Mirror) {
			for _, before := range ago {
				m.Reverts = append(m.Reverts, now.Add(-before))
			}
		}
	}
	deleted := func(ago time.Duration) func(m *mirror.Mirror) {
		return func(m *mirror.Mirror) { m.DeletedAt = now.Add(-ago) }
	}
	moved, gone := dragged(event, 5*hour), absent(event.ID, event.Updated.Add(hour))
	change := func(e gcal.Event, change func(e *gcal.Event)) gcal.Event { change(&e); return e }
	unconfirmed := func(m *mirror.Mirror) { m.ETag, m.Answered, m.AnsweredAt = "", "", time.Time{} }
	earlier := func(m *mirror.Mirror) { m.Answered, m.AnsweredAt = "cancelled", moved.Updated.Add(time.Second) }
	ofSeries := func(m *mirror.Mirror) { m.SeriesMirrorID = "mir_series" }
	off := func(m *mirror.Mirror) { m.Wanted, m.LastWrite = "cancelled.0123456789abcdef", time.Time{} }
	written := func(m *mirror.Mirror) { m.LastWrite = moved.Updated.Add(time.Second) }
	for name, row := range map[string]struct {
		m       mirror.Mirror
		shown   gcal.Event
		verdict plan.Verdict
		state   mirror.State
	}{
		"as written":        {m, event, plan.Echo, mirror.Active},
		"with another etag": {m, change(event, func(e *gcal.Event) { e.ETag = "x" }), plan.Echo, mirror.Active},
		"moved":             {m, moved, plan.Drift, mirror.Pending},
		"moved, older than the write": {
			m, change(moved, func(e *gcal.Event) { e.Updated = event.Updated.Add(-hour) }), plan.Ignored, mirror.Active,
		},
		"moved, two reverts today":   {in(mirror.Active, reverts(20*hour, hour)), moved, plan.Drift, mirror.Pending},
		"moved, three reverts today": {in(mirror.Active, reverts(20*hour, 2*hour, hour)), moved, plan.GaveUp, mirror.Contested},
		"moved, three in two days":   {in(mirror.Active, reverts(25*hour, 2*hour, hour)), moved, plan.Drift, mirror.Pending},
		"moved, a write is pending":  {in(mirror.Pending), moved, plan.Drift, mirror.Pending},
		"moved, in error":            {in(mirror.Failed), moved, plan.Drift, mirror.Failed},
		"moved, contested":           {in(mirror.Contested), moved, plan.Ignored, mirror.Contested},
		"deleted, contested":         {in(mirror.Contested), gone, plan.LeftDeleted, mirror.Suppressed},
		"deleted before, contested": {
			in(mirror.Contested), change(gone, func(e *gcal.Event) { e.Updated = event.Updated.Add(-hour) }), plan.Ignored,
			mirror.Contested,
		},
		"moved, being deleted":          {in(mirror.Deleting), moved, plan.Ignored, mirror.Deleting},
		"unreadable":                    {m, change(moved, func(e *gcal.Event) { e.EventState = rules.Unreadable }), plan.Ignored, mirror.Active},
		"without details":               {m, change(moved, func(e *gcal.Event) { e.Details = nil }), plan.Ignored, mirror.Active},
		"another event":                 {m, change(moved, func(e *gcal.Event) { e.ID = "other" }), plan.Ignored, mirror.Active},
		"deleted":                       {m, gone, plan.Recreated, mirror.Pending},
		"deleted, the id alone":         {m, gcal.Event{ID: event.ID, EventState: rules.Gone}, plan.Recreated, mirror.Pending},
		"deleted again within a day":    {in(mirror.Active, deleted(23*hour)), gone, plan.LeftDeleted, mirror.Suppressed},
		"deleted again after a day":     {in(mirror.Active, deleted(25*hour)), gone, plan.Recreated, mirror.Pending},
		"deleted, a write is pending":   {in(mirror.Pending), gone, plan.Recreated, mirror.Pending},
		"deleted, suppressed":           {in(mirror.Suppressed), gone, plan.Ignored, mirror.Suppressed},
		"deleted by us":                 {in(mirror.Deleting), gone, plan.Ignored, mirror.Deleting},
		"as written, unconfirmed":       {in(mirror.Pending, unconfirmed), event, plan.Ignored, mirror.Pending},
		"moved, unconfirmed":            {in(mirror.Pending, unconfirmed), moved, plan.Early, mirror.Pending},
		"moved back, unconfirmed":       {in(mirror.Pending, unconfirmed, earlier), moved, plan.Ignored, mirror.Pending},
		"deleted, unconfirmed":          {in(mirror.Pending, unconfirmed), gone, plan.Early, mirror.Pending},
		"an unconfirmed exception":      {in(mirror.Pending, unconfirmed, ofSeries), gone, plan.Ignored, mirror.Pending},
		"an exception as deleted by us": {in(mirror.Active, unconfirmed, ofSeries, off), gone, plan.Ignored, mirror.Active},
		"an exception restored":         {in(mirror.Active, unconfirmed, ofSeries, off), moved, plan.Drift, mirror.Pending},
		"an exception restored before that": {
			in(mirror.Active, unconfirmed, ofSeries, off, written), moved, plan.Ignored, mirror.Active,
		},
		"an exception to be deleted": {in(mirror.Pending, unconfirmed, ofSeries, off), moved, plan.Ignored, mirror.Pending},
		"an exception to be seen":    {in(mirror.Active, unconfirmed, ofSeries), moved, plan.Ignored, mirror.Active},
		"unconfirmed, suppressed":    {in(mirror.Suppressed, unconfirmed), gone, plan.Ignored, mirror.Suppressed},
	} {
		next, verdict := plan.Observed(row.m, row.shown, now)
		if verdict != row.verdict || next.State != row.state {
			t.Errorf("%s: %s, %+v", name, verdict, next)
		}
		if verdict == plan.Ignored && !reflect.DeepEqual(next, row.m) {
			t.Errorf("%s: ignored, but changed: %+v", name, next)
		}
		if again, verdict := plan.Observed(next, row.shown, now); verdict != plan.Echo && verdict != plan.Ignored ||
			!reflect.DeepEqual(again, next) {
			t.Errorf("%s, observed again: %s, %+v", name, verdict, again)
		}
	}
}

func TestObserved_Drift_IsRevertedWithTheObservedETag(t *testing.T) {
	t.Parallel()
	m, event := active()
	next, _ := plan.Observed(m, dragged(event, 5*hour), now)
	if next.ETag != dragged(event, 5*hour).ETag || next.Written != "" || !next.Due.Equal(now) || len(next.Reverts) != 1 ||
		plan.Next(next) != plan.Write || next.Generation != m.Generation {
		t.Errorf("it is %+v", next)
	}
	if len(m.Reverts) != 0 {
		t.Error("the mirror that was given changed")
	}
}

func TestObserved_Deletion_IsTheNextGeneration(t *testing.T) {
	t.Parallel()
	m, event := active()
	next, _ := plan.Observed(m, absent(event.ID, event.Updated), now)
	if next.Generation != m.Generation+1 || next.EventID != "" || next.ETag != "" || !next.Due.Equal(now) ||
		!next.DeletedAt.Equal(now) || plan.Next(next) != plan.Write {
		t.Errorf("it is %+v", next)
	}
}

func TestObserved_AnswerOfGoogle_IsNoDrift(t *testing.T) {
	t.Parallel()
	m, event := active()
	details := *event.Details
	details.Summary = "Busy (cleaned)"
	event.Details = &details
	m = plan.Written(m, m.Wanted, event, now)
	if next, verdict := plan.Observed(m, event, now); verdict != plan.Echo || next.State != mirror.Active {
		t.Errorf("%s: %+v", verdict, next)
	}
}

func TestObserved_DeletedInstance_IsConfirmedOnceThenLeft(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := written(situation(series, moved), google)
	m := of(s, moved, "home")
	path := m.TargetCalendarID + "/" + m.EventID
	for _, step := range []struct {
		verdict plan.Verdict
		after   mirror.State
	}{{plan.Recreated, mirror.Active}, {plan.LeftDeleted, mirror.Suppressed}} {
		google.delete(m.TargetCalendarID, m.EventID)
		var verdict plan.Verdict
		s, verdict = google.observe(s, path)
		if verdict != step.verdict {
			t.Fatalf("%s, want %s", verdict, step.verdict)
		}
		s = google.write(s)
		if of(s, moved, "home").State != step.after || of(s, moved, "home").Generation != 1 || of(s, series, "home").State != mirror.Active {
			t.Fatalf("after %s: %v", verdict, states(s))
		}
	}
}

func TestObserved_SeriesDeletedTwice_ExceptionsAreLeftToo(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := written(situation(series, moved), google)
	for range 2 {
		master := of(s, series, "home")
		google.delete(master.TargetCalendarID, master.EventID)
		s, _ = google.observe(s, master.TargetCalendarID+"/"+master.EventID)
		s = google.write(s)
	}
	expect(t, s, wantStates{"s>home": mirror.Suppressed, "x>home": mirror.Suppressed})
	if live := google.live(); len(live) > 0 {
		t.Errorf("the calendars show %v", live)
	}
}

// The sync run was faster and shows what Google answered, which is not quite what was written.
func TestWritten_AfterAnEarlyEcho_IsActive(t *testing.T) {
	t.Parallel()
	m, event := active()
	m.State, m.ETag, m.Answered, m.AnsweredAt = mirror.Pending, "", "", time.Time{}
	details := *event.Details
	details.Description = "as Google writes it"
	event.Details = &details
	observed, verdict := plan.Observed(m, event, now)
	if next := plan.Written(observed, m.Wanted, event, now); verdict != plan.Early || next.State != mirror.Active {
		t.Errorf("%s: it is %+v", verdict, next)
	}
}

// A person changes or deletes the event before the answer to its insert is recorded, and the
// sync run is faster: the mirror is written again, and finds out by the etag.
func TestWritten_AfterAnEarlyObservation_IsDueAgain(t *testing.T) {
	t.Parallel()
	m, event := active()
	m.State, m.ETag, m.Answered, m.AnsweredAt, m.Due = mirror.Pending, "", "", time.Time{}, now
	for name, row := range map[string]struct {
		shown gcal.Event
		state mirror.State
	}{
		"nothing else":              {event, mirror.Active},
		"moved":                     {dragged(event, time.Second), mirror.Pending},
		"deleted":                   {absent(event.ID, event.Updated.Add(time.Second)), mirror.Pending},
		"deleted, the id alone":     {gcal.Event{ID: event.ID, EventState: rules.Gone}, mirror.Pending},
		"moved, before it was read": {dragged(event, -time.Second), mirror.Active},
	} {
		observed, _ := plan.Observed(m, row.shown, now)
		next := plan.Written(observed, m.Wanted, event, now)
		isDue := row.state != mirror.Active
		if next.State != row.state || next.Due.IsZero() == isDue || next.ETag != event.ETag || !next.AnsweredAt.Equal(event.Updated) {
			t.Errorf("%s: it is %+v", name, next)
		}
		if again := plan.Written(next, m.Wanted, event, now); again.State != mirror.Active {
			t.Errorf("%s: the second answer makes it %s", name, again.State)
		}
	}
}
