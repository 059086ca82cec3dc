package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

func TestCopyOf_ACopyOfAMirror_NamesTheEarlier(t *testing.T) {
	t.Parallel()
	origin := with(meeting("origin", hour), func(e *mirror.Event) { e.CopyOf = []string{"evt_first"} })
	written := mirror.Mirror{
		ID: "mir_1", OwnerID: "ana", CanonicalID: origin.ID, TargetAccountID: "home", TargetCalendarID: "home@x", EventID: "questmirror1",
		Detail: mirror.Full, AnsweredAt: now,
	}
	copied := with(meeting("copied", hour), func(e *mirror.Event) { e.Updated = now.Add(time.Second) })
	called := func(title string) mirror.Event { return with(copied, func(e *mirror.Event) { e.Title = title }) }
	of := func(title string) mirror.Event { return with(origin, func(e *mirror.Event) { e.Title = title }) }
	for name, row := range map[string]struct {
		event  mirror.Event
		origin mirror.Event
		mirror func(m *mirror.Mirror)
		want   bool
	}{
		"equal":                           {event: copied, want: true},
		"in the same second":              {event: with(copied, func(e *mirror.Event) { e.Updated = now }), want: true},
		"with a mark before its title":    {event: called("[copy] Budget "), want: true},
		"with a mark behind its title":    {event: called("Budget (copy)"), want: true},
		"with a picture before its title": {event: called("🔄Budget"), want: true},
		"without its description": {
			event: with(copied, func(e *mirror.Event) { e.Description, e.Visibility = "", "private" }), want: true,
		},
		"another title":                      {event: called("Dentist")},
		"a title that contains its title":    {event: called("The Budget of 2026")},
		"a title that ends like its title":   {event: called("Plan B"), origin: of("n B")},
		"a title that begins like its title": {event: called("Board meeting"), origin: of("Bo")},
		"a title with a letter of its title": {event: called("Board meeting"), origin: of("a")},
		"a title with a dot, for a dot":      {event: called("Board mtg."), origin: of("b")},
		"of a mirror that shows Busy":        {event: copied, mirror: func(m *mirror.Mirror) { m.Detail = mirror.Busy }},
		"Busy":                               {event: called("Busy"), mirror: func(m *mirror.Mirror) { m.Detail = mirror.Busy }, want: true},
		"another start":                      {event: with(copied, func(e *mirror.Event) { e.Start = at(0) })},
		"another end":                        {event: with(copied, func(e *mirror.Event) { e.End = at(3 * hour) })},
		"a series":                           {event: with(copied, weekly)},
		"older than the mirror":              {event: with(copied, func(e *mirror.Event) { e.Updated = now.Add(-time.Second) })},
		"in the mirror's calendar":           {event: with(copied, in("home"))},
		"in a third calendar":                {event: with(copied, in("club"))},
		"in another calendar of its account": {event: with(copied, func(e *mirror.Event) { e.CalendarID = "team@x" })},
		"in its calendar by another account": {event: with(copied, func(e *mirror.Event) { e.AccountID = "club" })},
		"of a mirror that has no event":      {event: copied, mirror: func(m *mirror.Mirror) { m.EventID = "" }},
		"of a mirror of something else":      {event: copied, mirror: func(m *mirror.Mirror) { m.CanonicalID = "evt_other" }},
		"of a mirror whose answer is lost":   {event: copied, mirror: func(m *mirror.Mirror) { m.AnsweredAt = time.Time{} }, want: true},
	} {
		m := written
		if row.mirror != nil {
			row.mirror(&m)
		}
		if row.origin.ID == "" {
			row.origin = origin
		}
		var want []string
		if row.want {
			want = []string{"evt_first", "evt_origin"}
		}
		if got := plan.CopyOf(row.event, []mirror.Event{row.origin, row.event}, []mirror.Mirror{m}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestCopyOf_EventsWithoutATitle_AreThoseOfTheTimes(t *testing.T) {
	t.Parallel()
	untitled := func(e *mirror.Event) { e.Title = "" }
	origin := with(meeting("origin", hour), untitled)
	m := mirror.Mirror{CanonicalID: "evt_origin", TargetCalendarID: "home@x", EventID: "questmirror1", Detail: mirror.Title}
	for title, want := range map[string]int{"": 1, "Dentist": 0} {
		event := with(meeting("copied", hour), func(e *mirror.Event) { e.Title = title })
		if got := plan.CopyOf(event, []mirror.Event{origin}, []mirror.Mirror{m}); len(got) != want {
			t.Errorf("an event %q is a copy of %q, want %d", title, got, want)
		}
	}
}

func TestCopyOf_SeveralMirrors_IsTheLongest(t *testing.T) {
	t.Parallel()
	var events []mirror.Event
	var mirrors []mirror.Mirror
	for i, n := range []int{1, 2, 0} {
		id := string(rune('a' + i))
		e := with(meeting(id, hour), func(e *mirror.Event) { e.CopyOf = []string{"evt_x", "evt_y"}[:n] })
		events = append(events, e)
		mirrors = append(mirrors, mirror.Mirror{CanonicalID: e.ID, TargetCalendarID: "home@x", EventID: "questmirror" + id, Detail: mirror.Full})
	}
	if got := plan.CopyOf(meeting("copied", hour), events, mirrors); !slices.Equal(got, []string{"evt_x", "evt_y", "evt_b"}) {
		t.Errorf("it is a copy of %q", got)
	}
}

// A program deletes its first copies while it makes more: those that live count.
func TestCopyOf_SeveralChains_IsThatOfTheLiving(t *testing.T) {
	t.Parallel()
	gone := func(e *mirror.Event) { e.Status = "cancelled" }
	events := []mirror.Event{
		with(meeting("a", hour), gone), with(meeting("b", hour), gone), with(meeting("c", hour), func(e *mirror.Event) {
			e.CopyOf = []string{"evt_a", "evt_b"}
			gone(e)
		}),
		meeting("d", hour), with(meeting("e", hour), func(e *mirror.Event) { e.CopyOf = []string{"evt_d"} }),
	}
	var mirrors []mirror.Mirror
	for _, e := range events {
		mirrors = append(mirrors, mirror.Mirror{
			CanonicalID: e.ID, TargetCalendarID: "home@x", EventID: "questmirror" + e.EventID, Detail: mirror.Full,
		})
	}
	if got := plan.CopyOf(meeting("copied", hour), events, mirrors); !slices.Equal(got, []string{"evt_d", "evt_e"}) {
		t.Errorf("it is a copy of %q", got)
	}
}

// An event with as many earlier ones as there may be is held back whether they live or not, until
// a person makes another event of it.
func TestPlan_OfAnEndlessCopy_IsStopped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{5: false, 6: true} {
		of, event := chain(n)
		of.Earlier = nil
		if s, _ := applied(of); s.Mirrors[0].IsLooping() != want || plan.IsEndless(event) != want {
			t.Errorf("after %d copies the mirror is %+v", n, s.Mirrors[0])
		}
		for name, row := range map[string]struct {
			change func(e *mirror.Event)
			forget bool
		}{
			"described": {func(e *mirror.Event) { e.Description = "Other" }, false},
			"moved":     {func(e *mirror.Event) { e.Start, e.End = at(48*hour), at(49*hour) }, true},
			"renamed":   {func(e *mirror.Event) { e.Title = "Surgery" }, true},
		} {
			next := plan.Forgotten(event, with(event, row.change))
			if kept := len(next.CopyOf); (kept == 0) != (want && row.forget) {
				t.Errorf("%s: of %d earlier events %d are left", name, n, kept)
			}
		}
	}
}

func TestBehind_OfManyEvents_KeepsTheLast(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 30 {
		was := slices.Clone(all)
		next := plan.Behind(all, fmt.Sprint(i))
		if !slices.Equal(all, was) {
			t.Fatal("the earlier events were changed")
		}
		all = next
	}
	if len(all) != 20 || all[0] != "10" || all[19] != "29" {
		t.Errorf("kept are %q", all)
	}
}

func TestMayLoop_WithoutAnEdge_IsFalse(t *testing.T) {
	t.Parallel()
	s := situation()
	for name, row := range map[string]struct {
		event mirror.Event
		want  bool
	}{
		"an edge leads away": {meeting("m", hour), true},
		"none leads away":    {with(meeting("m", hour), in("home")), false},
		"cancelled":          {with(meeting("m", hour), func(e *mirror.Event) { e.Status = "cancelled" }), false},
		"an exception":       {exception("x", with(meeting("m", hour), weekly)), false},
	} {
		if got := s.MayLoop(row.event); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// chain are an event and copies of copies of it, each an hour long as it is and in its calendar, and
// with what the last one's situation has.
func chain(n int, changes ...func(e *mirror.Event)) (stopped plan.Situation, last mirror.Event) {
	var earlier []mirror.Event
	var ids []string
	for i := range n {
		e := with(meeting(fmt.Sprint("c", i), hour), changes...)
		earlier, ids = append(earlier, e), append(ids, e.ID)
	}
	last = with(meeting("m", hour), append(changes, func(e *mirror.Event) { e.CopyOf = ids })...)
	stopped = situation(last)
	stopped.Earlier = earlier
	return stopped, last
}

func TestPlan_OfCopiesOfCopies_StopsTheThird(t *testing.T) {
	t.Parallel()
	for n, want := range []mirror.State{mirror.Pending, mirror.Pending, mirror.Pending, mirror.Contested, mirror.Contested} {
		stopped, series := chain(n, weekly)
		stopped.Events = append(stopped.Events, exception("x", series, func(e *mirror.Event) { e.CopyOf = nil }))
		for _, e := range slices.Clone(stopped.Earlier) {
			stopped.Earlier = append(stopped.Earlier, exception("x"+e.EventID, e))
		}
		s, _ := applied(stopped)
		expect(t, s, map[string]mirror.State{"m>home": want, "x>home": want})
		for _, m := range s.Mirrors {
			if is := want == mirror.Contested; m.IsLooping() != is || m.Due.IsZero() != is || (m.LastError != "") != is {
				t.Errorf("after %d rounds the mirror is %+v", n, m)
			}
		}
		if _, again := applied(s); len(again) > 0 {
			t.Errorf("after %d rounds, planning again writes %+v", n, again)
		}
	}
}

// A copy of copies is not mirrored on only while enough others show it and take its time.
func TestPlan_OfAStoppedCopy_OnlyWhileItsTimeIsTaken(t *testing.T) {
	t.Parallel()
	first := func(change func(e *mirror.Event)) func(s *plan.Situation) {
		return func(s *plan.Situation) { s.Earlier[0] = with(s.Earlier[0], change) }
	}
	itself := func(change func(e *mirror.Event)) func(s *plan.Situation) {
		return func(s *plan.Situation) { s.Events[0] = with(s.Events[0], change) }
	}
	moved := func(e *mirror.Event) { e.Start, e.End = at(48*hour), at(49*hour) }
	called := func(title string) func(e *mirror.Event) { return func(e *mirror.Event) { e.Title = title } }
	for name, row := range map[string]struct {
		change func(s *plan.Situation)
		stays  bool
	}{
		"nothing":                         {func(*plan.Situation) {}, true},
		"it moves":                        {itself(moved), false},
		"it ends later":                   {itself(func(e *mirror.Event) { e.End = at(3 * hour) }), false},
		"it becomes a series":             {itself(weekly), false},
		"it has another title":            {itself(called("Surgery")), false},
		"it has a mark more":              {itself(called("[copy] Budget")), true},
		"it shows the title of the copy":  {itself(called("Busy")), true},
		"it has another description":      {itself(func(e *mirror.Event) { e.Description = "Other" }), true},
		"an earlier one moves":            {first(moved), false},
		"an earlier one is cancelled":     {first(func(e *mirror.Event) { e.Status = "cancelled" }), false},
		"an earlier one is declined":      {first(func(e *mirror.Event) { e.Declined = true }), false},
		"an earlier one is free time":     {first(func(e *mirror.Event) { e.Transparency = "transparent" }), false},
		"an earlier one has another name": {first(called("Surgery")), false},
		"an earlier one is not known":     {func(s *plan.Situation) { s.Earlier = s.Earlier[1:] }, false},
		"an earlier one has no edge":      {first(in("club")), false},
		"an earlier one is in the account": {
			first(in("home")), true,
		},
		"another one is not known": {func(s *plan.Situation) { s.Earlier = append(s.Earlier[1:], meeting("other", hour)) }, false},
	} {
		stopped, _ := chain(3)
		was, _ := applied(stopped)
		row.change(&was)
		s, _ := applied(was)
		m := s.Mirrors[0]
		if m.IsLooping() != row.stays || (plan.Next(m) == plan.Write) == row.stays || (m.LastError == "") == row.stays ||
			m.Due.IsZero() != row.stays {
			t.Errorf("%s: the mirror is %+v", name, m)
		}
		if _, again := applied(s); len(again) > 0 {
			t.Errorf("%s: planning again writes %+v", name, again)
		}
	}
}

// The account has no calendar yet that the mirror could be stopped.
func TestPlan_OfAStoppedCopyWithoutACalendar_IsReleased(t *testing.T) {
	t.Parallel()
	stopped, _ := chain(3)
	stopped.Accounts["home"] = plan.Account{Usable: true, PrimaryID: "home@x"}
	s, _ := applied(stopped)
	s.Earlier = nil
	s, _ = applied(s)
	if m := s.Mirrors[0]; m.State != mirror.Pending || m.Due.IsZero() {
		t.Errorf("the mirror is %+v", m)
	}
}

func TestPlan_OfAStoppedSeries_OnlyWhileOccurrencesAreTaken(t *testing.T) {
	t.Parallel()
	gone := func(e *mirror.Event) { e.Status = "cancelled" }
	later := func(e *mirror.Event) { e.End.Time = e.End.Time.Add(hour) }
	for name, row := range map[string]struct {
		own, earlier func(e *mirror.Event) // nil: no exception
		stays        bool
	}{
		"none":                       {nil, nil, true},
		"equal ones":                 {func(*mirror.Event) {}, func(*mirror.Event) {}, true},
		"its own":                    {func(*mirror.Event) {}, nil, false},
		"an earlier one's":           {nil, func(*mirror.Event) {}, false},
		"other times":                {later, func(*mirror.Event) {}, false},
		"its own, cancelled":         {gone, nil, true},
		"an earlier one's, it lacks": {nil, gone, false},
		"both cancelled":             {gone, gone, true},
		"an earlier one's cancelled": {func(*mirror.Event) {}, gone, false},
	} {
		stopped, series := chain(3, weekly)
		if row.own != nil {
			stopped.Events = append(stopped.Events, exception("x", series, row.own))
		}
		if row.earlier != nil {
			stopped.Earlier = append(stopped.Earlier, exception("y", stopped.Earlier[0], row.earlier))
			stopped.Earlier = append(stopped.Earlier, exception("z1", stopped.Earlier[1]), exception("z2", stopped.Earlier[2]))
			for i := range 2 {
				x := &stopped.Earlier[4+i]
				*x = with(*x, row.earlier)
			}
		}
		s, _ := applied(stopped)
		if m := of(s, series, "home"); m.IsLooping() != row.stays {
			t.Errorf("exceptions: %s: the mirror is %+v", name, m)
		}
	}
}

// A program that copies the marks of copies is known by them; people do that a few times.
func TestPlan_OfDuplicatesOfDuplicates_StopsTheTenth(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{3: false, 9: false, 10: true, 11: true} {
		stopped, _ := chain(n)
		stopped.Events[0].DuplicateOf, stopped.Events[0].CopyOf = stopped.Events[0].CopyOf, nil
		if s, _ := applied(stopped); s.Mirrors[0].IsLooping() != want {
			t.Errorf("after %d duplicates the mirror is %+v", n, s.Mirrors[0])
		}
		stopped.Earlier = nil
		if s, _ := applied(stopped); s.Mirrors[0].IsLooping() {
			t.Errorf("after %d duplicates that are gone the mirror is %+v", n, s.Mirrors[0])
		}
	}
	endless, _ := chain(20)
	endless.Events[0].DuplicateOf, endless.Events[0].CopyOf, endless.Earlier = endless.Events[0].CopyOf, nil, nil
	if s, _ := applied(endless); !s.Mirrors[0].IsLooping() {
		t.Errorf("after 20 that are gone the mirror is %+v", s.Mirrors[0])
	}
}

func TestPlan_OfAStoppedCopyThatGoes_ForgetsTheMirror(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *plan.Situation){
		"it is deleted":    func(s *plan.Situation) { s.Events[0].Status = "cancelled" },
		"its edge is gone": func(s *plan.Situation) { s.Edges = nil },
	} {
		stopped, event := chain(3)
		s, _ := applied(stopped)
		change(&s)
		s, _ = applied(s)
		if m := of(s, event, "home"); m.State != mirror.Deleting || m.Due.IsZero() || plan.Next(m) != plan.Delete || m.EventID != "" {
			t.Errorf("%s: the mirror is %+v", name, m)
		}
	}
}

// An exception that was observed before its series has an event of its own by then.
func TestPlan_OfAStoppedCopyWithAnEvent_DeletesIt(t *testing.T) {
	t.Parallel()
	stopped, event := chain(3)
	earlier := stopped.Earlier
	stopped.Earlier = nil
	s, _ := applied(stopped)
	begun := plan.Begin(s.Mirrors[0], "home-overlay", "questmirror1")
	s.Mirrors[0] = plan.Written(begun, begun.Wanted, answer("questmirror1", "e1", plan.Project(event, mirror.Busy), now), now)
	s.Earlier = earlier
	s, _ = applied(s)
	if m := of(s, event, "home"); plan.Next(m) != plan.Delete || m.EventID == "" || m.Due.IsZero() {
		t.Errorf("the mirror is %+v", m)
	}
}
