package plan_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

func anyDetail(t *rapid.T) mirror.Detail {
	return rapid.SampledFrom([]mirror.Detail{mirror.Busy, mirror.Title, mirror.Full}).Draw(t, "detail")
}

func anyEvent(t *rapid.T) mirror.Event {
	word := func(name string, words ...string) string { return rapid.SampledFrom(words).Draw(t, name) }
	e := meeting(fmt.Sprint(rapid.IntRange(0, 1<<30).Draw(t, "id")), time.Duration(rapid.IntRange(-50, 410*24).Draw(t, "hours"))*hour)
	e.Title, e.Description, e.Location = word("title", "", "Budget", " Plan "), word("description", "", "Figures"),
		word("location", "", "Room 1")
	e.Visibility = word("visibility", "default", "default", "public", "private", "confidential")
	e.Transparency = word("transparency", "opaque", "opaque", "transparent")
	e.Status = word("status", "confirmed", "confirmed", "tentative", "cancelled")
	e.Kind = word("kind", "default", "default", "outOfOffice", "workingLocation")
	e.Declined = rapid.IntRange(0, 4).Draw(t, "declined") == 0
	e.Start.Zone = word("zone", "", "Europe/Vienna", "UTC")
	e.End.Zone = e.Start.Zone
	if rapid.Bool().Draw(t, "all day") {
		day := e.Start.Time
		e.Start, e.End = recurrence.Moment{Date: day.Format(time.DateOnly)}, recurrence.Moment{Date: day.AddDate(0, 0, 2).Format(time.DateOnly)}
	}
	return with(e)
}

// anySituation has meetings that several accounts and a group show, some as series with
// exceptions, and edges in every direction.
func anySituation(t *rapid.T) plan.Situation {
	names := []string{"work", "home", "club"}
	s := plan.Situation{Owner: "ana", Now: now, Accounts: accounts(names...)}
	for i, from := range names {
		for j, to := range names {
			if i != j && rapid.IntRange(0, 3).Draw(t, "edge") > 0 {
				e := edge(from, to, anyDetail(t))
				e.Target = rapid.SampledFrom([]mirror.Target{mirror.Overlay, mirror.PrimaryTarget}).Draw(t, "target")
				s.Edges = append(s.Edges, e)
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "connected") == 0 {
			s.Connections = append(s.Connections, mirror.Connection{GroupID: "group", AccountID: from, OwnerID: "ana"})
		}
		if rapid.IntRange(0, 5).Draw(t, "suppressed overlay") == 0 {
			account := s.Accounts[from]
			account.Overlay = mirror.OverlayCalendar{Suppressed: true}
			s.Accounts[from] = account
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "meetings") {
		first := anyEvent(t)
		first.ID, first.EventID, first.ICalUID = fmt.Sprint("evt_", i), fmt.Sprint("m", i), fmt.Sprint("uid-", i)
		isSeries := rapid.Bool().Draw(t, "series") && !first.Start.AllDay()
		for copied := range rapid.IntRange(1, 3).Draw(t, "copies") {
			e := with(first, in(names[copied]))
			e.ID += names[copied]
			e.Declined = rapid.IntRange(0, 4).Draw(t, "copy declined") == 0
			e.Organizer = rapid.SampledFrom([]string{"work", "work", "home"}).Draw(t, "organizer")
			if rapid.IntRange(0, 6).Draw(t, "shared") == 0 {
				e.GroupID = "group"
			}
			if !isSeries {
				s.Events = append(s.Events, e)
				continue
			}
			e = with(e, weekly)
			if rapid.IntRange(0, 5).Draw(t, "master read") > 0 {
				s.Events = append(s.Events, e)
			}
			if rapid.Bool().Draw(t, "exception") {
				x := exception(e.EventID+"x", e)
				x.ID += names[copied]
				x.Declined = rapid.IntRange(0, 4).Draw(t, "exception declined") == 0
				x.Status = rapid.SampledFrom([]string{"confirmed", "cancelled"}).Draw(t, "exception status")
				if rapid.IntRange(0, 2).Draw(t, "renamed") == 0 {
					renamed(&x)
				}
				s.Events = append(s.Events, with(x))
			}
		}
	}
	if rapid.Bool().Draw(t, "group's") {
		e := anyEvent(t)
		e.ID, e.ICalUID, e.GroupID, e.Source = "evt_group", "evt_group", "group", mirror.SourceGroup
		e.AccountID, e.CalendarID, e.EventID, e.OwnerID = "", "", "", rapid.SampledFrom([]string{"ana", "ben"}).Draw(t, "author")
		s.Events = append(s.Events, with(e))
	}
	return s
}

// change is something that a person does.
func change(t *rapid.T, s plan.Situation) plan.Situation {
	s.Events, s.Now = slices.Clone(s.Events), s.Now.Add(time.Minute)
	if len(s.Events) == 0 {
		return s
	}
	i := rapid.IntRange(0, len(s.Events)-1).Draw(t, "changed")
	e := s.Events[i]
	switch rapid.SampledFrom([]string{"move", "decline", "cancel", "edges", "overlay", "remove", "private"}).Draw(t, "change") {
	case "move":
		if !e.Start.AllDay() {
			e.Start.Time, e.End.Time = e.Start.Time.Add(hour), e.End.Time.Add(hour)
		}
	case "decline":
		e.Declined = !e.Declined
	case "cancel":
		e.Status = map[bool]string{true: "confirmed", false: "cancelled"}[e.Status == "cancelled"]
	case "private":
		e.Visibility = "private"
	case "edges":
		s.Edges = s.Edges[:rapid.IntRange(0, len(s.Edges)).Draw(t, "edges left")]
	case "overlay":
		s.Accounts = accounts("work", "home", "club")
	case "remove":
		if len(s.Events) > 1 {
			s.Events = slices.Delete(s.Events, i, i+1)
			return s
		}
	}
	s.Events[i] = with(e)
	return s
}

func TestPlan_AppliedTwice_YieldsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, google := anySituation(t), newCalendars()
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			s, _ = applied(s)
			if again := plan.Plan(s); len(again) > 0 {
				t.Fatalf("planned again: %+v of %+v", again, s.Mirrors)
			}
			if rapid.Bool().Draw(t, "written") {
				s = google.write(s)
				if again := plan.Plan(s); len(again) > 0 {
					t.Fatalf("planned after the writes: %+v", again)
				}
			}
			s = change(t, s)
		}
	})
}

