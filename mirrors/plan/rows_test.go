package plan_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

func TestDisagreeAt_SeveralOthers_GivesTheFirst(t *testing.T) {
	t.Parallel()
	a := with(meeting("a", hour), organizedBy("ben"))
	soon := invited("n", a, "home", later, func(e *mirror.Event) { e.Updated = now.Add(-8 * time.Minute) })
	late := invited("m", a, "club", later, justNow)
	for _, others := range [][]mirror.Event{{soon, late}, {late, soon}, {late, a, soon}} {
		if got, want := plan.DisagreeAt(a, others, now), now.Add(2*time.Minute); !got.Equal(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := plan.DisagreeAt(exception("x", series, justNow), []mirror.Event{series}, now); !got.IsZero() {
		t.Errorf("an exception and its series alone: %v", got)
	}
}

func TestClassify_OneMarkOrNoInstallation_IsClassified(t *testing.T) {
	t.Parallel()
	marks := plan.Marks(mirror.Mirror{ID: "mir_1"}, "here")
	if want := map[string]string{plan.MarkMirror: "mir_1", plan.MarkInstallation: "here"}; !maps.Equal(marks, want) {
		t.Errorf("the marks are %v", marks)
	}
	for name, row := range map[string]struct {
		private      map[string]string
		installation string
		want         plan.Class
	}{
		"the mirror alone":               {map[string]string{plan.MarkMirror: "mir_1"}, "here", plan.Copied},
		"the installation alone":         {map[string]string{plan.MarkInstallation: "here"}, "here", plan.Orphan},
		"another installation alone":     {map[string]string{plan.MarkInstallation: "there"}, "here", plan.Copied},
		"unmarked, without a name":       {nil, "", plan.Ordinary},
		"the mirror alone, without name": {map[string]string{plan.MarkMirror: "mir_1"}, "", plan.Orphan},
	} {
		if got := plan.Classify(gcal.Event{ID: ownID, Private: row.private}, "home@x", row.installation, mirror.Naming{}); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// An answer to a patch is the event's state, whatever was observed before.
func TestWritten_AnswerToAPatch_IsNotOvertaken(t *testing.T) {
	t.Parallel()
	m, event := active()
	changed := *event.Details
	changed.Summary = "Busy "
	changed.Description = "as patched"
	answered := event
	answered.Details = &changed
	for name, change := range map[string]func(m *mirror.Mirror){
		"a patch":                  func(*mirror.Mirror) {},
		"the first of an instance": func(m *mirror.Mirror) { m.ETag, m.SeriesMirrorID = "", "mir_series" },
	} {
		was := m
		was.State, was.Due = mirror.Pending, now
		change(&was)
		if next := plan.Written(was, was.Wanted, answered, now); next.State != mirror.Active {
			t.Errorf("%s: it is %+v", name, next)
		}
	}
}

func TestNext_WorkByStateAndWanted_IsDone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		m    mirror.Mirror
		want plan.Op
	}{
		{mirror.Mirror{State: mirror.Deleting, Wanted: "hash"}, plan.Delete},
		{mirror.Mirror{State: mirror.Failed, Wanted: "covered"}, plan.Delete},
	} {
		if got := plan.Next(row.m); got != row.want {
			t.Errorf("%+v: %s", row.m, got)
		}
	}
	exception := mirror.Mirror{SeriesMirrorID: "mir_1", Wanted: "hash", State: mirror.Pending}
	if plan.Ready(exception, &mirror.Mirror{State: mirror.Active}) {
		t.Error("an exception is ready for a series without an event")
	}
}

func TestFailedWrite_Message_IsTheFaults(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"Share the calendar again.":         fault.New(fault.Forbidden, "Share the calendar again."),
		"the calendar could not be written": &fault.Error{Kind: fault.Unavailable, Err: errors.New("odd")},
	} {
		if got := plan.FailedWrite(mirror.Mirror{LastError: "before"}, err, now).LastError; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDueAt_CancelledEvent_IsNever(t *testing.T) {
	t.Parallel()
	if at := plan.DueAt(with(meeting("a", 500*24*hour), isCancelled), now); !at.IsZero() {
		t.Errorf("it is planned again at %v", at)
	}
}

// The instances of a series that is replaced are written for its next event once.
func TestPlan_SeriesIsReplaced_ExceptionWaitsForTheNext(t *testing.T) {
	t.Parallel()
	s := written(situation(series, moved), newCalendars())
	for i := range s.Mirrors {
		if s.Mirrors[i].SeriesMirrorID == "" {
			s.Mirrors[i].State, s.Mirrors[i].Replacing, s.Mirrors[i].Due = mirror.Deleting, true, now
		}
	}
	s, _ = applied(s)
	wanted := of(s, moved, "home").Wanted
	for i, m := range s.Mirrors {
		if m.SeriesMirrorID == "" {
			s.Mirrors[i], _ = plan.Deleted(m, now)
		}
	}
	s, _ = applied(s)
	if got := of(s, moved, "home").Wanted; got != wanted || wanted == "" {
		t.Errorf("it wants %s, then %s", wanted, got)
	}
}

func TestPlan_NativeCopy_InWhateverIsThePrimary(t *testing.T) {
	t.Parallel()
	a := meeting("a", hour)
	for name, row := range map[string]struct {
		calendar, primary string
		want              mirror.State
	}{
		"by its id":             {"home@x", "home@x", mirror.Covered},
		"in capitals":           {"Home@X", "home@x", mirror.Covered},
		"by the name primary":   {"primary", "home@x", mirror.Covered},
		"the primary unknown":   {"home@x", "", mirror.Covered},
		"in a further calendar": {"team@x", "home@x", mirror.Pending},
	} {
		s := situation(a, invited("n", a, "home", func(e *mirror.Event) { e.CalendarID = row.calendar }))
		account(func(a *plan.Account) { a.PrimaryID = row.primary })(&s)
		s, _ = applied(s)
		if got := of(s, a, "home").State; got != row.want && (row.want != mirror.Covered || got != "") {
			t.Errorf("%s: %q, want %s", name, got, row.want)
		}
	}
}

// Of a series by somebody else, what waits keeps its time, and only new work is put off.
func TestPlan_PacedExceptions_KeepTheirTimes(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(8, "boss@x")
	edit := func(ids ...string) func(s *plan.Situation) {
		return func(s *plan.Situation) {
			for i, e := range s.Events {
				if slices.Contains(ids, e.EventID) {
					s.Events[i] = with(e, func(e *mirror.Event) { e.End.Time = e.End.Time.Add(hour) })
				}
			}
		}
	}
	each := func(change func(m *mirror.Mirror)) func(s *plan.Situation) {
		return func(s *plan.Situation) {
			for i := range s.Mirrors {
				if s.Mirrors[i].SeriesMirrorID != "" {
					change(&s.Mirrors[i])
				}
			}
		}
	}
	var lines []string
	for _, c := range []struct {
		name    string
		changes []func(s *plan.Situation)
	}{
		{"nothing", nil},
		{"three are edited", []func(s *plan.Situation){edit("x4", "x5", "x6")}},
		{
			"after two were written",
			[]func(s *plan.Situation){each(func(m *mirror.Mirror) { m.LastWrite = now.Add(-time.Minute) }), edit("x4", "x5")},
		},
		{"after a step", []func(s *plan.Situation){each(func(m *mirror.Mirror) { m.LastWrite = now.Add(-step) }), edit("x4", "x5", "x6")}},
		{"while others wait", []func(s *plan.Situation){edit("x6"), each(func(m *mirror.Mirror) {
			if m.CanonicalID != "evt_x6" {
				m.State, m.Due, m.NotBefore = mirror.Pending, now.Add(step), now.Add(step)
			}
		})}},
		{"which are hurried", []func(s *plan.Situation){each(func(m *mirror.Mirror) {
			m.State, m.Due, m.NotBefore = mirror.Pending, now, now.Add(step)
		}), edit("x6")}},
		{"which wait longer by a failure", []func(s *plan.Situation){each(func(m *mirror.Mirror) {
			m.State, m.Due, m.NotBefore = mirror.Pending, now.Add(2*step), now.Add(step)
		})}},
		{"while others are due", []func(s *plan.Situation){each(func(m *mirror.Mirror) {
			if m.CanonicalID != "evt_x6" {
				m.State, m.Due = mirror.Pending, now
			}
		}), edit("x6")}},
		{"while others failed", []func(s *plan.Situation){each(func(m *mirror.Mirror) {
			if m.CanonicalID != "evt_x6" {
				m.State, m.Due = mirror.Failed, now.Add(hour)
			}
		}), edit("x6")}},
		{"that waited before", []func(s *plan.Situation){each(func(m *mirror.Mirror) { m.NotBefore = now.Add(-time.Minute) }), edit("x5", "x6")}},
		{"the grant revoked", []func(s *plan.Situation){account(func(a *plan.Account) { a.Usable = false }), edit("x4", "x5", "x6")}},
		{"the edge gone", []func(s *plan.Situation){func(s *plan.Situation) { s.Edges = nil }}},
		{"moved far away and back", []func(s *plan.Situation){func(s *plan.Situation) {
			for i, e := range s.Events {
				if e.EventID == "x3" || e.EventID == "x4" || e.EventID == "x5" {
					s.Events[i] = with(e, func(e *mirror.Event) { e.Start, e.End = at(300*24*hour), at(300*24*hour+hour) })
				} else if e.EventID == "x6" || e.EventID == "x7" {
					s.Events[i] = with(e, func(e *mirror.Event) { e.Start, e.End = at(-3*hour), at(-2*hour) })
				}
			}
		}}},
		{"no primary is known", []func(s *plan.Situation){func(s *plan.Situation) {
			club := s.Accounts["club"]
			club.PrimaryID = ""
			s.Accounts["club"] = club
			for i, e := range s.Events {
				s.Events[i] = with(e, func(e *mirror.Event) { e.Organizer = "" })
			}
		}, edit("x4", "x5", "x6")}},
	} {
		s := written(situation(append(exceptions, master)...), newCalendars())
		for i := range s.Mirrors {
			s.Mirrors[i].LastWrite = now.Add(-hour)
		}
		s.Events = slices.Clone(s.Events)
		s.MostExceptions = 2
		for _, change := range c.changes {
			change(&s)
		}
		lines = append(lines, "# "+c.name)
		for _, next := range plan.Plan(s) {
			for _, was := range s.Mirrors {
				if was.ID == next.ID {
					lines = append(lines, next.CanonicalID[4:]+": "+changes(was, next))
				}
			}
		}
	}
	golden(t, "pace", lines)
}
