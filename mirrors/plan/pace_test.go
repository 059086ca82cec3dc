package plan_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
)

const step = 10 * time.Minute

func by(organizer string) func(e *mirror.Event) {
	return func(e *mirror.Event) { e.Organizer = mirror.OrganizerOf(organizer) }
}

// busySeries is a weekly series by an organizer and n exceptions, each an hour late; the first
// two are over.
func busySeries(n int, organizer string) (master mirror.Event, exceptions []mirror.Event) {
	master = with(meeting("s", -hour-13*24*hour), weekly, by(organizer))
	for week := range n {
		exceptions = append(exceptions, exception(fmt.Sprint("x", week), master, func(e *mirror.Event) {
			later := time.Duration(week) * 7 * 24 * hour
			e.OriginalStart.Time = master.Start.Time.Add(later)
			e.Start.Time, e.End.Time = master.Start.Time.Add(later+hour), master.Start.Time.Add(later+2*hour)
		}))
	}
	return master, exceptions
}

// waits are how long the mirrors of exceptions in an account wait, by the exceptions' ids.
func waits(s plan.Situation, account string) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, m := range s.Mirrors {
		if m.TargetAccountID != account || m.SeriesMirrorID == "" || m.Due.IsZero() {
			continue
		}
		all[m.CanonicalID[4:]] = m.Due.Sub(s.Now)
		if held := m.NotBefore.After(s.Now); held != m.Due.After(s.Now) || held && !m.NotBefore.Equal(m.Due) {
			all[m.CanonicalID[4:]] = -1
		}
	}
	return all
}

func TestPlan_ExceptionsOfOthersSeries_WaitTheirTurn(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(7, "boss@x")
	nearestFirst := map[string]time.Duration{"x2": 0, "x3": 0, "x4": step, "x5": step, "x6": 2 * step}
	atOnce := map[string]time.Duration{"x2": 0, "x3": 0, "x4": 0, "x5": 0, "x6": 0}
	cancelledUnknown := func(e *mirror.Event) { isCancelled(e); e.Organizer = "" }
	for name, row := range map[string]struct {
		master, exception func(e *mirror.Event)
		want              map[string]time.Duration
	}{
		"by somebody else":               {by("boss@x"), by("boss@x"), nearestFirst},
		"by a shared calendar":           {by("team@group.x"), by("team@group.x"), nearestFirst},
		"by nobody that is known":        {by(""), by(""), nearestFirst},
		"by the calendar's owner":        {by("work@x"), by("work@x"), atOnce},
		"by another account of theirs":   {by("Club@X"), by("Club@X"), atOnce},
		"cancelled, by somebody else":    {by("boss@x"), cancelledUnknown, atOnce},
		"cancelled, by the owner":        {by("work@x"), cancelledUnknown, atOnce},
		"moved to another organizer now": {by("work@x"), by("boss@x"), atOnce},
	} {
		events := []mirror.Event{with(master, row.master)}
		for _, e := range exceptions {
			events = append(events, with(e, row.exception))
		}
		slices.Reverse(events)
		s := situation(events...)
		s.MostExceptions = 2
		s, _ = applied(s)
		if got := waits(s, "home"); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: they wait %v, want %v", name, got, row.want)
		}
	}
}

// Cancelled occurrences, whose time is free, have turns of their own, four times as many.
func TestPlan_OccurrencesOfOthersCancelled_WaitForFewTurns(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(11, "boss@x")
	exceptions = exceptions[2:]
	for i := 2; i < len(exceptions); i++ {
		exceptions[i] = with(exceptions[i], isCancelled)
	}
	s := situation(append(exceptions, master)...)
	s.MostExceptions = 1
	s, _ = applied(s)
	want := map[string]time.Duration{"x2": 0, "x3": step, "x4": 0, "x5": 0, "x6": 0, "x7": 0, "x8": step, "x9": step, "x10": step}
	if got := waits(s, "home"); !reflect.DeepEqual(got, want) {
		t.Errorf("they wait %v, want %v", got, want)
	}
}

