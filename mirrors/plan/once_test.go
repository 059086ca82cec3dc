package plan_test

import (
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
)

// invited is the same meeting in another account.
func invited(id string, same mirror.Event, account string, changes ...func(e *mirror.Event)) mirror.Event {
	changes = append([]func(e *mirror.Event){in(account), func(e *mirror.Event) { e.ID = "evt_" + id }}, changes...)
	return with(same, changes...)
}

func organizedBy(name string) func(e *mirror.Event) {
	return func(e *mirror.Event) { e.Organizer = mirror.OrganizerOf(name + "@x") }
}

// later is another time of an event that nobody changed lately, justNow a change of the moment.
func later(e *mirror.Event)   { e.Start, e.End = at(3*hour), at(4*hour) }
func justNow(e *mirror.Event) { e.Updated = now.Add(-time.Minute) }

func copied(e *mirror.Event) { e.EventID = "copy" + e.AccountID }

// Two series with one iCalUID are one meeting only if their rules are, in whatever form.
func TestPlan_SeriesOfOtherRules_AreOtherMeetings(t *testing.T) {
	t.Parallel()
	const rule = "RRULE:FREQ=WEEKLY;BYDAY=MO,TU;UNTIL=20260601T000000Z"
	for name, row := range map[string]struct {
		own, native []string
		want        mirror.State
	}{
		"equal":             {[]string{rule}, []string{rule}, mirror.Covered},
		"in another order":  {[]string{rule}, []string{"RRULE:UNTIL=20260601T000000Z;FREQ=WEEKLY;BYDAY=TU,MO"}, mirror.Covered},
		"in lower case":     {[]string{rule}, []string{"rrule:freq=weekly;byday=mo,tu;until=20260601t000000z "}, mirror.Covered},
		"with what is so":   {[]string{rule}, []string{rule + ";INTERVAL=1;WKST=MO"}, mirror.Covered},
		"ends earlier":      {[]string{rule}, []string{"RRULE:FREQ=WEEKLY;BYDAY=MO,TU;UNTIL=20260401T000000Z"}, mirror.Pending},
		"without an end":    {[]string{rule}, []string{"RRULE:FREQ=WEEKLY;BYDAY=MO,TU"}, mirror.Pending},
		"on other days":     {[]string{rule}, []string{"RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20260601T000000Z"}, mirror.Pending},
		"every second":      {[]string{rule}, []string{rule + ";INTERVAL=2"}, mirror.Pending},
		"another first day": {[]string{rule + ";INTERVAL=2"}, []string{rule + ";INTERVAL=2;WKST=SU"}, mirror.Pending},
		"without a date":    {[]string{rule}, []string{rule, "EXDATE:20260309T130000Z"}, mirror.Pending},
		"dates in any order": {
			[]string{rule, "EXDATE:20260309T130000Z,20260316T130000Z"}, []string{"EXDATE:20260316T130000Z,20260309T130000Z", rule},
			mirror.Covered,
		},
		"dates of other zone": {
			[]string{rule, "EXDATE;TZID=UTC:20260309T130000"}, []string{rule, "EXDATE;TZID=Asia/Tokyo:20260309T130000"},
			mirror.Pending,
		},
	} {
		a := with(meeting("a", hour), organizedBy("ben"), func(e *mirror.Event) { e.Recurrence = row.own })
		native := invited("n", a, "home", copied, func(e *mirror.Event) { e.Recurrence = row.native })
		s, _ := applied(situation(a, native))
		if got := of(s, a, "home").State; got != row.want {
			t.Errorf("%s: the mirror is %s, want %s", name, got, row.want)
		}
	}
}

