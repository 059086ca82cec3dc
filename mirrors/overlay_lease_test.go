package mirrors_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// leased is an overlay calendar whose creation an attempt has to itself until then.
func leased(until time.Time) mirror.OverlayCalendar {
	return mirror.OverlayCalendar{Generation: 1, Mark: "qs-overlay-earlier", TryingUntil: until}
}

// record stores an overlay calendar of home's.
func (s *stage) record(o mirror.OverlayCalendar) {
	s.Helper()
	s.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, home, o, s.clock.Now())...)
}

// A lease is left to run out only if the call may have created a calendar.
func TestOverlay_ACreationThatFails_GivesItsLeaseBack(t *testing.T) {
	t.Parallel()
	const call = "calendars.insert"
	refused := control.Rule{Match: call, Status: 400, Reason: "invalid"}
	lost := control.Rule{Match: call, LostAnswer: true}
	unzoned := control.Rule{Match: "events.list", Status: 503}
	earlier := stageStart.Add(-time.Hour)
	for name, row := range map[string]struct {
		rules   []control.Rule
		granted []string // empty: everything
		before  time.Time
		until   time.Time
		inserts int
	}{
		"refused":                  {rules: []control.Rule{refused}, inserts: 1},
		"refused after an attempt": {rules: []control.Rule{refused}, before: earlier, until: earlier, inserts: 1},
		"not answered":             {rules: []control.Rule{{Match: call, Status: 503}}, until: stageStart.Add(2 * time.Minute), inserts: 1},
		"the answer is lost":       {rules: []control.Rule{lost}, until: stageStart.Add(2 * time.Minute), inserts: 1},
		"the list is not answered": {rules: []control.Rule{{Match: "calendarList.list", Status: 503}}, before: earlier, until: earlier},
		"nothing answers about a zone": {
			rules: []control.Rule{unzoned}, granted: []string{google.ScopeEvents, google.ScopeAppCreated},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.toOverlay()
			if len(row.granted) > 0 {
				s.grant(row.granted...)
			}
			s.event("e1", "Stand-up")
			if !row.before.IsZero() {
				s.record(leased(row.before))
			}
			for _, rule := range row.rules {
				s.must(s.google.Control().Plant(rule))
			}
			s.write(s.writer, s.only())
			if o := s.person(); !o.TryingUntil.Equal(row.until) || o.Generation != 1 || o.Mark == "" || o.CalendarID != "" {
				t.Errorf("recorded is %+v, want one tried until %v", o, row.until)
			}
			if m := s.only(); m.LastError == "" || !m.Due.After(s.clock.Now()) {
				t.Errorf("the mirror is %+v", m)
			}
			if calls := s.google.Control().Calls()[call]; calls != row.inserts {
				t.Errorf("%d calls would create one, want %d", calls, row.inserts)
			}
			s.google.Control().Clear()
			s.grant()
			s.run(25 * time.Hour)
			s.each(1)
		})
	}
}

// opening is Google while whose creation of a calendar something else happens.
type opening struct {
	mirrors.Google
	during func()
}

func (o *opening) InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (string, error) {
	o.during()
	return o.Google.InsertCalendar(ctx, account, calendar)
}

// A later attempt, or a later calendar, keeps its lease when an earlier attempt fails.
func TestOverlay_DecidedOtherwiseDuringAFailure_IsLeft(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(o *mirror.OverlayCalendar){
		"another attempt began": func(o *mirror.OverlayCalendar) { o.TryingUntil = o.TryingUntil.Add(time.Minute) },
		"it is begun again":     func(o *mirror.OverlayCalendar) { o.Generation++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.toOverlay()
			s.event("e1", "Stand-up")
			s.refuse("calendars.insert")
			var decided mirror.OverlayCalendar
			s.writer.Google = &opening{s.writer.Google, func() {
				decided = s.person()
				decide(&decided)
				s.record(decided)
			}}
			s.write(s.writer, s.only())
			if recorded := s.person(); recorded != decided {
				t.Errorf("recorded is %+v, want %+v", recorded, decided)
			}
		})
	}
}

// A mirror whose overlay calendar another attempt creates looks for it again soon.
func TestOverlay_WhileAnotherCreatesIt_IsAwaited(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		until time.Time
		waits bool
	}{
		"a moment longer":  {stageStart.Add(time.Millisecond), true},
		"for two minutes":  {stageStart.Add(2 * time.Minute), true},
		"until now":        {stageStart, false},
		"until a time ago": {stageStart.Add(-time.Minute), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.toOverlay()
			s.event("e1", "Stand-up")
			was := leased(row.until)
			s.record(was)
			s.write(s.writer, s.only())
			m, now := s.only(), s.person()
			if row.waits && (now != was || !m.Due.Equal(stageStart.Add(5*time.Second)) || m.State != mirror.Pending) {
				t.Errorf("recorded is %+v, the mirror is due %v: %+v", now, m.Due, m)
			}
			if !row.waits && (now.CalendarID == "" || !now.TryingUntil.IsZero() || now.Mark != was.Mark || m.State != mirror.Active) {
				t.Errorf("recorded is %+v, the mirror %+v", now, m)
			}
			s.run(5 * time.Minute)
			s.each(1)
		})
	}
}