func TestPlan_OrderOfInput_DoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := applied(anySituation(t))
		s = change(t, s)
		other := s
		other.Events = rapid.Permutation(s.Events).Draw(t, "events")
		other.Edges = rapid.Permutation(s.Edges).Draw(t, "edges")
		other.Connections = rapid.Permutation(s.Connections).Draw(t, "connections")
		other.Mirrors = rapid.Permutation(s.Mirrors).Draw(t, "mirrors")
		if a, b := plan.Plan(s), plan.Plan(other); !reflect.DeepEqual(a, b) {
			t.Fatalf("planned %+v, or %+v", a, b)
		}
	})
}

// After the writer is done the calendars show what the documents say, each meeting once.
func TestPlan_Written_ShowsEachMeetingOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, google := anySituation(t), newCalendars()
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			s, _ = applied(s)
			s = google.write(s)
			checkSettled(t, s, google)
			s = change(t, s)
		}
	})
}

// The writer may come to its work only after several changes. Whatever they were, no event is left
// that no mirror names.
func TestPlan_ChangedBeforeItIsWritten_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, google := anySituation(t), newCalendars()
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				s, _ = applied(s)
				s = change(t, s)
			}
			s, _ = applied(s)
			s = google.write(s)
			checkNamed(t, s, google)
		}
	})
}

func checkNamed(t *rapid.T, s plan.Situation, google *calendars) {
	named := map[string]bool{}
	for _, m := range s.Mirrors {
		named[m.TargetCalendarID+"/"+m.EventID] = true
	}
	for _, path := range google.live() {
		if series, _, _ := strings.Cut(path, "_"); !named[series] { // instances go with their series
			t.Fatalf("%s is left in the calendar", path)
		}
	}
}

