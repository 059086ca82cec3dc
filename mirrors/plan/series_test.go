package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

var (
	series   = with(meeting("s", hour), weekly, organizedBy("ana"))
	moved    = exception("x", series)
	written  = func(s plan.Situation, google *calendars) plan.Situation { s, _ = applied(s); return google.write(s) }
	instance = "_" + moved.OriginalStart.String()
)

func TestPlan_Series(t *testing.T) {
	t.Parallel()
	other := invited("t", series, "club")
	otherMoved := exception("tx", other, func(e *mirror.Event) { e.ID = "evt_tx" })
	native := invited("n", series, "home")
	team := func(e *mirror.Event) { e.CalendarID = "team@x" }
	without := func(e *mirror.Event) { e.Recurrence = append(e.Recurrence, "EXDATE:20260308T130000Z") }
	for name, row := range map[string]struct {
		events []mirror.Event
		want   wantStates
		// alone lists events that are shown by events of their own, cancelled those whose
		// instance is cancelled.
		alone, cancelled []string
	}{
		"with an exception": {
			[]mirror.Event{moved, series}, wantStates{"s>home": mirror.Active, "x>home": mirror.Active}, []string{"s"}, nil,
		},
		"a cancelled exception": {
			[]mirror.Event{series, with(moved, isCancelled)}, wantStates{"s>home": mirror.Active, "x>home": mirror.Active},
			[]string{"s"}, []string{"x"},
		},
		"a declined exception": {
			[]mirror.Event{series, with(moved, declined)}, wantStates{"s>home": mirror.Active, "x>home": mirror.Active},
			[]string{"s"}, []string{"x"},
		},
		"a free exception": {
			[]mirror.Event{series, with(moved, free)}, wantStates{"s>home": mirror.Active, "x>home": mirror.Active}, []string{"s"},
			[]string{"x"},
		},
		"an exception far away": {
			[]mirror.Event{series, with(moved, func(e *mirror.Event) { e.Start, e.End = at(500*24*hour), at(501*24*hour) })},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active}, []string{"s"}, nil,
		},
		"an exception whose series is not known": {[]mirror.Event{moved}, wantStates{"x>home": mirror.Active}, []string{"x"}, nil},
		"cancelled, the series is not known":     {[]mirror.Event{with(moved, isCancelled)}, wantStates{}, nil, nil},
		"an exception of a declined series": {
			[]mirror.Event{with(series, declined), moved}, wantStates{"x>home": mirror.Active}, []string{"x"}, nil,
		},
		"a native copy of the series": {
			[]mirror.Event{series, moved, native}, wantStates{"s>home": mirror.Covered, "x>home": mirror.Active}, []string{"x"},
			nil,
		},
		"that was not synced yet": {
			[]mirror.Event{series, with(moved, justNow), native}, wantStates{"s>home": mirror.Covered, "x>home": mirror.Covered},
			nil, nil,
		},
		"whose exception agrees": {
			[]mirror.Event{series, moved, native, exception("nx", native)},
			wantStates{"s>home": mirror.Covered, "x>home": mirror.Covered}, nil, nil,
		},
		"that an exception leaves where it is": {
			[]mirror.Event{series, with(moved, renamed), native}, wantStates{"s>home": mirror.Covered, "x>home": mirror.Covered},
			nil, nil,
		},
		"of another organizer": {
			[]mirror.Event{series, moved, with(native, organizedBy("eve")), exception("nx", native, organizedBy("eve"))},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active}, []string{"s"}, nil,
		},
		"whose exception is declined": {
			[]mirror.Event{series, moved, native, exception("nx", native, declined)},
			wantStates{"s>home": mirror.Covered, "x>home": mirror.Active}, []string{"x"}, nil,
		},
		"a native copy of one date": {
			[]mirror.Event{series, moved, exception("nx", native)}, wantStates{"s>home": mirror.Active, "x>home": mirror.Active},
			[]string{"s"}, []string{"x"},
		},
		"two origins": {
			[]mirror.Event{series, moved, other, otherMoved},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Covered, "tx>home": mirror.Covered},
			[]string{"s"}, nil,
		},
		"two origins, free in the first alone": {
			[]mirror.Event{series, with(moved, renamed, free), other},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Covered}, []string{"s"}, nil,
		},
		"which the second may follow": {
			[]mirror.Event{series, with(moved, renamed, free, justNow), other},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Covered}, []string{"s"}, []string{"x"},
		},
		"two origins, free in both": {
			[]mirror.Event{series, with(moved, free), other, with(otherMoved, free)},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Covered}, []string{"s"}, []string{"x"},
		},
		"two origins, free on a date that neither has": {
			[]mirror.Event{with(series, without), with(moved, renamed, free), with(other, without)},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Covered}, []string{"s"}, []string{"x"},
		},
		"a native copy, removed on one date": {
			[]mirror.Event{series, native, exception("nx", native, renamed, isCancelled)},
			wantStates{"s>home": mirror.Covered, "nx>home": mirror.Active}, []string{"nx"}, nil,
		},
		"a native copy, removed on one date, of a series that was changed since": {
			[]mirror.Event{with(series, justNow), native, exception("nx", native, renamed, isCancelled)},
			wantStates{"s>home": mirror.Covered, "nx>home": mirror.Active}, []string{"nx"}, nil,
		},
		"which the other may follow": {
			[]mirror.Event{series, native, exception("nx", native, renamed, isCancelled, justNow)},
			wantStates{"s>home": mirror.Covered}, nil, nil,
		},
		"a native copy, removed on a date that neither has": {
			[]mirror.Event{with(series, without), with(native, without), exception("nx", native, isCancelled)},
			wantStates{"s>home": mirror.Covered}, nil, nil,
		},
		"two origins, an exception in the second": {
			[]mirror.Event{series, other, otherMoved},
			wantStates{"s>home": mirror.Active, "t>home": mirror.Covered, "tx>home": mirror.Active}, []string{"s", "tx"}, nil,
		},
		"which the first may lack yet": {
			[]mirror.Event{series, other, with(otherMoved, justNow)},
			wantStates{"s>home": mirror.Active, "t>home": mirror.Covered, "tx>home": mirror.Covered}, []string{"s"}, nil,
		},
		"two origins, declined in the first alone": {
			[]mirror.Event{series, with(moved, declined), other, otherMoved},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Covered, "tx>home": mirror.Active},
			[]string{"s", "tx"}, []string{"x"},
		},
		"of another time, whose exception agrees": {
			[]mirror.Event{series, moved, with(native, later), exception("nx", native)},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active}, []string{"s"}, []string{"x"},
		},
		"of another time, whose rule has it not": {
			[]mirror.Event{series, with(moved, renamed), with(native, later)},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active}, []string{"s"}, nil,
		},
		"declined, as is the other": {
			[]mirror.Event{with(series, declined), moved, with(native, declined, later), exception("nx", native)},
			wantStates{"x>home": mirror.Covered}, nil, nil,
		},
		"whose exception is another organizer's": {
			[]mirror.Event{series, moved, with(native, later), exception("nx", native, organizedBy("eve"))},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active}, []string{"s"}, nil,
		},
		"two origins of other times, whose exceptions agree": {
			[]mirror.Event{series, moved, with(other, later), otherMoved},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Active, "tx>home": mirror.Active},
			[]string{"s", "t"}, []string{"tx"},
		},
		"two origins of other times, with exceptions of other times": {
			[]mirror.Event{series, moved, with(other, later), with(otherMoved, renamed)},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Active, "tx>home": mirror.Active}, []string{"s", "t"}, nil,
		},
		"one calendar in two accounts": {
			[]mirror.Event{with(series, team), with(moved, team), with(other, team), with(otherMoved, team)},
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active, "t>home": mirror.Covered, "tx>home": mirror.Covered}, []string{"s"}, nil,
		},
	} {
		s := situation(row.events...)
		s.Edges = append(s.Edges, edge("club", "home", mirror.Busy))
		for _, from := range []string{"work", "club"} {
			e := edge(from, "home", mirror.Busy)
			e.FromCalendarID = "team@x"
			s.Edges = append(s.Edges, e)
		}
		google := newCalendars()
		s = written(s, google)
		expectNamed(t, name, s, row.want)
		for _, m := range s.Mirrors {
			id := m.CanonicalID[4:]
			if isAlone := m.EventID != "" && m.SeriesMirrorID == ""; isAlone != slices.Contains(row.alone, id) {
				t.Errorf("%s: %s has an event of its own: %t", name, id, isAlone)
			}
			if isCancelled := strings.HasPrefix(m.Written, "cancelled."); isCancelled != slices.Contains(row.cancelled, id) {
				t.Errorf("%s: the instance of %s is cancelled: %t", name, id, isCancelled)
			}
		}
	}
}

