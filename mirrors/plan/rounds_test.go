package plan_test

import (
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

func TestRounds_OfACopyOfAMirror_Grow(t *testing.T) {
	t.Parallel()
	origin := with(meeting("origin", hour), func(e *mirror.Event) { e.Rounds = 1 })
	written := mirror.Mirror{
		ID: "mir_1", OwnerID: "ana", CanonicalID: origin.ID, TargetAccountID: "home", TargetCalendarID: "home@x", EventID: "questmirror1",
		Detail: mirror.Full, AnsweredAt: now,
	}
	copied := with(meeting("copied", hour), func(e *mirror.Event) { e.Updated = now.Add(time.Second) })
	for name, row := range map[string]struct {
		event  mirror.Event
		mirror func(m *mirror.Mirror)
		want   int64
	}{
		"equal":                              {copied, nil, 2},
		"in the same second":                 {with(copied, func(e *mirror.Event) { e.Updated = now }), nil, 2},
		"with a mark in its title":           {with(copied, func(e *mirror.Event) { e.Title = "[copy] Budget " }), nil, 2},
		"without its description":            {with(copied, func(e *mirror.Event) { e.Description, e.Visibility = "", "private" }), nil, 2},
		"another title":                      {with(copied, func(e *mirror.Event) { e.Title = "Dentist" }), nil, 0},
		"of a mirror that shows Busy":        {copied, func(m *mirror.Mirror) { m.Detail = mirror.Busy }, 0},
		"Busy":                               {with(copied, func(e *mirror.Event) { e.Title = "Busy" }), func(m *mirror.Mirror) { m.Detail = mirror.Busy }, 2},
		"another start":                      {with(copied, func(e *mirror.Event) { e.Start = at(0) }), nil, 0},
		"another end":                        {with(copied, func(e *mirror.Event) { e.End = at(3 * hour) }), nil, 0},
		"a series":                           {with(copied, weekly), nil, 0},
		"older than the mirror":              {with(copied, func(e *mirror.Event) { e.Updated = now.Add(-time.Second) }), nil, 0},
		"in the mirror's calendar":           {with(copied, in("home")), nil, 0},
		"in a third calendar":                {with(copied, in("club")), nil, 0},
		"in another calendar of its account": {with(copied, func(e *mirror.Event) { e.CalendarID = "team@x" }), nil, 0},
		"in its calendar by another account": {with(copied, func(e *mirror.Event) { e.AccountID = "club" }), nil, 0},
		"of a mirror that has no event":      {copied, func(m *mirror.Mirror) { m.EventID = "" }, 0},
		"of a mirror of something else":      {copied, func(m *mirror.Mirror) { m.CanonicalID = "evt_other" }, 0},
		"of a mirror whose answer is lost":   {copied, func(m *mirror.Mirror) { m.AnsweredAt = time.Time{} }, 2},
	} {
		m := written
		if row.mirror != nil {
			row.mirror(&m)
		}
		if got := plan.Rounds(row.event, []mirror.Event{origin, row.event}, []mirror.Mirror{m}); got != row.want {
			t.Errorf("%s: %d rounds, want %d", name, got, row.want)
		}
	}
}

func TestRounds_OfEventsWithoutATitle_AreThoseOfTheTimes(t *testing.T) {
	t.Parallel()
	untitled := func(e *mirror.Event) { e.Title = "" }
	origin := with(meeting("origin", hour), untitled)
	m := mirror.Mirror{CanonicalID: "evt_origin", TargetCalendarID: "home@x", EventID: "questmirror1", Detail: mirror.Title}
	for title, want := range map[string]int64{"": 1, "Dentist": 0} {
		event := with(meeting("copied", hour), func(e *mirror.Event) { e.Title = title })
		if got := plan.Rounds(event, []mirror.Event{origin}, []mirror.Mirror{m}); got != want {
			t.Errorf("an event %q counts %d rounds, want %d", title, got, want)
		}
	}
}

func TestRounds_OfSeveralMirrors_AreTheMost(t *testing.T) {
	t.Parallel()
	var events []mirror.Event
	var mirrors []mirror.Mirror
	for i, rounds := range []int64{1, 2, 0} {
		id := string(rune('a' + i))
		e := with(meeting(id, hour), func(e *mirror.Event) { e.Rounds = rounds })
		events = append(events, e)
		mirrors = append(mirrors, mirror.Mirror{CanonicalID: e.ID, TargetCalendarID: "home@x", EventID: "questmirror" + id, Detail: mirror.Full})
	}
	if got := plan.Rounds(meeting("copied", hour), events, mirrors); got != 3 {
		t.Errorf("it counts %d rounds, want 3", got)
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

// rounds gives an event that many.
func rounds(n int64) func(e *mirror.Event) { return func(e *mirror.Event) { e.Rounds = n } }

func TestPlan_OfCopiesOfCopies_StopsTheThird(t *testing.T) {
	t.Parallel()
	for n, want := range []mirror.State{mirror.Pending, mirror.Pending, mirror.Pending, mirror.Contested, mirror.Contested} {
		series := with(meeting("s", hour), weekly, rounds(int64(n)))
		s, _ := applied(situation(series, exception("x", series, rounds(0))))
		expect(t, s, map[string]mirror.State{"s>home": want, "x>home": want})
		for _, m := range s.Mirrors {
			if stopped := want == mirror.Contested; m.IsLooping() != stopped || m.Due.IsZero() != stopped || (m.LastError != "") != stopped {
				t.Errorf("after %d rounds the mirror is %+v", n, m)
			}
		}
		if _, again := applied(s); len(again) > 0 {
			t.Errorf("after %d rounds, planning again writes %+v", n, again)
		}
	}
}

func TestPlan_OfAStoppedCopyThatGoes_ForgetsTheMirror(t *testing.T) {
	t.Parallel()
	event := with(meeting("m", hour), rounds(3))
	for name, change := range map[string]func(s *plan.Situation){
		"it is deleted":    func(s *plan.Situation) { s.Events[0].Status = "cancelled" },
		"its edge is gone": func(s *plan.Situation) { s.Edges = nil },
	} {
		s, _ := applied(situation(event))
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
	event := meeting("m", hour)
	s, _ := applied(situation(event))
	begun := plan.Begin(s.Mirrors[0], "home-overlay", "questmirror1")
	s.Mirrors[0] = plan.Written(begun, begun.Wanted, answer("questmirror1", "e1", plan.Project(event, mirror.Busy), now), now)
	s.Events[0].Rounds = 3
	s, _ = applied(s)
	if m := of(s, event, "home"); plan.Next(m) != plan.Delete || m.EventID == "" || m.Due.IsZero() {
		t.Errorf("the mirror is %+v", m)
	}
}