func checkSettled(t *rapid.T, s plan.Situation, google *calendars) {
	shows, live := map[string]string{}, map[string]bool{}
	events := map[string]mirror.Event{}
	for _, e := range s.Events {
		events[e.ID] = e
	}
	for _, m := range s.Mirrors {
		e := events[m.CanonicalID]
		if plan.IsInPlace(m, e) {
			shown, found := plan.InPlaceOf(m, e, s.Events)
			if !found {
				t.Fatalf("%+v has nothing to show in place of %+v", m, e)
			}
			e = shown
		}
		switch m.State {
		case mirror.Covered:
			if !isShownOtherwise(s, m, e) {
				t.Fatalf("%+v covers nothing that agrees with %+v", m, e)
			}
			continue
		case mirror.Suppressed:
			continue
		case mirror.Active:
		default:
			t.Fatalf("a mirror is left %+v", m)
		}
		path := m.TargetCalendarID + "/" + m.EventID
		content, _, _ := strings.Cut(m.Wanted, ".")
		if content == "cancelled" {
			if google.events[path].EventState != rules.Gone {
				t.Fatalf("an occurrence is not cancelled: %+v", m)
			}
			continue
		}
		live[path] = true
		if got := plan.Hash(plan.Shown(*google.events[path].Details)); got != content || content != plan.Hash(plan.Project(e, m.Detail)) {
			t.Fatalf("%s shows %+v, want %+v", path, google.events[path].Details, plan.Project(e, m.Detail))
		}
		meeting := fmt.Sprint(m.TargetAccountID, e.ICalUID, e.OriginalStart, e.Start, e.End, e.Organizer)
		if shows[meeting] != "" {
			t.Fatalf("%s and %s show the same meeting", shows[meeting], path)
		}
		shows[meeting] = path
		for _, other := range s.Events {
			if other.OwnerID == "ana" && other.AccountID == m.TargetAccountID && other.ICalUID == e.ICalUID &&
				other.OriginalStart == e.OriginalStart && other.Start == e.Start && other.End == e.End &&
				other.Organizer == e.Organizer && !other.Declined && other.Status != "cancelled" {
				t.Fatalf("%s shows a meeting that %+v shows", path, other)
			}
		}
	}
	for _, path := range google.live() {
		if !live[path] {
			t.Fatalf("%s is left in the calendar", path)
		}
	}
}

// isShownOtherwise reports whether the account of a covered mirror shows the meeting by a native
// copy, another mirror or the rule of one of these; or would, but for an overlay calendar that
// its owner deleted.
func isShownOtherwise(s plan.Situation, covered mirror.Mirror, e mirror.Event) bool {
	if covered.Target == mirror.Overlay && s.Accounts[covered.TargetAccountID].Overlay.Suppressed {
		return true
	}
	return slices.ContainsFunc(s.Events, func(other mirror.Event) bool {
		m := of(s, other, covered.TargetAccountID)
		isNative := other.OwnerID == "ana" && other.AccountID == covered.TargetAccountID && !other.Declined && other.Status != "cancelled"
		isMirror := m.State == mirror.Active && !strings.HasPrefix(m.Wanted, "cancelled")
		if !isNative && !isMirror || other.ICalUID != e.ICalUID || other.Organizer != e.Organizer {
			return false
		}
		after := e.Start.Time.Sub(other.Start.Time)
		isByRule := len(other.Recurrence) > 0 && e.SeriesID != "" && after >= 0 && after%(7*24*hour) == 0 && after/(7*24*hour) < 10
		return e.Start.Equal(other.Start) && e.End.Equal(other.End) || isByRule && e.Start.Equal(e.OriginalStart)
	})
}

func TestPlan_WantsNoMirrorOfAMirror(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := applied(anySituation(t))
		google := newCalendars()
		s = google.write(s)
		for path, event := range google.events {
			calendar, _, _ := strings.Cut(path, "/")
			if class := plan.Classify(event, calendar, "here", mirror.Naming{Mirrors: s.Mirrors}); class != plan.Ours &&
				event.EventState != rules.Gone {
				t.Fatalf("the event %s of a mirror is %s", event.ID, class)
			}
		}
	})
}

// People change and delete mirrors; what is not left alone comes back as it should be.
func TestObserved_AnySequence_Converges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, google := anySituation(t), newCalendars()
		s, _ = applied(s)
		s = google.write(s)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			s.Now = s.Now.Add(time.Duration(rapid.IntRange(1, 600).Draw(t, "minutes")) * time.Minute)
			if paths := google.live(); len(paths) > 0 {
				path := rapid.SampledFrom(paths).Draw(t, "path")
				calendar, id, _ := strings.Cut(path, "/")
				if rapid.Bool().Draw(t, "deletes") {
					google.delete(calendar, id)
				} else {
					content := plan.Shown(*google.events[path].Details)
					content.Summary += "!"
					google.put(calendar, id, content)
				}
				s, _ = google.observe(s, path)
			}
			if rapid.Bool().Draw(t, "written") {
				s = google.write(s)
			}
		}
		s, _ = applied(s) // time has passed
		s = google.write(s)
		for _, m := range s.Mirrors {
			if m.State != mirror.Active && m.State != mirror.Covered && m.State != mirror.Suppressed && m.State != mirror.Contested {
				t.Fatalf("a mirror is left %+v", m)
			}
			content, _, _ := strings.Cut(m.Wanted, ".")
			if event := google.events[m.TargetCalendarID+"/"+m.EventID]; m.State == mirror.Active && content != "cancelled" &&
				plan.Hash(plan.Shown(*event.Details)) != content {
				t.Fatalf("%+v shows %+v", m, event.Details)
			}
		}
		calls := google.calls
		s, _ = applied(s)
		google.write(s)
		if google.calls != calls {
			t.Fatal("a second run writes")
		}
	})
}
