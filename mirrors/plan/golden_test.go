package plan_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares lines with a file of testdata.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path, got := filepath.Join("testdata", name+".golden"), strings.Join(lines, "\n")+"\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range strings.Split(string(text), "\n") {
		if is := strings.Split(got, "\n"); i >= len(is) || is[i] != want {
			t.Fatalf("%s:%d differs (go test -update writes it anew):\n got %s\nwant %s", path, i+1, append(is, make([]string, i+1)...)[i], want)
		}
	}
}

// changes lists the fields of a structure that differ, as they are afterwards.
func changes(was, is any) string {
	var parts []string
	a, b := reflect.ValueOf(was), reflect.ValueOf(is)
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if !field.IsExported() || reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		parts = append(parts, field.Name+"="+value(b.Field(i).Interface()))
	}
	if len(parts) == 0 {
		return "unchanged"
	}
	return strings.Join(parts, " ")
}

func value(of any) string {
	switch v := of.(type) {
	case time.Time:
		if v.IsZero() {
			return "never"
		}
		return "now" + strings.Replace("+"+v.Sub(now).String(), "+-", "-", 1)
	case string:
		if content, stamp, isException := strings.Cut(v, "."); isException && len(stamp) == 16 {
			return content[:min(9, len(content))] + ".stamp"
		} else if len(v) == 32 {
			return "content"
		}
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(of)
}

type namedMirror struct {
	name   string
	change func(m *mirror.Mirror)
}

// mirrors are the ways in which a mirror of a written event may be met.
var mirrors = []namedMirror{
	{"active", func(*mirror.Mirror) {}},
	{"pending, not inserted", func(m *mirror.Mirror) {
		m.State, m.EventID, m.ETag, m.Written, m.Answered = mirror.Pending, "", "", "", ""
	}},
	{"pending", func(m *mirror.Mirror) {
		m.State, m.Due, m.Attempts, m.LastError = mirror.Pending, now.Add(time.Minute), 2, "busy"
	}},
	{"failed", func(m *mirror.Mirror) {
		m.State, m.Due, m.Attempts, m.LastError = mirror.Failed, now.Add(hour), 5, "refused"
	}},
	{"being deleted", func(m *mirror.Mirror) { m.State, m.Wanted, m.Due = mirror.Deleting, "", now }},
	{"its deletion failed", func(m *mirror.Mirror) { m.State, m.Wanted, m.Due, m.Attempts = mirror.Failed, "", now.Add(hour), 5 }},
	{"being replaced", func(m *mirror.Mirror) { m.State, m.Replacing, m.Due = mirror.Deleting, true, now }},
	{"its replacement failed", func(m *mirror.Mirror) {
		m.State, m.Replacing, m.Due, m.Attempts = mirror.Failed, true, now.Add(hour), 5
	}},
	{"covered", func(m *mirror.Mirror) {
		m.State, m.Wanted, m.EventID, m.ETag, m.TargetCalendarID = mirror.Covered, "covered", "", "", ""
	}},
	{"covered, its event there yet", func(m *mirror.Mirror) { m.State, m.Wanted, m.Due = mirror.Deleting, "covered", now }},
	{"suppressed", func(m *mirror.Mirror) { m.State = mirror.Suppressed }},
	{"suppressed without an event", func(m *mirror.Mirror) { m.State, m.EventID, m.ETag, m.TargetCalendarID = mirror.Suppressed, "", "", "" }},
	{"contested", func(m *mirror.Mirror) { m.State = mirror.Contested }},
	{"in the primary calendar", func(m *mirror.Mirror) { m.TargetCalendarID = "home@x" }},
	{"not inserted, failing", func(m *mirror.Mirror) {
		m.State, m.EventID, m.ETag, m.Written, m.Answered, m.Attempts, m.LastError = mirror.Pending, "", "", "", "", 2, "busy"
	}},
	{"for the primary, not inserted", func(m *mirror.Mirror) {
		m.State, m.EventID, m.ETag, m.TargetCalendarID = mirror.Pending, "", "", "home@x"
	}},
	{"in an unknown calendar", func(m *mirror.Mirror) { m.TargetCalendarID = "" }},
	{"of another content", func(m *mirror.Mirror) {
		m.Wanted, m.FromAccountID, m.FromCalendarID, m.GroupID = "other", "club", "club@x", "group"
	}},
	{"of a series", func(m *mirror.Mirror) { m.SeriesMirrorID, m.Wanted = "mir_series", m.Wanted+".0123456789abcdef" }},
}

type namedSituation struct {
	name   string
	change func(s *plan.Situation)
}

func account(change func(a *plan.Account)) func(s *plan.Situation) {
	return func(s *plan.Situation) {
		a := s.Accounts["home"]
		change(&a)
		s.Accounts["home"] = a
	}
}

func toPrimary(s *plan.Situation) { s.Edges[0].Target = mirror.PrimaryTarget }

var situations = []namedSituation{
	{"as it was", func(*plan.Situation) {}},
	{"moved", func(s *plan.Situation) { s.Events[0] = with(s.Events[0], later) }},
	{"cancelled", func(s *plan.Situation) { s.Events[0] = with(s.Events[0], isCancelled) }},
	{"covered", func(s *plan.Situation) { s.Events = append(s.Events, invited("n", s.Events[0], "home")) }},
	{"into the primary", toPrimary},
	{"the overlay deleted", account(func(a *plan.Account) { a.Overlay = mirror.OverlayCalendar{Suppressed: true} })},
	{"the overlay not made yet", account(func(a *plan.Account) { a.Overlay = mirror.OverlayCalendar{} })},
	{
		"the overlay deleted, no primary known",
		account(func(a *plan.Account) { a.PrimaryID, a.Overlay = "", mirror.OverlayCalendar{Suppressed: true} }),
	},
	{"into the primary, the overlay deleted", func(s *plan.Situation) {
		toPrimary(s)
		account(func(a *plan.Account) { a.Overlay = mirror.OverlayCalendar{Suppressed: true} })(s)
	}},
	{"into the primary, which is not known", func(s *plan.Situation) { toPrimary(s); account(func(a *plan.Account) { a.PrimaryID = "" })(s) }},
	{"the grant revoked", account(func(a *plan.Account) { a.Usable = false })},
	{"moved, the grant revoked", func(s *plan.Situation) {
		s.Events[0] = with(s.Events[0], later)
		account(func(a *plan.Account) { a.Usable = false })(s)
	}},
	{"unlinked", func(s *plan.Situation) { delete(s.Accounts, "home") }},
}

// Every mirror in every situation: read a difference as the change of behaviour that it is.
func TestPlan_EveryMirror_BecomesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	var lines []string
	written, _ := active()
	for _, of := range mirrors {
		lines = append(lines, "# "+of.name)
		for _, in := range situations {
			s := situation(meeting("a", hour))
			was := written
			of.change(&was)
			s.Mirrors = []mirror.Mirror{was}
			in.change(&s)
			line := "nothing to store"
			for _, next := range plan.Plan(s) {
				line = string(plan.Next(next)) + ": " + changes(was, next)
			}
			lines = append(lines, in.name+": "+line)
		}
	}
	golden(t, "plan", lines)
}