// An occurrence that one calendar gave up is in the place of the series' mirror, as another calendar of
// the person's has it, and as its edge shows it.
func TestPlan_OccurrenceGivenUp_IsShownAsTheOtherHasIt(t *testing.T) {
	t.Parallel()
	other := invited("t", series, "club", func(e *mirror.Event) { e.Title = "Meeting" })
	intoPrimary, titled := edge("work", "home", mirror.Busy), edge("club", "home", mirror.Title)
	intoPrimary.Target = mirror.PrimaryTarget
	suppressed := func(s *plan.Situation) {
		home := s.Accounts["home"]
		home.Overlay.Suppressed = true
		s.Accounts["home"] = home
	}
	for name, row := range map[string]struct {
		edges  []mirror.Edge
		change func(s *plan.Situation)
		title  string // "" if it is cancelled
	}{
		"by its edge":                   {[]mirror.Edge{edge("work", "home", mirror.Busy), titled}, func(*plan.Situation) {}, "Meeting"},
		"by an edge into another":       {[]mirror.Edge{intoPrimary, titled}, func(*plan.Situation) {}, "Meeting"},
		"by an edge into a deleted one": {[]mirror.Edge{intoPrimary, titled}, suppressed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, google := with(moved, renamed, free), newCalendars()
			s := situation(series, x, other)
			s.Edges = row.edges
			row.change(&s)
			s = written(s, google)
			m, master := of(s, x, "home"), of(s, series, "home")
			shown := google.events[master.TargetCalendarID+"/"+master.EventID+instance]
			if master.State != mirror.Active || m.State != mirror.Active || m.SeriesMirrorID != master.ID || shown.Details == nil ||
				(shown.EventState == rules.Gone) != (row.title == "") || shown.Details.Summary != row.title {
				t.Errorf("the series is %+v, the occurrence %+v: %+v", master, m, shown)
			}
			if again := plan.Plan(s); len(again) > 0 {
				t.Errorf("planned again are %+v", again)
			}
		})
	}
}

