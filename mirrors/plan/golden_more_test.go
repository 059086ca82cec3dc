package plan_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

func TestCanonical_EveryObservation_GivesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	first, _ := plan.Canonical(mirror.Event{ID: "evt_1"}, observed(), origin, now)
	instance, _ := plan.Canonical(mirror.Event{ID: "evt_1"}, observed(isInstance), origin, now)
	gone, _ := plan.Canonical(first, observed(isGone), origin, now)
	group := origin
	group.PollID, group.GroupID, group.ICalUID, group.Copied = "poll", "group", "series-uid", true
	set := func(change func(e *gcal.Event)) gcal.Event { return observed(change) }
	var lines []string
	for _, was := range []struct {
		name  string
		event mirror.Event
	}{{"unknown", mirror.Event{ID: "evt_1"}}, {"known", first}, {"a known exception", instance}, {"cancelled", gone}} {
		lines = append(lines, "# "+was.name)
		for _, observation := range []struct {
			name  string
			shown gcal.Event
			at    plan.Origin
		}{
			{"again", observed(), origin},
			{"by another origin", observed(), group},
			{"before", set(func(e *gcal.Event) { e.Updated = now.Add(-hour); e.Details.Summary = "Old" }), origin},
			{"later", set(func(e *gcal.Event) { e.Updated = now.Add(hour) }), origin},
			{"at an unknown time", set(func(e *gcal.Event) { e.Updated = time.Time{} }), origin},
			{"by an organizer", set(func(e *gcal.Event) { e.Organizer = "boss@x" }), origin},
			{"tentative, public, free, out of office, declined", set(func(e *gcal.Event) {
				d := e.Details
				d.Status, d.Visibility, d.Transparency, d.Kind, d.Response = "tentative", "public", "transparent", "outOfOffice", "declined"
			}), origin},
			{"by another source", observed(), plan.Origin{OwnerID: "ana", AccountID: "work", CalendarID: "work@x", Source: mirror.SourcePoll}},
			{"another description", set(func(e *gcal.Event) { e.Details.Description = "Other" }), origin},
			{"another location", set(func(e *gcal.Event) { e.Details.Location = "Room 2" }), origin},
			{"another end", set(func(e *gcal.Event) { e.Details.End = at(3 * hour) }), origin},
			{"private", set(func(e *gcal.Event) { e.Details.Visibility = "private" }), origin},
			{"free", set(func(e *gcal.Event) { e.Details.Transparency = "transparent" }), origin},
			{"an end before the start", set(func(e *gcal.Event) { e.Details.End = at(0) }), origin},
			{"without an end", set(func(e *gcal.Event) { e.Details.End = recurrence.Moment{} }), origin},
			{"without details", set(func(e *gcal.Event) { e.Details = nil }), origin},
			{"an exception", observed(isInstance), origin},
			{"of another occurrence", observed(isInstance, func(e *gcal.Event) { e.Details.Original = at(24 * hour) }), origin},
			{"an empty rule", set(func(e *gcal.Event) { e.Details.Recurrence = []string{} }), origin},
			{"gone", observed(isGone), group},
			{"a gone exception", observed(isInstance, isGone), group},
			{"a gone exception of no series", observed(isInstance, isGone, func(e *gcal.Event) { e.InstanceOf = "" }), group},
			{"a gone exception of no date", observed(isInstance, isGone, func(e *gcal.Event) { e.Details.Original = recurrence.Moment{} }), group},
			{"gone without details", gcal.Event{ID: "ev", EventState: rules.Gone, InstanceOf: "series"}, origin},
		} {
			next, changed := plan.Canonical(was.event, observation.shown, observation.at, now.Add(time.Minute))
			lines = append(lines, fmt.Sprintf("%s: %t: %s", observation.name, changed, changes(was.event, next)))
		}
	}
	golden(t, "canonical", lines)
}