// Anybody can copy an iCalUID: it covers nothing unless organizer, start and end agree.
func TestPlan_ACopiedICalUID_CoversNothing(t *testing.T) {
	t.Parallel()
	a := with(meeting("a", hour), organizedBy("ben"))
	native := func(changes ...func(e *mirror.Event)) []mirror.Event {
		return []mirror.Event{a, invited("n", a, "home", changes...)}
	}
	longer := func(e *mirror.Event) { e.End = at(3 * hour) }
	for name, row := range map[string]struct {
		events []mirror.Event
		want   wantStates
	}{
		"the same meeting":                     {native(), wantStates{"a>home": mirror.Covered}},
		"in a calendar that home only reads":   {native(func(e *mirror.Event) { e.CalendarID = "work@x" }), wantStates{"a>home": mirror.Active}},
		"under another id":                     {native(copied), wantStates{"a>home": mirror.Covered}},
		"of another organizer":                 {native(organizedBy("eve")), wantStates{"a>home": mirror.Active}},
		"of another organizer, just changed":   {native(organizedBy("eve"), justNow, later), wantStates{"a>home": mirror.Active}},
		"of an unknown organizer":              {native(func(e *mirror.Event) { e.Organizer = "" }), wantStates{"a>home": mirror.Covered}},
		"of an unknown organizer, later":       {native(func(e *mirror.Event) { e.Organizer = "" }, later), wantStates{"a>home": mirror.Active}},
		"later":                                {native(later), wantStates{"a>home": mirror.Active}},
		"longer":                               {native(longer), wantStates{"a>home": mirror.Active}},
		"a series":                             {native(weekly), wantStates{"a>home": mirror.Active}},
		"a day":                                {native(allDay), wantStates{"a>home": mirror.Active}},
		"later, just changed":                  {native(later, justNow), wantStates{"a>home": mirror.Covered}},
		"later, just changed, under an own id": {native(later, justNow, copied), wantStates{"a>home": mirror.Active}},
		"later, in another calendar": {
			[]mirror.Event{a, invited("b", a, "club", later)}, wantStates{"a>home": mirror.Active, "b>home": mirror.Active},
		},
		"of another organizer there": {
			[]mirror.Event{a, invited("b", a, "club", organizedBy("eve"))},
			wantStates{"a>home": mirror.Active, "b>home": mirror.Active},
		},
		"beside the real one": {
			append(native(), invited("b", a, "home", copied, later), invited("c", a, "club", later)),
			wantStates{"a>home": mirror.Covered, "c>home": mirror.Covered},
		},
	} {
		s := situation(row.events...)
		s.Edges = append(s.Edges, edge("club", "home", mirror.Busy))
		s, _ = applied(s)
		s = newCalendars().write(s)
		t.Run(name, func(t *testing.T) { t.Parallel(); expect(t, s, row.want) })
	}
}

func allDay(e *mirror.Event) {
	day := e.Start.Time
	e.Start, e.End = recurrence.Moment{Date: day.Format(time.DateOnly)}, recurrence.Moment{Date: day.AddDate(0, 0, 1).Format(time.DateOnly)}
}