// An event that became a series in one calendar, and is none yet in another that was not synced since,
// has no other occurrences: its mirror would be planned and forgotten by turns.
func TestPlan_OccurrenceGivenUp_IsNotShownByAnEventThatIsNoSeries(t *testing.T) {
	t.Parallel()
	native := invited("n", series, "home", justNow)
	single := with(series, func(e *mirror.Event) { e.Recurrence = nil })
	s := situation(native, exception("nx", native, isCancelled, func(e *mirror.Event) { e.Updated = time.Time{} }), single)
	expect(t, written(s, newCalendars()), wantStates{"s>home": mirror.Covered})
}

// Of two series of the other calendar, one of which was cancelled, a mirror shows the one that was planned.
func TestInPlaceOf_OneOfTwoSeries_IsThePlannedOne(t *testing.T) {
	t.Parallel()
	native := invited("n", series, "home")
	x := exception("nx", native, isCancelled)
	gone := with(series, isCancelled, func(e *mirror.Event) { e.ID, e.EventID = "evt_gone", "gone" })
	early := with(series, later, func(e *mirror.Event) { e.ID, e.EventID = "evt_early", "early" })
	s := written(situation(native, x, series), newCalendars())
	m := of(s, x, "home")
	for name, events := range map[string][]mirror.Event{
		"alone": {series}, "behind a cancelled one": {gone, series}, "behind another": {early, series}, "before another": {series, early},
	} {
		if one, found := plan.InPlaceOf(m, x, events); !found || !one.Start.Equal(x.OriginalStart) {
			t.Errorf("%s: found %t: %+v", name, found, one)
		}
	}
	if one, found := plan.InPlaceOf(m, x, []mirror.Event{native, gone}); found {
		t.Errorf("found %+v", one)
	}
}