// exceptions are the ways in which the mirrors of a series and of its exception may be met.
var exceptions = []struct {
	name   string
	change func(series, exception *mirror.Mirror, s *plan.Situation)
}{
	{"as they were", func(_, _ *mirror.Mirror, _ *plan.Situation) {}},
	{"the series is replaced", func(series, _ *mirror.Mirror, _ *plan.Situation) {
		series.State, series.Replacing = mirror.Deleting, true
	}},
	{"the series is suppressed", func(series, _ *mirror.Mirror, _ *plan.Situation) { series.State = mirror.Suppressed }},
	{"the series is contested", func(series, _ *mirror.Mirror, _ *plan.Situation) { series.State = mirror.Contested }},
	{"the series has another event", func(series, _ *mirror.Mirror, _ *plan.Situation) { series.Generation++ }},
	{"the series has another rule", func(_, _ *mirror.Mirror, s *plan.Situation) {
		s.Events[0] = with(s.Events[0], func(e *mirror.Event) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=9"} })
	}},
	{"the series has another zone", func(_, _ *mirror.Mirror, s *plan.Situation) {
		s.Events[0] = with(s.Events[0], func(e *mirror.Event) { e.Start.Zone = "Europe/Zurich" })
	}},
	{"the series is cancelled", func(_, _ *mirror.Mirror, s *plan.Situation) { s.Events[0] = with(s.Events[0], isCancelled) }},
	{"the exception is cancelled", func(_, _ *mirror.Mirror, s *plan.Situation) { s.Events[1] = with(s.Events[1], isCancelled) }},
	{"the exception is gone", func(_, _ *mirror.Mirror, s *plan.Situation) { s.Events = s.Events[:1] }},
	{"both are gone", func(_, _ *mirror.Mirror, s *plan.Situation) { s.Events = nil }},
	{"the exception's series is gone", func(_, _ *mirror.Mirror, s *plan.Situation) { s.Mirrors, s.Events = s.Mirrors[1:], nil }},
	{"the exception is suppressed", func(_, exception *mirror.Mirror, _ *plan.Situation) { exception.State = mirror.Suppressed }},
	{"the exception failed", func(_, exception *mirror.Mirror, _ *plan.Situation) {
		exception.State, exception.Attempts, exception.Due = mirror.Failed, 5, now.Add(hour)
	}},
	{"the exception had its own event", func(_, exception *mirror.Mirror, _ *plan.Situation) { exception.SeriesMirrorID = "" }},
	{"that was suppressed", func(_, exception *mirror.Mirror, _ *plan.Situation) {
		exception.SeriesMirrorID, exception.State = "", mirror.Suppressed
	}},
	{"that was contested", func(_, exception *mirror.Mirror, _ *plan.Situation) {
		exception.SeriesMirrorID, exception.State = "", mirror.Contested
	}},
	{"the overlay was made anew", func(_, _ *mirror.Mirror, s *plan.Situation) {
		account(func(a *plan.Account) { a.Overlay.CalendarID = "second" })(s)
	}},
	{"into the primary", func(_, _ *mirror.Mirror, s *plan.Situation) { toPrimary(s) }},
	{"long over", func(_, _ *mirror.Mirror, s *plan.Situation) { s.Now = now.AddDate(1, 0, 0) }},
	{"over by the rule, and moved ahead", func(_, exception *mirror.Mirror, s *plan.Situation) {
		s.Now = now.AddDate(1, 0, 0)
		*exception = mirror.Mirror{}
		s.Events[1] = with(s.Events[1], func(e *mirror.Event) { e.Start, e.End = at(366*24*hour), at(366*24*hour+hour) })
	}},
	{"over, and to come by the rule", func(_, exception *mirror.Mirror, s *plan.Situation) {
		s.Now = s.Events[1].OriginalStart.Time
		*exception = mirror.Mirror{}
		s.Events[1] = with(s.Events[1], func(e *mirror.Event) { e.Start, e.End = at(-hour), at(0) })
	}},
}

func TestPlan_EveryException_BecomesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	var lines []string
	first := written(situation(series, moved), newCalendars())
	for _, c := range exceptions {
		s := situation(series, moved)
		was := []mirror.Mirror{of(first, series, "home"), of(first, moved, "home")}
		master, exception := was[0], was[1]
		s.Mirrors = []mirror.Mirror{master, exception}
		c.change(&master, &exception, &s)
		byID := map[string]mirror.Mirror{master.ID: master, exception.ID: exception}
		for i, m := range s.Mirrors {
			s.Mirrors[i] = map[string]mirror.Mirror{was[0].ID: master, was[1].ID: exception}[m.ID]
		}
		lines = append(lines, "# "+c.name)
		for _, next := range plan.Plan(s) {
			lines = append(lines, next.CanonicalID[4:]+", "+string(plan.Next(next))+": "+changes(byID[next.ID], next))
		}
	}
	golden(t, "exceptions", lines)
}