// Every edge and connection to the group of an event, alone and in pairs.
func TestPlan_EveryPairOfEdges_AsksWhatIsRecorded(t *testing.T) {
	t.Parallel()
	calendar := func(e mirror.Edge, id string) mirror.Edge { e.FromCalendarID = id; return e }
	primary := func(e mirror.Edge) mirror.Edge { e.Target = mirror.PrimaryTarget; return e }
	asks := []struct {
		name string
		add  func(s *plan.Situation)
	}{
		{"work, FULL", func(s *plan.Situation) { s.Edges = append(s.Edges, edge("work", "home", mirror.Full)) }},
		{"work, BUSY into the primary", func(s *plan.Situation) { s.Edges = append(s.Edges, primary(edge("work", "home", mirror.Busy))) }},
		{"its calendar, TITLE", func(s *plan.Situation) {
			s.Edges = append(s.Edges, calendar(edge("work", "home", mirror.Title), "work@x"))
		}},
		{"its other calendar, TITLE", func(s *plan.Situation) {
			s.Edges = append(s.Edges, calendar(edge("work", "home", mirror.Title), "team@x"))
		}},
		{"club, TITLE", func(s *plan.Situation) { s.Edges = append(s.Edges, edge("club", "home", mirror.Title)) }},
		{"to itself", func(s *plan.Situation) { s.Edges = append(s.Edges, edge("work", "work", mirror.Title)) }},
		{"from an unlinked one", func(s *plan.Situation) { s.Edges = append(s.Edges, edge("gone", "home", mirror.Title)) }},
		{"connected: work", func(s *plan.Situation) { s.Connections = append(s.Connections, connection("work", "group", "ana")) }},
		{"connected: home", func(s *plan.Situation) { s.Connections = append(s.Connections, connection("home", "group", "ana")) }},
		{"connected: club", func(s *plan.Situation) { s.Connections = append(s.Connections, connection("club", "group", "ana")) }},
		{"connected: an unlinked one", func(s *plan.Situation) { s.Connections = append(s.Connections, connection("gone", "group", "ana")) }},
		{"connected: by ben", func(s *plan.Situation) { s.Connections = append(s.Connections, connection("home", "group", "ben")) }},
		{"connected: to no group", func(s *plan.Situation) { s.Connections = append(s.Connections, connection("home", "", "ana")) }},
	}
	var lines []string
	for _, of := range []struct {
		name  string
		event mirror.Event
	}{
		{"a meeting", meeting("a", hour)},
		{"in the primary calendar, by that name", with(meeting("a", hour), func(e *mirror.Event) { e.CalendarID = "primary" })},
		{"in another calendar", with(meeting("a", hour), func(e *mirror.Event) { e.CalendarID = "team@x" })},
		{"in no calendar", with(meeting("a", hour), func(e *mirror.Event) { e.CalendarID = "" })},
		{"of an unlinked account", with(meeting("a", hour), func(e *mirror.Event) { e.AccountID, e.CalendarID = "gone", "" })},
		{"of the group", groupEvent()},
		{"of the group, by herself", groupEvent(func(e *mirror.Event) { e.OwnerID = "ana" })},
		{"ben's, shared", with(meeting("a", hour), sharedBy("ben"))},
		{"her own, shared", with(meeting("a", hour), sharedBy("ana"))},
	} {
		lines = append(lines, "# "+of.name)
		found := groups{}
		for i, one := range asks {
			for _, other := range asks[i:] {
				s := situation(of.event)
				s.Edges = nil
				one.add(&s)
				if other.name != one.name {
					other.add(&s)
				}
				line := ""
				for _, m := range plan.Plan(s) {
					line += fmt.Sprintf("%s %s %s from %s/%s by %q; ", m.TargetAccountID, m.Detail, m.Target, m.FromAccountID, m.FromCalendarID, m.GroupID)
				}
				found.add(strings.TrimSpace(line), one.name+" + "+other.name)
			}
		}
		lines = append(lines, found.lines()...)
	}
	golden(t, "asks", lines)
}

// groups are the cases that come out alike, by what comes out.
type groups map[string][]string

func (g groups) add(outcome, name string) { g[outcome] = append(g[outcome], name) }

func (g groups) lines() (lines []string) {
	for _, outcome := range slices.Sorted(maps.Keys(g)) {
		lines = append(lines, cmp.Or(outcome, "nothing"), "\t"+strings.Join(g[outcome], "; "))
	}
	return lines
}

func connection(account, group, owner string) mirror.Connection {
	return mirror.Connection{GroupID: group, AccountID: account, OwnerID: owner}
}