// The writer finds the person's own series alone, so that another one's of a group is left out.
func TestPlan_OccurrenceOfAGroupGivenUp_IsLeftOut(t *testing.T) {
	t.Parallel()
	native := invited("n", series, "home")
	groups := invited("t", series, "", func(e *mirror.Event) { e.OwnerID, e.GroupID, e.AccountID, e.CalendarID = "ben", "group", "", "" })
	s := situation(groups, native, exception("nx", native, renamed, isCancelled))
	s.Connections = []mirror.Connection{{GroupID: "group", AccountID: "home", OwnerID: "ana"}}
	expect(t, written(s, newCalendars()), wantStates{"t>home": mirror.Covered})
}

// renamed is an exception at the time that the rule has.
func renamed(e *mirror.Event) {
	e.Title, e.End.Time = "Retrospective", e.OriginalStart.Time.Add(hour)
	e.Start = e.OriginalStart
}

func expectNamed(t *testing.T, name string, s plan.Situation, want wantStates) {
	t.Helper()
	t.Run(name, func(t *testing.T) { t.Parallel(); expect(t, s, want) })
}

func TestPlan_PutsASeriesBeforeItsExceptions(t *testing.T) {
	t.Parallel()
	for range 20 {
		planned := plan.Plan(situation(exception("a", series), series, exception("z", series)))
		if len(planned) != 3 || planned[0].CanonicalID != series.ID {
			t.Fatalf("planned are %+v", planned)
		}
	}
}

func TestReady_AfterTheSeries(t *testing.T) {
	t.Parallel()
	s := written(situation(series, moved), newCalendars())
	m, of := of(s, moved, "home"), of(s, series, "home")
	waiting := func(change func(m *mirror.Mirror)) *mirror.Mirror { c := of; change(&c); return &c }
	for name, row := range map[string]struct {
		m, series *mirror.Mirror
		want      bool
	}{
		"no exception":            {&of, nil, true},
		"the series is written":   {&m, &of, true},
		"it is contested":         {&m, waiting(func(m *mirror.Mirror) { m.State = mirror.Contested }), true},
		"it is pending":           {&m, waiting(func(m *mirror.Mirror) { m.State = mirror.Pending }), false},
		"it is being replaced":    {&m, waiting(func(m *mirror.Mirror) { m.State, m.Replacing = mirror.Deleting, true }), false},
		"it does not exist":       {&m, nil, false},
		"the exception's removal": {&mirror.Mirror{SeriesMirrorID: of.ID, State: mirror.Deleting}, nil, true},
	} {
		if got := plan.Ready(*row.m, row.series); got != row.want {
			t.Errorf("%s: Ready is %t", name, got)
		}
	}
}

func TestPlan_SeriesChanges_ExceptionsAreWrittenAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(e *mirror.Event)
		again  bool
	}{
		"rule":         {func(e *mirror.Event) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=20"} }, true},
		"start":        {func(e *mirror.Event) { e.Start = at(90 * time.Minute) }, true},
		"zone":         {func(e *mirror.Event) { e.Start.Zone = "Asia/Tokyo" }, true},
		"end":          {func(e *mirror.Event) { e.End = at(3 * hour) }, false},
		"title (BUSY)": {func(e *mirror.Event) { e.Title = "New" }, false},
	} {
		google := newCalendars()
		s := written(situation(series, moved), google)
		s.Events = []mirror.Event{with(series, row.change), moved}
		s, _ = applied(s)
		if m := of(s, moved, "home"); (m.State == mirror.Pending && m.EventID == "" && m.Written == "") != row.again ||
			m.State == mirror.Active == row.again {
			t.Errorf("another %s: the exception's mirror is %+v", name, m)
		}
		s = google.write(s)
		if of(s, moved, "home").State != mirror.Active {
			t.Errorf("another %s: the mirrors end as %v", name, states(s))
		}
	}
}