// What is observed of a mirror's event, with what it shows.
func observations(event gcal.Event) []struct {
	name  string
	shown gcal.Event
} {
	changed := func(change func(e *gcal.Event)) gcal.Event { e := dragged(event, 5*hour); change(&e); return e }
	return []struct {
		name  string
		shown gcal.Event
	}{
		{"as written", event},
		{"as written, later", func() gcal.Event { e := event; e.Updated, e.ETag = e.Updated.Add(hour), "next"; return e }()},
		{"moved", changed(func(*gcal.Event) {})},
		{"moved, without an etag", changed(func(e *gcal.Event) { e.ETag = "" })},
		{"moved before", changed(func(e *gcal.Event) { e.Updated = event.Updated.Add(-hour) })},
		{"moved at an unknown time", changed(func(e *gcal.Event) { e.Updated = time.Time{} })},
		{"gone", absent(event.ID, event.Updated.Add(hour))},
		{"gone, the id alone", gcal.Event{ID: event.ID, EventState: rules.Gone}},
		{"unreadable", changed(func(e *gcal.Event) { e.EventState = rules.Unreadable })},
		{"without details", changed(func(e *gcal.Event) { e.Details = nil })},
		{"another event", changed(func(e *gcal.Event) { e.ID = "other" })},
		{"no event", changed(func(e *gcal.Event) { e.ID = "" })},
	}
}