// The copies of a meeting that was just moved agree until both calendars should have been
// synced.
func TestDisagreeAt_CopiesThatDiffer_TenMinutesAfterTheChange(t *testing.T) {
	t.Parallel()
	a, changed := with(meeting("a", hour), organizedBy("ben")), now.Add(9*time.Minute)
	other := with(invited("n", a, "home", later, justNow), weekly)
	x, late := exception("x", series, justNow), invited("t", series, "club")
	for name, row := range map[string]struct {
		event, other mirror.Event
		now, want    time.Time
	}{
		"a moved copy":             {a, invited("n", a, "home", later, justNow), now, changed},
		"the moved copy itself":    {invited("n", a, "home", later, justNow), a, now, changed},
		"a copy that recurs":       {a, other, now, changed},
		"after that":               {a, invited("n", a, "home", later, justNow), changed, time.Time{}},
		"a copy that agrees":       {a, invited("n", a, "home", justNow), now, time.Time{}},
		"of another organizer":     {a, invited("n", a, "home", later, justNow, organizedBy("eve")), now, time.Time{}},
		"another event":            {a, with(invited("n", a, "home", later, justNow), copied), now, time.Time{}},
		"another meeting":          {a, with(meeting("b", hour), later, justNow), now, time.Time{}},
		"an exception, elsewhere":  {x, late, now, changed},
		"an exception, its series": {x, series, now, time.Time{}},
		"an exception that agrees": {x, exception("tx", late, justNow), now, time.Time{}},
	} {
		if got := plan.DisagreeAt(row.event, []mirror.Event{row.event, row.other}, row.now); !got.Equal(row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
	if got := plan.DisagreeAt(x, []mirror.Event{x, late, exception("tx", late)}, now); !got.IsZero() {
		t.Errorf("an exception that the other calendar has too: %v", got)
	}
}

func groupEvent(changes ...func(e *mirror.Event)) mirror.Event {
	return with(meeting("g", hour), append([]func(e *mirror.Event){func(e *mirror.Event) {
		e.OwnerID, e.Source, e.GroupID, e.ICalUID = "ben", mirror.SourceGroup, "group", e.ID
		e.AccountID, e.CalendarID, e.EventID = "", "", ""
	}}, changes...)...)
}

func sharedBy(owner string) func(e *mirror.Event) {
	return func(e *mirror.Event) {
		e.OwnerID, e.GroupID, e.Source, e.PollID = owner, "group", mirror.SourcePoll, "poll"
	}
}

func TestPlan_OncePerCalendar(t *testing.T) {
	t.Parallel()
	a := meeting("a", hour)
	toHome := []mirror.Edge{edge("work", "home", mirror.Busy), edge("club", "home", mirror.Full)}
	for name, row := range map[string]struct {
		events      []mirror.Event
		edges       []mirror.Edge
		connections []string
		want        wantStates
	}{
		"a native copy covers": {[]mirror.Event{a, invited("n", a, "home")}, toHome, nil, wantStates{"a>home": mirror.Covered}},
		"a declined native copy does not": {
			[]mirror.Event{a, invited("n", a, "home", declined)}, toHome, nil, wantStates{"a>home": mirror.Active},
		},
		"a cancelled one does not": {
			[]mirror.Event{a, invited("n", a, "home", isCancelled)}, toHome, nil, wantStates{"a>home": mirror.Active},
		},
		"another meeting does not": {
			[]mirror.Event{a, with(meeting("b", hour), in("home"))}, toHome, nil, wantStates{"a>home": mirror.Active},
		},
		"the lowest of two counts": {
			[]mirror.Event{invited("b", a, "club"), a}, toHome, nil, wantStates{"a>home": mirror.Active, "b>home": mirror.Covered},
		},
		"the next if it is declined": {
			[]mirror.Event{invited("b", a, "club"), with(a, declined)}, toHome, nil, wantStates{"b>home": mirror.Active},
		},
		"a group's event": {
			[]mirror.Event{groupEvent()}, nil, []string{"home", "work"},
			wantStates{"g>home": mirror.Active, "g>work": mirror.Active},
		},
		"a group's event, not connected": {[]mirror.Event{groupEvent()}, toHome, nil, wantStates{}},
		"one's own group's event": {
			[]mirror.Event{groupEvent(func(e *mirror.Event) { e.OwnerID = "ana" })}, nil, []string{"home"},
			wantStates{"g>home": mirror.Active},
		},
		"edges lead a group's event on": {
			[]mirror.Event{groupEvent()}, toHome, []string{"work"}, wantStates{"g>work": mirror.Active, "g>home": mirror.Active},
		},
		"a shared session of somebody": {
			[]mirror.Event{with(a, sharedBy("ben"))}, nil, []string{"home"}, wantStates{"a>home": mirror.Active},
		},
		"a session that its organiser declined": {
			[]mirror.Event{with(a, sharedBy("ben"), declined)}, nil, []string{"home"}, wantStates{"a>home": mirror.Active},
		},
		"its native copy covers": {
			[]mirror.Event{with(a, sharedBy("ben")), invited("n", a, "home")}, nil, []string{"home"},
			wantStates{"a>home": mirror.Covered},
		},
		"one's own, connected elsewhere": {
			[]mirror.Event{with(a, sharedBy("ana"))}, nil, []string{"work", "home"}, wantStates{"a>home": mirror.Active},
		},
		"a group copy beats a lower mirror": {
			[]mirror.Event{invited("z", a, "work", sharedBy("ben")), invited("b", a, "club")}, toHome, []string{"home"},
			wantStates{"z>home": mirror.Active, "b>home": mirror.Covered},
		},
	} {
		s := situation(row.events...)
		s.Edges = row.edges
		for _, account := range row.connections {
			s.Connections = append(s.Connections, mirror.Connection{GroupID: "group", AccountID: account, OwnerID: "ana"})
		}
		s, _ = applied(s)
		s = newCalendars().write(s)
		t.Run(name, func(t *testing.T) { t.Parallel(); expect(t, s, row.want) })
	}
}

func TestPlan_Connection_BeatsAnEdgeAndShowsEverything(t *testing.T) {
	t.Parallel()
	s := situation(groupEvent())
	s.Connections = []mirror.Connection{
		{GroupID: "group", AccountID: "work", OwnerID: "ana"}, {GroupID: "group", AccountID: "home", OwnerID: "ana"},
		{GroupID: "group", AccountID: "club", OwnerID: "ben"}, {GroupID: "other", AccountID: "club", OwnerID: "ana"},
	}
	s, planned := applied(s)
	if m := of(s, s.Events[0], "home"); len(planned) != 2 || m.Detail != mirror.Full || m.Target != mirror.PrimaryTarget ||
		m.TargetCalendarID != "home@x" || m.GroupID != "group" || m.FromAccountID != "" {
		t.Errorf("planned are %+v", planned)
	}
	s.Connections = s.Connections[:1]
	s, _ = applied(s)
	if m := of(s, s.Events[0], "home"); m.Detail != mirror.Busy || m.Target != mirror.Overlay || m.GroupID != "group" {
		t.Errorf("disconnected, home has %+v", m)
	}
	s.Connections = nil
	s, _ = applied(newCalendars().write(s))
	expect(t, s, wantStates{"g>home": mirror.Deleting, "g>work": mirror.Deleting})
}

func TestPlan_EdgesOfTwoConnectedAccounts_LeastDetailCounts(t *testing.T) {
	t.Parallel()
	s := situation(groupEvent())
	s.Edges = []mirror.Edge{edge("work", "club", mirror.Full), edge("home", "club", mirror.Busy)}
	s.Connections = []mirror.Connection{
		{GroupID: "group", AccountID: "work", OwnerID: "ana"}, {GroupID: "group", AccountID: "home", OwnerID: "ana"},
	}
	s, _ = applied(s)
	if of(s, s.Events[0], "club").Detail != mirror.Busy {
		t.Errorf("it is %+v", of(s, s.Events[0], "club"))
	}
}

func TestPlan_CopyGoes_CoveredIsDecidedAgain(t *testing.T) {
	t.Parallel()
	a := meeting("a", hour)
	native := invited("n", a, "home")
	google := newCalendars()
	s, _ := applied(situation(a))
	s = google.write(s)
	for _, step := range []struct {
		name   string
		events []mirror.Event
		want   mirror.State
		live   int
	}{
		{"it appears", []mirror.Event{a, native}, mirror.Covered, 0},
		{"it is declined", []mirror.Event{a, with(native, declined)}, mirror.Active, 1},
		{"it is accepted", []mirror.Event{a, native}, mirror.Covered, 0},
		{"it goes", []mirror.Event{a}, mirror.Active, 1},
	} {
		s.Events = step.events
		s, _ = applied(s)
		s = google.write(s)
		if m := of(s, a, "home"); m.State != step.want || len(google.live()) != step.live {
			t.Errorf("%s: the mirror is %+v, the calendars show %v", step.name, m, google.live())
		}
	}
}

func TestPlan_LeftAloneWinner_StillCoversOthers(t *testing.T) {
	t.Parallel()
	a := meeting("a", hour)
	s := situation(a, invited("b", a, "club"))
	s.Edges = append(s.Edges, edge("club", "home", mirror.Busy))
	s, _ = applied(s)
	s = newCalendars().write(s)
	for i, m := range s.Mirrors {
		if m.CanonicalID == a.ID {
			s.Mirrors[i].State = mirror.Suppressed
		}
	}
	s, planned := applied(s)
	if len(planned) > 0 {
		t.Errorf("planned are %+v", planned)
	}
	expect(t, s, wantStates{"a>home": mirror.Suppressed, "b>home": mirror.Covered})
}

func TestPlan_LeftDeleted_StaysSoAfterANativeCopyWent(t *testing.T) {
	t.Parallel()
	a := meeting("a", hour)
	s, _ := applied(situation(a))
	s = newCalendars().write(s)
	s.Mirrors[0].State = mirror.Suppressed
	for _, events := range [][]mirror.Event{{a, invited("n", a, "home")}, {a}} {
		s.Events = events
		s, _ = applied(s)
		expect(t, s, wantStates{"a>home": mirror.Suppressed})
	}
}

func TestPlan_OverlayThatItsOwnerDeleted_LeavesTheMeetingToAnotherEdge(t *testing.T) {
	t.Parallel()
	a := meeting("a", hour)
	s := situation(a, invited("b", a, "club"))
	s.Edges = []mirror.Edge{edge("work", "home", mirror.Busy), edge("club", "home", mirror.Busy)}
	s.Edges[1].Target = mirror.PrimaryTarget
	google := newCalendars()
	s, _ = applied(s)
	s = google.write(s)
	expect(t, s, wantStates{"a>home": mirror.Active, "b>home": mirror.Covered})
	home := s.Accounts["home"]
	home.Overlay = mirror.OverlayCalendar{Suppressed: true, Generation: 1}
	s.Accounts["home"] = home
	s, _ = applied(s)
	s = google.write(s)
	if m := of(s, s.Events[1], "home"); m.State != mirror.Active || m.TargetCalendarID != "home@x" {
		t.Errorf("it is %+v", m)
	}
}

func TestPlan_DeletedOverlay_LeavesOccurrenceToAnotherEdge(t *testing.T) {
	t.Parallel()
	other := invited("t", series, "club", declined)
	loose := exception("tx", other, func(e *mirror.Event) { e.ID, e.Declined = "evt_tx", false })
	for name, events := range map[string][]mirror.Event{
		"by the rule":     {series, other, with(loose, renamed)},
		"by an exception": {series, moved, other, loose},
	} {
		s := situation(events...)
		s.Edges = append(s.Edges, edge("club", "home", mirror.Busy))
		s.Edges[1].Target = mirror.PrimaryTarget
		home := s.Accounts["home"]
		home.Overlay = mirror.OverlayCalendar{Suppressed: true, Generation: 1}
		s.Accounts["home"] = home
		s = written(s, newCalendars())
		if m := of(s, loose, "home"); m.State != mirror.Active || m.TargetCalendarID != "home@x" {
			t.Errorf("%s: it is %+v", name, m)
		}
	}
}