// What is decided between the choice to create a calendar and the lease counts at once.
func TestOverlay_DecidedBeforeItsLease_IsNotCreated(t *testing.T) {
	t.Parallel()
	const beforeLease = 3 // behind the two points of the reading transaction
	for name, row := range map[string]struct {
		decided mirror.OverlayCalendar
		state   mirror.State
	}{
		"it is there":      {mirror.OverlayCalendar{CalendarID: "first", Generation: 1}, mirror.Active},
		"it is left alone": {mirror.OverlayCalendar{Suppressed: true, Generation: 1}, mirror.Suppressed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.must(s.google.AddCalendar(google.Calendar{ID: "first", Owner: home}))
			s.toOverlay()
			s.event("e1", "Stand-up")
			s.points.DoAt(beforeLease, func() error { s.record(row.decided); return nil })
			s.write(s.writer, s.only())
			if m := s.only(); m.State != row.state || !m.Due.IsZero() {
				t.Errorf("the mirror is %+v", m)
			}
			if recorded := s.person(); recorded != row.decided || len(s.overlays()) > 0 {
				t.Errorf("recorded is %+v, want %+v", recorded, row.decided)
			}
		})
	}
}

// What an overlay calendar's deletion means for its mirrors is in the journals of their events.
func TestOverlay_DeletedByItsOwner_SaysSoInTheJournals(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	shown, unwanted := s.event("e1", "Stand-up"), s.event("e2", "Review")
	series := s.event("e3", "Weekly", weekly)
	s.run(2 * time.Minute)
	first := s.person().CalendarID
	s.deleteCalendar(first)
	s.stored("e2", "Review", func(e *mirror.Event) { e.Status = "cancelled" })
	s.plan(unwanted.ICalUID)
	s.event("e1", "Retrospective")
	s.write(s.writer, s.mirrorOf(shown.ID))
	for id, want := range map[string]string{
		shown.ID:    "planned PENDING>SUPPRESSED its owner deleted the calendar",
		series.ID:   "planned ACTIVE>SUPPRESSED its owner deleted the calendar",
		unwanted.ID: "forgotten DELETING> ",
	} {
		if got := s.lastEntry(id); got != want {
			t.Errorf("the journal of %s ends with %q, want %q", id, got, want)
		}
	}
	for _, m := range s.mirrors() {
		if m.TargetCalendarID != "" || m.EventID != "" || m.ETag != "" || m.Generation != 2 {
			t.Errorf("the mirror is %+v", m)
		}
	}
}

// The calendar is deleted after a mirror was planned that is to create it.
func TestOverlay_LeftAloneSinceThePlan_SaysSoInTheJournal(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	e := s.event("e1", "Stand-up")
	s.record(mirror.OverlayCalendar{Suppressed: true, Generation: 1})
	s.write(s.writer, s.only())
	if got, want := s.lastEntry(e.ID), "planned PENDING>SUPPRESSED its owner deleted the calendar"; got != want {
		t.Errorf("the journal ends with %q, want %q", got, want)
	}
}

// lastEntry is the latest entry about a mirror in the journal of an event.
func (s *stage) lastEntry(eventID string) string {
	s.Helper()
	entries, _, err := mirror.LoadJournal(s.ctx, s.memory, eventID, store.Paging{Limit: 1})
	s.must(err)
	if len(entries) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s>%s %s", entries[0].Step, entries[0].Before, entries[0].After, entries[0].Reason)
}

// An overlay calendar is followed once it is there, and not once its owner deleted it. What the
// watch of it says delays no mirror.
func TestOverlay_MadeAndDeleted_IsFollowedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{"watched": nil, "not watched yet": fault.New(fault.Unavailable, "it did not answer")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			var asked []string
			s.writer.Follow = func(_ context.Context, account, calendarID string, _ scheduler.Cause) error {
				asked = append(asked, account+"/"+calendarID)
				return answer
			}
			s.toOverlay()
			s.event("e1", "Stand-up")
			s.event("e2", "Review")
			s.run(2 * time.Minute)
			s.each(2)
			id := s.person().CalendarID
			interest := func() int64 {
				c, _, err := calendars.Load(s.ctx, s.memory, home, id)
				s.must(err)
				return c.Interests[mirror.Consumer]
			}
			if want := []string{home + "/" + id}; !slices.Equal(asked, want) || interest() != 1 {
				t.Errorf("asked to follow are %v, want %v; its interest is %d", asked, want, interest())
			}
			s.deleteCalendar(id)
			s.event("e1", "Retrospective")
			s.run(2 * time.Minute)
			if want := []string{home + "/" + id, home + "/" + id}; !slices.Equal(asked, want) || interest() != 0 {
				t.Errorf("asked to follow are %v, want %v; its interest is %d", asked, want, interest())
			}
		})
	}
}