func TestPlan_SeriesGoes_ItsExceptionsGoWithIt(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := written(situation(series, moved), google)
	s.Events = []mirror.Event{with(series, isCancelled), with(moved, isCancelled)}
	s, _ = applied(s)
	if m := of(s, moved, "home"); m.State != mirror.Deleting || m.EventID != "" {
		t.Errorf("the exception's mirror is %+v", m)
	}
	s = google.write(s)
	if len(s.Mirrors) > 0 || len(google.live()) > 0 {
		t.Errorf("left are %v and %v", s.Mirrors, google.live())
	}
}

func TestPlan_ExceptionGoes_InstanceIsDeleted(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := written(situation(series, moved), google)
	s.Events = []mirror.Event{series}
	s = written(s, google)
	expect(t, s, wantStates{"s>home": mirror.Active})
	if live := google.live(); len(live) != 1 {
		t.Errorf("the calendars show %v", live)
	}
}

func TestPlan_SeriesBecomesKnown_SingleEventBecomesItsInstance(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := written(situation(moved), google)
	s.Events = []mirror.Event{series, moved}
	s = written(s, google)
	expect(t, s, wantStates{"s>home": mirror.Active, "x>home": mirror.Active})
	master := of(s, series, "home")
	if live := google.live(); len(live) != 2 || live[0] != "home-overlay/"+master.EventID || live[1] != live[0]+instance {
		t.Errorf("the calendars show %v", live)
	}
}

// Until its own event is deleted, the mirror of an exception names that and no instance, whatever
// else is decided.
func TestPlan_OwnEventToBeReplaced_IsDeletedAnyway(t *testing.T) {
	t.Parallel()
	inPrimary := edge("work", "home", mirror.Busy)
	inPrimary.Target = mirror.PrimaryTarget
	for name, row := range map[string]struct {
		change func(s *plan.Situation)
		want   wantStates
	}{
		"nothing else":  {func(*plan.Situation) {}, wantStates{"s>home": mirror.Active, "x>home": mirror.Active}},
		"the edge goes": {func(s *plan.Situation) { s.Edges = nil }, wantStates{}},
		"the edge leads elsewhere": {
			func(s *plan.Situation) { s.Edges[0] = inPrimary }, wantStates{"s>home": mirror.Active, "x>home": mirror.Active},
		},
		"the series goes":        {func(s *plan.Situation) { s.Events = nil }, wantStates{}},
		"the series is declined": {func(s *plan.Situation) { s.Events[0] = with(series, declined) }, wantStates{"x>home": mirror.Active}},
		"its rule changes": {
			func(s *plan.Situation) { s.Events[0].Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=20"} },
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active},
		},
		"the account shows it itself": {
			func(s *plan.Situation) { s.Events = append(s.Events, invited("n", series, "home")) },
			wantStates{"s>home": mirror.Covered, "x>home": mirror.Active},
		},
		"the occurrence is cancelled": {
			func(s *plan.Situation) { s.Events[1] = with(moved, isCancelled) },
			wantStates{"s>home": mirror.Active, "x>home": mirror.Active},
		},
	} {
		google := newCalendars()
		s := written(situation(moved), google)
		s.Events = []mirror.Event{series, moved}
		s, _ = applied(s)
		if m := of(s, moved, "home"); plan.Next(m) != plan.Delete || m.EventID == "" || m.SeriesMirrorID != "" {
			t.Errorf("%s: the exception's mirror is %+v", name, m)
		}
		row.change(&s)
		s, _ = applied(s)
		s = written(s, google)
		expectNamed(t, name, s, row.want)
		var want []string
		for _, m := range s.Mirrors {
			if m.EventID != "" && !strings.HasPrefix(m.Wanted, "cancelled") {
				want = append(want, m.TargetCalendarID+"/"+m.EventID)
			}
		}
		slices.Sort(want)
		if live := google.live(); !slices.Equal(live, want) {
			t.Errorf("%s: the calendars show %v, want %v", name, live, want)
		}
	}
}