// How two events with one iCalUID may differ, by pairs.
func TestPlan_EveryPairOfDifferences_IsAsRecorded(t *testing.T) {
	t.Parallel()
	days := func(e *mirror.Event) { e.OriginalStart = recurrence.Moment{Date: "2026-03-08"} }
	differences := []struct {
		name   string
		change func(e *mirror.Event)
	}{
		{"nothing", func(*mirror.Event) {}},
		{"later", later},
		{"longer", func(e *mirror.Event) { e.End.Time = e.End.Time.Add(hour) }},
		{"earlier", func(e *mirror.Event) { e.Start.Time = e.Start.Time.Add(-hour) }},
		{"just now", justNow},
		{"ten minutes ago", func(e *mirror.Event) { e.Updated = now.Add(-10 * time.Minute) }},
		{"another id", copied},
		{"no id", func(e *mirror.Event) { e.EventID = "" }},
		{"eve's", organizedBy("eve")},
		{"nobody's", func(e *mirror.Event) { e.Organizer = "" }},
		{"recurring", weekly},
		{"of another series", func(e *mirror.Event) { e.SeriesID = "other" }},
		{"of another calendar", func(e *mirror.Event) { e.CalendarID = "team@x" }},
		{"ben's account", func(e *mirror.Event) { e.OwnerID = "ben" }},
		{"declined", declined},
		{"another date", func(e *mirror.Event) { e.OriginalStart.Time = e.OriginalStart.Time.Add(7 * 24 * hour) }},
		{"a date", days},
		{"another uid", func(e *mirror.Event) { e.ICalUID = "other" }},
	}
	single := with(meeting("a", hour), organizedBy("ben"))
	master := with(meeting("s", hour), weekly, organizedBy("ben"))
	x := exception("x", master)
	var lines []string
	for _, pair := range []struct {
		name string
		a, b mirror.Event
		more []mirror.Event
	}{
		{"two copies", single, invited("n", single, "home"), nil},
		{"two without ids", withoutID(single), withoutID(invited("n", single, "home")), nil},
		{"two in other accounts", single, invited("b", single, "club"), nil},
		{"two series", master, invited("t", master, "club"), []mirror.Event{x}},
		{"a series and a native exception", master, exception("nx", invited("n", master, "home")), []mirror.Event{x}},
		{"an exception and a native series", x, invited("n", master, "home"), []mirror.Event{master}},
		{"two exceptions", x, exception("tx", invited("t", master, "club")), []mirror.Event{master, invited("t", master, "club")}},
		{"an exception and a native one", x, exception("nx", invited("n", master, "home")), []mirror.Event{master, invited("n", master, "home")}},
		{"two exceptions alone", x, exception("tx", invited("t", master, "club")), nil},
	} {
		lines = append(lines, "# "+pair.name)
		found := groups{}
		for i, one := range differences {
			for _, other := range differences[i:] {
				b := with(pair.b, one.change, other.change)
				events := append([]mirror.Event{b, pair.a}, pair.more...)
				s := situation(events...)
				s.Edges = append(s.Edges, edge("club", "home", mirror.Busy))
				s, _ = applied(s)
				line := fmt.Sprint(shown(s))
				for _, of := range []mirror.Event{pair.a, b} {
					if until := plan.DisagreeAt(of, events, now); !until.IsZero() {
						line += fmt.Sprintf(" %s until %s", of.ID[4:], value(until))
					}
				}
				found.add(strings.TrimSpace(line), one.name+" + "+other.name)
			}
		}
		lines = append(lines, found.lines()...)
	}
	golden(t, "pairs", lines)
}

func withoutID(e mirror.Event) mirror.Event { e.EventID = ""; return e }

// shown is what the mirrors of a situation are to do.
func shown(s plan.Situation) map[string]string {
	all := map[string]string{}
	for _, m := range s.Mirrors {
		what := string(plan.Next(m))
		if m.SeriesMirrorID != "" {
			what += " instance"
		}
		all[m.CanonicalID[4:]] = what
	}
	return all
}