func TestObserved_EveryMirror_BecomesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	var lines []string
	written, event := active()
	all := append(slices.Clip(mirrors),
		namedMirror{"reverted three times", func(m *mirror.Mirror) {
			m.Reverts = []time.Time{now.Add(-24 * hour), now.Add(-23 * hour), now.Add(-2 * hour), now.Add(-hour)}
		}},
		namedMirror{"reverted twice, and a day ago", func(m *mirror.Mirror) {
			m.Reverts = []time.Time{now.Add(-24 * hour), now.Add(-23 * hour), now.Add(-hour)}
		}},
		namedMirror{"deleted today", func(m *mirror.Mirror) { m.DeletedAt = now.Add(-23 * hour) }},
		namedMirror{"deleted a day ago", func(m *mirror.Mirror) { m.DeletedAt = now.Add(-24 * hour) }},
		namedMirror{"pending, the answer missing", func(m *mirror.Mirror) {
			m.State, m.ETag, m.Answered, m.AnsweredAt = mirror.Pending, "", "", time.Time{}
		}},
		namedMirror{
			"failed, the answer missing",
			func(m *mirror.Mirror) { m.State, m.ETag, m.Answered, m.AnsweredAt = mirror.Failed, "", "", time.Time{} },
		},
		namedMirror{"active, the answer missing", func(m *mirror.Mirror) { m.ETag, m.Answered, m.AnsweredAt = "", "", time.Time{} }},
		namedMirror{"of a series, the answer missing", func(m *mirror.Mirror) {
			m.State, m.ETag, m.Answered, m.AnsweredAt, m.SeriesMirrorID = mirror.Pending, "", "", time.Time{}, "mir_series"
		}},
		namedMirror{"the answer missing, observed gone", func(m *mirror.Mirror) {
			m.State, m.ETag, m.Answered, m.AnsweredAt = mirror.Pending, "", "cancelled", event.Updated.Add(-time.Minute)
		}},
		namedMirror{"answered otherwise", func(m *mirror.Mirror) { m.Answered = "otherwise" }},
	)
	for _, of := range all {
		lines = append(lines, "# "+of.name)
		for _, observation := range observations(event) {
			was := written
			of.change(&was)
			next, verdict := plan.Observed(was, observation.shown, now.Add(time.Minute))
			lines = append(lines, observation.name+": "+string(verdict)+": "+changes(was, next))
			if overtaken := plan.Written(next, next.Wanted, event, now); next.ETag == "" {
				lines = append(lines, "\tthen answered: "+changes(next, overtaken))
			}
		}
	}
	golden(t, "observed", lines)
}

func TestFailedWrite_EveryError_LeavesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, state := range []mirror.State{mirror.Pending, mirror.Deleting, mirror.Failed} {
		for attempts := range int64(7) {
			was := mirror.Mirror{State: state, Attempts: attempts, LastError: "before", FailedSince: now.Add(-hour)}
			lines = append(lines, fmt.Sprint(state, " after ", attempts, ": ", changes(was, plan.FailedWrite(was, errors.New("odd"), now))))
		}
	}
	golden(t, "failures", lines)
}