// personMoves has a person move an instance of the series that has no exception.
func personMoves(google *calendars, master mirror.Mirror, key string) (path string) {
	content := plan.Project(series, mirror.Busy)
	content.Recurrence = nil
	google.put(master.TargetCalendarID, master.EventID+key, content)
	return master.TargetCalendarID + "/" + master.EventID + key
}

func TestObservedInstance_WithoutException_ReplacesTheSeries(t *testing.T) {
	t.Parallel()
	third := exception("f", series) // gives the third occurrence's key below
	third.OriginalStart.Time = third.OriginalStart.Time.Add(7 * 24 * hour)
	for name, isDeleted := range map[string]bool{"moved": false, "deleted": true} {
		google := newCalendars()
		s := written(situation(series, moved), google)
		master := of(s, series, "home")
		path := personMoves(google, master, "_"+third.OriginalStart.String())
		if isDeleted {
			google.delete(master.TargetCalendarID, master.EventID+"_"+third.OriginalStart.String())
		}
		s, verdict := google.observe(s, path)
		if m := of(s, series, "home"); verdict != plan.Drift || !m.Replacing || plan.Next(m) != plan.Delete || len(m.Reverts) != 1 {
			t.Errorf("%s: %s, %+v", name, verdict, m)
		}
		if again, verdict := google.observe(s, path); verdict != plan.Ignored || len(of(again, series, "home").Reverts) != 1 {
			t.Errorf("%s, observed again: %s", name, verdict)
		}
		s = google.write(s)
		next := of(s, series, "home")
		want := []string{"home-overlay/" + next.EventID, "home-overlay/" + next.EventID + instance}
		if next.Generation != 2 || !slices.Equal(google.live(), want) || of(s, moved, "home").State != mirror.Active {
			t.Errorf("%s: the calendars show %v, want %v", name, google.live(), want)
		}
	}
}

func TestObservedInstance_AsTheSeriesHasIt_IsAnEcho(t *testing.T) {
	t.Parallel()
	days := func(e *mirror.Event) {
		e.Start.Date, e.End.Date = "2026-03-02", "2026-03-04"
	}
	for name, event := range map[string]mirror.Event{"timed": series, "all day": with(series, days)} {
		google := newCalendars()
		s := written(situation(event), google)
		master := of(s, event, "home")
		content := plan.Project(event, mirror.Busy)
		content.Recurrence = nil
		key := event.Start.String()
		google.put(master.TargetCalendarID, master.EventID+"_"+key, content)
		if next, verdict := google.observe(s, master.TargetCalendarID+"/"+master.EventID+"_"+key); verdict != plan.Echo ||
			of(next, event, "home").State != mirror.Active {
			t.Errorf("%s: %s", name, verdict)
		}
	}
}

func TestObservedInstance_OfAnExceptionInWriting_IsIgnored(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := written(situation(series), google)
	s.Events = append(s.Events, moved)
	s, _ = applied(s)
	path := personMoves(google, of(s, series, "home"), instance) // or the writer, whose answer was lost
	if s, verdict := google.observe(s, path); verdict != plan.Ignored || of(s, series, "home").State != mirror.Active {
		t.Errorf("%s: %v", verdict, states(s))
	}
}

func TestObservedInstance_OfASeriesThatGoes_IsIgnored(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := written(situation(series), google)
	path := personMoves(google, s.Mirrors[0], instance)
	s.Mirrors[0].State, s.Mirrors[0].Replacing = mirror.Failed, true // its deletion failed five times
	if next, verdict := plan.ObservedInstance(s, s.Mirrors[0], google.events[path]); verdict != plan.Ignored || next.State != mirror.Failed {
		t.Errorf("%s: %+v", verdict, next)
	}
}
