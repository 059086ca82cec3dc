package plan_test

import (
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

type wantStates = map[string]mirror.State

func TestPlan_OfANewEvent_IsAPendingMirror(t *testing.T) {
	t.Parallel()
	e := meeting("a", hour)
	want := mirror.Mirror{
		ID: mirror.IDOf("evt_a", "home"), OwnerID: "ana", CanonicalID: "evt_a", ICalUID: "uid-a",
		FromAccountID: "work", FromCalendarID: "work@x", TargetAccountID: "home", TargetCalendarID: "home-overlay",
		Target: mirror.Overlay, Detail: mirror.Busy, Generation: 1, Wanted: plan.Hash(plan.Project(e, mirror.Busy)),
		State: mirror.Pending, Due: now, Ends: e.Until, CreatedAt: now, UpdatedAt: now,
	}
	if got := plan.Plan(situation(e)); !reflect.DeepEqual(got, []mirror.Mirror{want}) {
		t.Errorf("it is %+v, want %+v", got, want)
	}
}

func TestPlan_WhatIsMirrored(t *testing.T) {
	t.Parallel()
	const days = 24 * hour
	kind := func(kind string) func(e *mirror.Event) { return func(e *mirror.Event) { e.Kind = kind } }
	for name, row := range map[string]struct {
		event  mirror.Event
		detail mirror.Detail
		want   bool
	}{
		"an event":                     {meeting("a", hour), mirror.Busy, true},
		"tentative":                    {with(meeting("a", hour), func(e *mirror.Event) { e.Status = "tentative" }), mirror.Busy, true},
		"declined":                     {with(meeting("a", hour), declined), mirror.Full, false},
		"cancelled":                    {with(meeting("a", hour), isCancelled), mirror.Full, false},
		"free time, BUSY":              {with(meeting("a", hour), free), mirror.Busy, false},
		"free time, TITLE":             {with(meeting("a", hour), free), mirror.Title, false},
		"free time, FULL":              {with(meeting("a", hour), free), mirror.Full, true},
		"free time, FULL, private":     {with(meeting("a", hour), free, private), mirror.Full, false},
		"working location":             {with(meeting("a", hour), kind("workingLocation")), mirror.Full, false},
		"a birthday":                   {with(meeting("a", hour), kind("birthday")), mirror.Full, false},
		"focus time":                   {with(meeting("a", hour), kind("focusTime")), mirror.Full, false},
		"out of office":                {with(meeting("a", hour), kind("outOfOffice")), mirror.Busy, true},
		"from a mail":                  {with(meeting("a", hour), kind("fromGmail")), mirror.Busy, true},
		"ended less than a day ago":    {meeting("a", -24*hour), mirror.Busy, true},
		"ended over a day ago":         {meeting("a", -26*hour), mirror.Busy, false},
		"400 days ahead":               {meeting("a", 400*days-hour), mirror.Busy, true},
		"over 400 days ahead":          {meeting("a", 400*days+hour), mirror.Busy, false},
		"a series that began long ago": {with(meeting("a", -30*days), weekly), mirror.Busy, true},
		"a series that is over":        {with(meeting("a", -100*days), weekly), mirror.Busy, false},
		"another person's":             {with(meeting("a", hour), func(e *mirror.Event) { e.OwnerID = "ben" }), mirror.Busy, false},
	} {
		s := situation(row.event)
		s.Edges[0].Detail = row.detail
		if got := len(plan.Plan(s)) == 1; got != row.want {
			t.Errorf("%s: mirrored is %t", name, got)
		}
	}
}

func TestPlan_WhichEdgesApply(t *testing.T) {
	t.Parallel()
	calendar := func(id string, detail mirror.Detail) mirror.Edge {
		e := edge("work", "home", detail)
		e.FromCalendarID = id
		return e
	}
	for name, row := range map[string]struct {
		calendar string
		edges    []mirror.Edge
		want     mirror.Detail // "" for no mirror
	}{
		"of the account, for its primary calendar": {"work@x", []mirror.Edge{edge("work", "home", mirror.Title)}, mirror.Title},
		"of the account, for another calendar":     {"team@x", []mirror.Edge{edge("work", "home", mirror.Title)}, ""},
		"of the calendar":                          {"team@x", []mirror.Edge{calendar("team@x", mirror.Full)}, mirror.Full},
		"of another calendar":                      {"team@x", []mirror.Edge{calendar("other@x", mirror.Full)}, ""},
		"of the calendar and of its account": {
			"work@x", []mirror.Edge{edge("work", "home", mirror.Full), calendar("work@x", mirror.Busy)}, mirror.Busy,
		},
		"from another account":                      {"work@x", []mirror.Edge{edge("club", "home", mirror.Full)}, ""},
		"to the origin's own account":               {"work@x", []mirror.Edge{edge("work", "work", mirror.Full)}, ""},
		"to an account that is not linked any more": {"work@x", []mirror.Edge{edge("work", "gone", mirror.Full)}, ""},
	} {
		s := situation(with(meeting("a", hour), func(e *mirror.Event) { e.CalendarID = row.calendar }))
		s.Edges = row.edges
		var got mirror.Detail
		for _, m := range plan.Plan(s) {
			got = m.Detail
		}
		if got != row.want {
			t.Errorf("%s: the detail is %q, want %q", name, got, row.want)
		}
	}
}

func TestPlan_AfterAChange(t *testing.T) {
	t.Parallel()
	account := func(s *plan.Situation, change func(a *plan.Account)) {
		a := s.Accounts["home"]
		change(&a)
		s.Accounts["home"] = a
	}
	event := func(changes ...func(e *mirror.Event)) func(s *plan.Situation) {
		return func(s *plan.Situation) { s.Events = []mirror.Event{with(s.Events[0], changes...)} }
	}
	for name, row := range map[string]struct {
		change func(s *plan.Situation)
		state  mirror.State // "" for nothing to store
		due    bool
		op     plan.Op
	}{
		"nothing": {func(*plan.Situation) {}, "", false, plan.Nothing},
		"moved": {
			event(func(e *mirror.Event) { e.Start, e.End = at(5*hour), at(6*hour) }), mirror.Pending, true, plan.Write,
		},
		"another title, BUSY": {event(func(e *mirror.Event) { e.Title = "x" }), "", false, plan.Nothing},
		"cancelled":           {event(isCancelled), mirror.Deleting, true, plan.Delete},
		"declined":            {event(declined), mirror.Deleting, true, plan.Delete},
		"moved beyond the window": {
			event(func(e *mirror.Event) { e.Start, e.End = at(401*24*hour), at(402*24*hour) }), mirror.Deleting, true, plan.Delete,
		},
		"the canonical event is gone": {func(s *plan.Situation) { s.Events = nil }, mirror.Deleting, true, plan.Delete},
		"it ended":                    {func(s *plan.Situation) { s.Now = now.Add(100 * hour) }, "", false, plan.Nothing},
		"it ended, without edge":      {func(s *plan.Situation) { s.Now, s.Edges = now.Add(100*hour), nil }, mirror.Deleting, true, plan.Delete},
		"the edge removed":            {func(s *plan.Situation) { s.Edges = nil }, mirror.Deleting, true, plan.Delete},
		"another detail": {
			func(s *plan.Situation) { s.Edges = []mirror.Edge{edge("work", "home", mirror.Title)} }, mirror.Pending, true,
			plan.Write,
		},
		"another target": {func(s *plan.Situation) {
			s.Edges = []mirror.Edge{{FromAccountID: "work", ToAccountID: "home", Detail: mirror.Busy, Target: mirror.PrimaryTarget}}
		}, mirror.Deleting, true, plan.Delete},
		"another overlay calendar": {
			func(s *plan.Situation) { account(s, func(a *plan.Account) { a.Overlay.CalendarID = "new" }) }, mirror.Deleting, true,
			plan.Delete,
		},
		"its overlay was deleted": {func(s *plan.Situation) {
			account(s, func(a *plan.Account) { a.Overlay = mirror.OverlayCalendar{Suppressed: true} })
		}, mirror.Suppressed, false, plan.Nothing},
		"the origin account is revoked": {
			func(s *plan.Situation) { s.Accounts["work"] = plan.Account{PrimaryID: "work@x"} }, "", false, plan.Nothing,
		},
		"the target is revoked": {
			func(s *plan.Situation) { account(s, func(a *plan.Account) { a.Usable = false }) }, "", false, plan.Nothing,
		},
		"moved, the target is revoked": {func(s *plan.Situation) {
			event(func(e *mirror.Event) { e.Start, e.End = at(5*hour), at(6*hour) })(s)
			account(s, func(a *plan.Account) { a.Usable = false })
		}, mirror.Pending, false, plan.Write},
		"cancelled, the target is revoked": {func(s *plan.Situation) {
			event(isCancelled)(s)
			account(s, func(a *plan.Account) { a.Usable = false })
		}, mirror.Deleting, false, plan.Delete},
		"a native copy appears": {func(s *plan.Situation) {
			s.Events = append(s.Events, with(meeting("a", hour), in("home"), func(e *mirror.Event) { e.ID = "evt_copy" }))
		}, mirror.Deleting, true, plan.Delete},
		"the account is unlinked": {func(s *plan.Situation) { delete(s.Accounts, "work") }, mirror.Deleting, true, plan.Delete},
	} {
		s, _ := applied(situation(meeting("a", hour)))
		s = newCalendars().write(s)
		row.change(&s)
		changed := plan.Plan(s)
		if row.state == "" {
			if len(changed) > 0 {
				t.Errorf("%s: it stores %+v", name, changed)
			}
			continue
		}
		if len(changed) != 1 || changed[0].State != row.state || !changed[0].Due.IsZero() != row.due || plan.Next(changed[0]) != row.op {
			t.Errorf("%s: it stores %+v", name, changed)
		}
	}
}

func TestPlan_AnotherTargetCalendar_DeletesThenWrites(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s, _ := applied(situation(meeting("a", hour)))
	s = google.write(s)
	before := s.Mirrors[0]
	s.Edges[0].Target = mirror.PrimaryTarget
	s, _ = applied(s)
	if m := s.Mirrors[0]; m.TargetCalendarID != "home-overlay" || m.EventID != before.EventID {
		t.Errorf("before the deletion it is %+v", m)
	}
	s = google.write(s)
	m := s.Mirrors[0]
	if m.State != mirror.Active || m.TargetCalendarID != "home@x" || m.Generation != before.Generation+1 || m.EventID == before.EventID {
		t.Errorf("after it, %+v", m)
	}
	if live := google.live(); len(live) != 1 || live[0] != "home@x/"+m.EventID {
		t.Errorf("the calendars show %v", live)
	}
}

func TestPlan_OverlayYetToBeMade_TakesThePrimarysEvents(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s := situation(meeting("a", hour))
	s.Accounts["home"] = plan.Account{Usable: true, PrimaryID: "home@x"}
	s.Edges[0].Target = mirror.PrimaryTarget
	s, _ = applied(s)
	s = google.write(s)
	s.Edges[0].Target = mirror.Overlay
	s, changed := applied(s)
	if m := s.Mirrors[0]; len(changed) != 1 || plan.Next(m) != plan.Delete || !m.Replacing || m.TargetCalendarID != "home@x" {
		t.Errorf("it stores %+v", m)
	}
	if changed := plan.Plan(s); len(changed) > 0 {
		t.Errorf("planned again, it stores %+v", changed)
	}
}

func TestPlan_RevokedTarget_IsDueAfterRelinking(t *testing.T) {
	t.Parallel()
	s := situation(meeting("a", hour))
	s.Accounts["home"] = plan.Account{PrimaryID: "home@x"}
	s, _ = applied(s)
	if m := s.Mirrors[0]; m.State != mirror.Pending || !m.Due.IsZero() {
		t.Fatalf("revoked, it is %+v", m)
	}
	s.Accounts = accounts("work", "home")
	s.Now = now.Add(hour)
	s, _ = applied(s)
	if s.Mirrors[0].State != mirror.Pending || !s.Mirrors[0].Due.Equal(s.Now) {
		t.Errorf("linked again, it is %+v", s.Mirrors[0])
	}
}

func TestPlan_EdgeNowIntoAnOverlayYetToBeCreated_ReplacesTheEventInThePrimary(t *testing.T) {
	t.Parallel()
	s := situation(meeting("a", hour))
	s.Edges[0].Target = mirror.PrimaryTarget
	s, _ = applied(s)
	s = newCalendars().write(s)
	s.Edges[0].Target = mirror.Overlay
	s.Accounts["home"] = plan.Account{Usable: true, PrimaryID: "home@x"}
	if got := plan.Plan(s); len(got) != 1 || !got[0].Replacing || plan.Next(got[0]) != plan.Delete {
		t.Errorf("planned %+v", got)
	}
}

func TestPlan_OverlayDeletedAndSetAgain_IsWrittenAnew(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	s, _ := applied(situation(with(meeting("a", hour), weekly), exception("ax", with(meeting("a", hour), weekly))))
	s = google.write(s)
	s.Accounts["home"] = plan.Account{Usable: true, PrimaryID: "home@x", Overlay: mirror.OverlayCalendar{Suppressed: true, Generation: 1}}
	s.Events = append(s.Events, meeting("b", hour)) // gets no document
	s, _ = applied(s)
	expect(t, s, wantStates{"a>home": mirror.Suppressed, "ax>home": mirror.Suppressed})
	s.Accounts["home"] = plan.Account{Usable: true, PrimaryID: "home@x", Overlay: mirror.OverlayCalendar{CalendarID: "second", Generation: 2}}
	s, _ = applied(s)
	s = google.write(s)
	expect(t, s, wantStates{"a>home": mirror.Active, "ax>home": mirror.Active, "b>home": mirror.Active})
	if m := of(s, s.Events[0], "home"); m.TargetCalendarID != "second" || m.Generation != 2 {
		t.Errorf("it is %+v", m)
	}
}

func TestPlan_WaitingWork_KeepsItsFailures(t *testing.T) {
	t.Parallel()
	s, _ := applied(situation(meeting("a", hour)))
	s.Mirrors[0].Attempts, s.Mirrors[0].Due = 3, now.Add(time.Minute)
	failed := s
	failed.Mirrors = []mirror.Mirror{s.Mirrors[0]}
	failed.Mirrors[0].State = mirror.Failed
	for name, s := range map[string]plan.Situation{"pending": s, "in error": failed} {
		if changed := plan.Plan(s); len(changed) > 0 {
			t.Errorf("%s: it stores %+v", name, changed)
		}
		s.Events = []mirror.Event{meeting("a", 3*hour)}
		if changed := plan.Plan(s); len(changed) != 1 || changed[0].State != mirror.Pending || changed[0].Attempts != 0 ||
			!changed[0].Due.Equal(now) {
			t.Errorf("%s, then moved: it stores %+v", name, changed)
		}
	}
}

func TestDueAt(t *testing.T) {
	t.Parallel()
	far := meeting("a", 500*24*hour)
	when := plan.DueAt(far, now)
	s := situation(far)
	s.Now = when.Add(-2 * time.Second)
	if len(plan.Plan(s)) != 0 {
		t.Error("it is mirrored before it is due to be planned")
	}
	s.Now = when
	if len(plan.Plan(s)) != 1 || !plan.DueAt(far, when).IsZero() {
		t.Errorf("it is not mirrored at %s", when)
	}
	if at := plan.DueAt(meeting("b", hour), now); !at.IsZero() {
		t.Errorf("an event within the window is planned again at %s", at)
	}
}

// A copy that could not be deleted before its account was unlinked is deleted after
// relinking; until then there is no grant for a call.
func TestPlan_CopyInAnUnlinkedAccount_IsDueAfterRelinking(t *testing.T) {
	t.Parallel()
	s, _ := applied(situation(meeting("a", hour)))
	s.Mirrors[0].EventID, s.Mirrors[0].ETag, s.Mirrors[0].State, s.Mirrors[0].Due = "copy", "1", mirror.Active, time.Time{}
	s.Accounts = accounts("work")
	s, _ = applied(s)
	if m := s.Mirrors[0]; m.State != mirror.Deleting || !m.Due.IsZero() {
		t.Errorf("unlinked, it is %s and due %v", m.State, m.Due)
	}
	s.Accounts, s.Edges = accounts("work", "home"), nil
	s, _ = applied(s)
	if s.Mirrors[0].State != mirror.Deleting || !s.Mirrors[0].Due.Equal(s.Now) {
		t.Errorf("linked again, it is %+v", s.Mirrors[0])
	}
}