// Observations of an occurrence that has no mirror of its own.
func TestObservedInstance_EverySeries_BecomesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	google := newCalendars()
	first := written(situation(series), google)
	master := of(first, series, "home")
	day, _ := recurrence.Parse("2026-03-08")
	third := recurrence.Moment{Time: series.Start.Time.Add(14 * 24 * hour), Zone: "Europe/Vienna"}
	instanceAt := func(original recurrence.Moment, change func(e *gcal.Event)) gcal.Event {
		content := plan.Project(series, mirror.Busy)
		content.Recurrence, content.Start = nil, original
		content.End = recurrence.Moment{Time: original.Time.Add(hour), Zone: original.Zone}
		if original.AllDay() {
			content.End = recurrence.Moment{Date: "2026-03-09"}
		}
		e := answer(master.EventID+"_i", "9", content, now.Add(time.Hour))
		e.InstanceOf, e.Details.Original = master.EventID, original
		if change != nil {
			change(&e)
		}
		return e
	}
	moved := func(e *gcal.Event) { e.Details.End.Time = e.Details.End.Time.Add(hour) }
	var lines []string
	for _, c := range []struct {
		name   string
		change func(m *mirror.Mirror, s *plan.Situation)
	}{
		{"active", func(*mirror.Mirror, *plan.Situation) {}},
		{"pending", func(m *mirror.Mirror, _ *plan.Situation) { m.State = mirror.Pending }},
		{"failed", func(m *mirror.Mirror, _ *plan.Situation) { m.State = mirror.Failed }},
		{"contested", func(m *mirror.Mirror, _ *plan.Situation) { m.State = mirror.Contested }},
		{"suppressed", func(m *mirror.Mirror, _ *plan.Situation) { m.State = mirror.Suppressed }},
		{"being deleted", func(m *mirror.Mirror, _ *plan.Situation) { m.State = mirror.Deleting }},
		{"without an event", func(m *mirror.Mirror, _ *plan.Situation) { m.EventID = "" }},
		{"reverted three times", func(m *mirror.Mirror, _ *plan.Situation) { m.Reverts = []time.Time{now, now, now} }},
		{"of an unknown event", func(_ *mirror.Mirror, s *plan.Situation) { s.Events = nil }},
		{"all day", func(_ *mirror.Mirror, s *plan.Situation) {
			s.Events = []mirror.Event{with(series, func(e *mirror.Event) {
				e.Start, e.End = recurrence.Moment{Date: "2026-03-01"}, recurrence.Moment{Date: "2026-03-02"}
			})}
		}},
		{"an exception without a mirror", func(_ *mirror.Mirror, s *plan.Situation) { s.Events = append(s.Events, exception("x", series)) }},
		{"an exception with a mirror", func(m *mirror.Mirror, s *plan.Situation) {
			x := exception("x", series)
			s.Events = append([]mirror.Event{x}, s.Events...)
			s.Mirrors = append(s.Mirrors, mirror.Mirror{ID: "x", CanonicalID: x.ID, SeriesMirrorID: m.ID})
		}},
		{"an exception with a mirror of another series", func(_ *mirror.Mirror, s *plan.Situation) {
			x := exception("x", series)
			s.Events = append(s.Events, x)
			s.Mirrors = append(s.Mirrors, mirror.Mirror{ID: "x", CanonicalID: x.ID, SeriesMirrorID: "another"})
		}},
		{"an exception of which another has the mirror", func(m *mirror.Mirror, s *plan.Situation) {
			s.Events = append(s.Events, exception("x", series))
			s.Mirrors = append(s.Mirrors, mirror.Mirror{ID: "x", CanonicalID: "evt_y", SeriesMirrorID: m.ID})
		}},
		{"a single event of that original start", func(m *mirror.Mirror, s *plan.Situation) {
			x := with(exception("x", series), func(e *mirror.Event) { e.SeriesID = "" })
			s.Events = append(s.Events, x)
			s.Mirrors = append(s.Mirrors, mirror.Mirror{ID: "x", CanonicalID: x.ID, SeriesMirrorID: m.ID})
		}},
	} {
		lines = append(lines, "# "+c.name)
		for _, observation := range []struct {
			name  string
			shown gcal.Event
		}{
			{"as the rule has it", instanceAt(third, nil)},
			{"moved", instanceAt(third, moved)},
			{"the second, moved", instanceAt(exception("x", series).OriginalStart, moved)},
			{"gone", instanceAt(third, func(e *gcal.Event) { e.EventState = rules.Gone })},
			{"gone, no details", instanceAt(third, func(e *gcal.Event) { e.EventState, e.Details = rules.Gone, nil })},
			{"unreadable", instanceAt(third, func(e *gcal.Event) { e.EventState = rules.Unreadable })},
			{"of no series", instanceAt(third, func(e *gcal.Event) { e.InstanceOf = "" })},
			{"of another series", instanceAt(third, func(e *gcal.Event) { e.InstanceOf = "other" })},
			{"of no original start", instanceAt(third, func(e *gcal.Event) { e.Details.Original = recurrence.Moment{} })},
			{"a date", instanceAt(day, nil)},
		} {
			s := first
			was := master
			c.change(&was, &s)
			next, verdict := plan.ObservedInstance(s, was, observation.shown)
			lines = append(lines, observation.name+": "+string(verdict)+": "+changes(was, next))
		}
	}
	golden(t, "instances", lines)
}