// An occurrence that waits and is cancelled is free now, and takes its turn among those.
func TestPlan_CancelledWhileItWaits_WaitsNoLonger(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(6, "boss@x")
	s, google := situation(append(exceptions[2:], master)...), newCalendars()
	s.MostExceptions = 1
	s, _ = applied(s)
	s = google.write(s)
	s.Now = s.Now.Add(time.Minute)
	s.Events = slices.Clone(s.Events)
	s.Events[3] = with(s.Events[3], isCancelled)
	s, _ = applied(s)
	want := map[string]time.Duration{"x3": 9 * time.Minute, "x4": 19 * time.Minute, "x5": 0}
	if got := waits(s, "home"); !reflect.DeepEqual(got, want) {
		t.Errorf("they wait %v, want %v", got, want)
	}
}

// Copies that an edit changes are written nearest first, and last those of the past.
func TestPlan_ExceptionsThatAreOver_ComeLast(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(5, "boss@x")
	s := situation(append(exceptions, master)...)
	s.Now = now.Add(-20 * 24 * hour)
	s, _ = applied(s)
	s = newCalendars().write(s)
	s.Now, s.MostExceptions = now, 2
	s.Events[5] = with(s.Events[5], func(e *mirror.Event) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=11"} })
	s, _ = applied(s)
	want := map[string]time.Duration{"x2": 0, "x3": 0, "x4": step, "x0": step, "x1": 2 * step}
	if got := waits(s, "home"); !reflect.DeepEqual(got, want) {
		t.Errorf("they wait %v, want %v", got, want)
	}
}

func TestPlan_WithoutABound_FiftyAtOnce(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(110, "boss@x")
	for i := range exceptions {
		exceptions[i] = with(exceptions[i], func(e *mirror.Event) {
			at := now.Add(time.Duration(i+1) * hour)
			e.OriginalStart.Time, e.Start.Time, e.End.Time = at, at.Add(hour), at.Add(2*hour)
		})
	}
	s, _ := applied(situation(append(exceptions, master)...))
	counts := map[time.Duration]int{}
	for _, wait := range waits(s, "home") {
		counts[wait]++
	}
	if want := map[time.Duration]int{0: 50, step: 50, 2 * step: 10}; !reflect.DeepEqual(counts, want) {
		t.Errorf("they wait %v, want %v", counts, want)
	}
}

// Each account has its own turns, and so has each series.
func TestPlan_ManyAccountsAndSeries_DoNotShareTurns(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(4, "boss@x")
	other := with(master, func(e *mirror.Event) { e.ID, e.EventID, e.ICalUID = "evt_o", "o", "uid-o" })
	events := append(slices.Clone(exceptions[2:]), master, other)
	for _, e := range exceptions[2:] {
		events = append(events, with(e, func(e *mirror.Event) { e.ID, e.SeriesID, e.ICalUID = e.ID+"o", "o", "uid-o" }))
	}
	s := situation(events...)
	s.Edges = append(s.Edges, edge("work", "club", mirror.Full))
	s.MostExceptions = 1
	s, _ = applied(s)
	want := map[string]time.Duration{"x2": 0, "x3": step, "x2o": 0, "x3o": step}
	for _, account := range []string{"home", "club"} {
		if got := waits(s, account); !reflect.DeepEqual(got, want) {
			t.Errorf("in %s they wait %v, want %v", account, got, want)
		}
	}
}

// An edit soon after another finds the first step used up; what waits keeps its turn.
func TestPlan_EditedAgain_KeepsTurnsAndTakesLaterOnes(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(6, "boss@x")
	s, google := situation(append(exceptions[2:], master)...), newCalendars()
	s.MostExceptions = 2
	s, _ = applied(s)
	s = google.write(s)
	if got, want := waits(s, "home"), map[string]time.Duration{"x4": step, "x5": step}; !reflect.DeepEqual(got, want) {
		t.Fatalf("they wait %v, want %v", got, want)
	}
	s.Now = s.Now.Add(4 * time.Minute)
	s.Events = slices.Clone(s.Events)
	s.Events[4] = with(s.Events[4], func(e *mirror.Event) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=11"} })
	s, _ = applied(s)
	want := map[string]time.Duration{"x4": 6 * time.Minute, "x5": 6 * time.Minute, "x2": 2 * step, "x3": 2 * step}
	if got := waits(s, "home"); !reflect.DeepEqual(got, want) {
		t.Errorf("they wait %v, want %v", got, want)
	}
	if again := plan.Plan(s); len(again) > 0 {
		t.Errorf("planned again: %+v", again)
	}
}

// Exceptions that are due and not written yet have their places, also behind their series.
func TestPlan_EditedBeforeTheWrites_TakesLaterTurns(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(6, "boss@x")
	s := situation(append(slices.Clone(exceptions[2:4]), master)...)
	s.MostExceptions = 2
	s, _ = applied(s)
	s.Now = s.Now.Add(time.Minute)
	s.Events = append(slices.Clone(exceptions[2:]), master)
	s, _ = applied(s)
	want := map[string]time.Duration{"x2": -time.Minute, "x3": -time.Minute, "x4": step, "x5": step}
	if got := waits(s, "home"); !reflect.DeepEqual(got, want) {
		t.Errorf("they wait %v, want %v", got, want)
	}
}

// A copy that waits and is not wanted any more is removed at once.
func TestPlan_UnwantedWhileItWaits_IsDueAtOnce(t *testing.T) {
	t.Parallel()
	master, exceptions := busySeries(5, "boss@x")
	s := situation(append(exceptions[2:], master)...)
	s.MostExceptions = 1
	s, _ = applied(s)
	s.Edges = nil
	s, _ = applied(s)
	for _, m := range s.Mirrors {
		if !m.Due.Equal(s.Now) || plan.Next(m) != plan.Delete {
			t.Errorf("it is %+v", m)
		}
	}
}

// Whatever somebody else edits, and however often, no more exceptions than the bound, with
// cancelled ones no more than five times as many, are written within a step, less the minute that
// the writer may be late, and when they leave off every exception is copied as it then is.
func TestPlan_EditedAtAnyTime_IsBoundedAndCompleted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		master, exceptions := busySeries(8, "boss@x")
		s, google := situation(append(exceptions[2:], master)...), newCalendars()
		s.MostExceptions = rapid.IntRange(1, 3).Draw(t, "most")
		type written struct {
			id string
			at time.Time
		}
		var writes []written
		anyCancelled := false
		turn := func() {
			before := map[string]mirror.Mirror{}
			for _, m := range s.Mirrors {
				before[m.ID] = m
			}
			s = google.write(s)
			for _, m := range s.Mirrors {
				if was := before[m.ID]; m.SeriesMirrorID != "" && m.Written != "" && (m.LastWrite.After(was.LastWrite) || m.ETag != was.ETag) {
					writes = append(writes, written{m.ID, s.Now})
				}
			}
		}
		pass := func(d time.Duration) {
			for end := s.Now.Add(d); s.Now.Before(end); s.Now = s.Now.Add(min(time.Minute, end.Sub(s.Now))) {
				turn()
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			s.Events = slices.Clone(s.Events)
			last := len(s.Events) - 1
			switch i := rapid.IntRange(0, last).Draw(t, "edited"); {
			case i == last:
				rule := fmt.Sprint("RRULE:FREQ=WEEKLY;COUNT=", 10+len(writes))
				s.Events[i] = with(s.Events[i], func(e *mirror.Event) { e.Recurrence = []string{rule} })
			case rapid.Bool().Draw(t, "cancelled"):
				anyCancelled = true
				s.Events[i] = with(s.Events[i], isCancelled)
			default:
				s.Events[i] = with(s.Events[i], func(e *mirror.Event) {
					e.Status, e.Start, e.End = "confirmed", shifted(e.Start, hour), shifted(e.End, hour)
				})
			}
			s, _ = applied(s)
			if again := plan.Plan(s); len(again) > 0 {
				t.Fatalf("planned again: %+v", again)
			}
			pass(time.Duration(rapid.IntRange(0, 12*60).Draw(t, "seconds")) * time.Second)
		}
		for i, first := range writes {
			changed := map[string]bool{}
			for _, w := range writes[i:] {
				if w.at.Before(first.at.Add(step - time.Minute)) {
					changed[w.id] = true
				}
			}
			most := s.MostExceptions
			if anyCancelled {
				most *= 5
			}
			if len(changed) > most {
				t.Fatalf("%d exceptions within nine minutes, of %d at once: %v", len(changed), most, writes[i:])
			}
		}
		for range 25 {
			s.Now = s.Now.Add(step)
			turn()
		}
		for _, m := range s.Mirrors {
			if m.State != mirror.Active || m.Written != m.Wanted {
				t.Fatalf("it is %+v", m)
			}
		}
	})
}

func shifted(m recurrence.Moment, by time.Duration) recurrence.Moment {
	m.Time = m.Time.Add(by)
	return m
}
