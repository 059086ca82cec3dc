package mirrors_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

func TestWriter_ANewMirror_CreatesItsEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(0)
	s.agree(1)
	shown, m := s.atHome(), s.only()
	if shown.ID != m.EventID || !mirror.IsMirror(shown.ID) || shown.Private[plan.MarkMirror] != m.ID ||
		shown.Private[plan.MarkInstallation] != "here" {
		t.Errorf("the event is %s with the marks %v, the mirror names %s", shown.ID, shown.Private, m.EventID)
	}
	if plan.Hash(plan.Shown(*shown.Details)) != m.Wanted {
		t.Errorf("it shows %+v", shown.Details)
	}
}

func TestWriter_AsWanted_CallsNobody(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	e := s.event("e1", "Stand-up")
	s.run(0)
	s.google.Control().ResetCalls()
	s.plan(e.ICalUID)
	s.run(time.Hour)
	if calls := s.google.Control().Calls(); calls["events.insert"]+calls["events.patch"]+calls["events.get"] > 0 {
		t.Errorf("it called %v", calls)
	}
}

// Each row changes what a mirror's event should show, or the event itself.
func TestWriter_AChange_IsFollowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do     func(s *stage)
		events int
		title  string
		start  string
	}{
		"another title": {func(s *stage) { s.event("e1", "Retrospective") }, 1, "Retrospective", "2026-03-05T09:00:00Z"},
		"moved": {func(s *stage) {
			s.event("e1", "Stand-up", func(e *mirror.Event) { e.Start, e.End = at("2026-03-06T09:00:00Z"), at("2026-03-06T10:00:00Z") })
		}, 1, "Stand-up", "2026-03-06T09:00:00Z"},
		"all day": {func(s *stage) {
			s.event("e1", "Stand-up", func(e *mirror.Event) {
				e.Start, e.End = recurrence.Moment{Date: "2026-03-06"}, recurrence.Moment{Date: "2026-03-07"}
			})
		}, 1, "Stand-up", "2026-03-06T00:00:00Z"},
		"cancelled":           {func(s *stage) { s.event("e1", "Stand-up", func(e *mirror.Event) { e.Status = "cancelled" }) }, 0, "", ""},
		"the edge is removed": {func(s *stage) { s.edges = nil; s.plan("e1@google.com") }, 0, "", ""},
		"removed and set again at once": {func(s *stage) {
			edges := s.edges
			s.edges = nil
			s.plan("e1@google.com")
			s.edges = edges
			s.plan("e1@google.com")
		}, 1, "Stand-up", "2026-03-05T09:00:00Z"},
		"removed, written and set again": {func(s *stage) {
			edges := s.edges
			s.edges = nil
			s.plan("e1@google.com")
			s.run(time.Minute)
			s.edges = edges
			s.plan("e1@google.com")
		}, 1, "Stand-up", "2026-03-05T09:00:00Z"},
		"a person changed it concurrently": {func(s *stage) {
			s.change(s.atHome(), "Mine")
			s.event("e1", "Retrospective")
		}, 1, "Retrospective", "2026-03-05T09:00:00Z"},
		"a person deleted it concurrently": {func(s *stage) {
			s.delete(s.atHome())
			s.event("e1", "Retrospective")
		}, 1, "Retrospective", "2026-03-05T09:00:00Z"},
		"a person deleted it twice": {func(s *stage) {
			for _, title := range []string{"Retrospective", "Planning"} {
				s.delete(s.atHome())
				s.event("e1", title)
				s.run(time.Minute)
			}
		}, 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			s.run(0)
			c.do(s)
			s.run(5 * time.Minute)
			shown := s.shown(home, homeMail)
			if len(shown) != c.events {
				t.Fatalf("home shows %d events, want %d; mirrors %+v\n%s", len(shown), c.events, s.mirrors(), s.log.String())
			}
			if c.events == 0 {
				return
			}
			if got := shown[0].Details; got.Summary != c.title || got.Start.Instant(time.UTC).Format(time.RFC3339) != c.start {
				t.Errorf("it shows %q at %v", got.Summary, got.Start)
			}
			s.agree(1)
		})
	}
}

func (s *stage) change(event gcal.Event, title string) {
	s.Helper()
	content := plan.Shown(*event.Details)
	content.Summary = title
	_, err := s.full.PatchContent(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, event.ID, "", content)
	s.must(err)
}

func (s *stage) delete(event gcal.Event) {
	s.Helper()
	_, err := s.full.DeleteQuietly(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, event.ID, "")
	s.must(err)
}

func TestWriter_ALostAnswer_IsMadeUpFor(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"events.insert", "events.patch", "events.delete"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			if method != "events.insert" {
				s.run(0)
			}
			s.must(s.google.Control().Plant(control.Rule{Match: method, LostAnswer: true, Times: 1}))
			want := 1
			switch method {
			case "events.patch":
				s.event("e1", "Retrospective")
			case "events.delete":
				s.edges, want = nil, 0
				s.plan("e1@google.com")
			}
			s.run(10 * time.Minute)
			s.agree(want)
			if left := s.google.Control().Rules(); len(left) > 0 {
				t.Errorf("no answer was lost: %v", left)
			}
			if patches := s.google.Control().Calls()["events.patch"]; method == "events.insert" && patches > 0 {
				t.Errorf("what was as wanted was changed %d times", patches)
			}
			if len(s.mirrors()) != want {
				t.Errorf("the mirrors are %+v", s.mirrors())
			}
		})
	}
}

// Google may miss for a moment what it has. What it compares is there: it would show a deleted event as
// such.
func TestWriter_AnEventThatIsMissedForAMoment_KeepsIt(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]control.Rule{
		"not found once": {{Match: "events.patch", Status: 404, Times: 1}, {Match: "events.get", Status: 404, Times: 1}},
		"changed, and not found twice": {
			{Match: "events.patch", Status: 412, Reason: "conditionNotMet", Times: 2}, {Match: "events.get", Status: 404, Times: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			s.run(0)
			was := s.atHome().ID
			for _, rule := range faults {
				s.must(s.google.Control().Plant(rule))
			}
			s.event("e1", "Retrospective")
			s.run(5 * time.Minute)
			if left := s.google.Control().Rules(); len(left) > 0 {
				t.Errorf("it was found: %v", left)
			}
			if now := s.atHome(); now.ID != was || now.Details.Summary != "Retrospective" {
				t.Errorf("home shows %s, %q; it was %s", now.ID, now.Details.Summary, was)
			}
			s.agree(1)
		})
	}
}

// Missed twice, it counts as deleted. Where it is there all the same, two would be left.
func TestWriter_AnEventThatIsNotFoundTwice_IsReplaced(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(0)
	was := s.atHome().ID
	for _, method := range []string{"events.patch", "events.get"} {
		s.must(s.google.Control().Plant(control.Rule{Match: method, Status: 404, Times: 2}))
	}
	s.event("e1", "Retrospective")
	s.run(5 * time.Minute)
	if now := s.atHome(); now.ID == was || now.Details.Summary != "Retrospective" {
		t.Errorf("home shows %s, %q; it was %s", now.ID, now.Details.Summary, was)
	}
	s.agree(1)
}

func TestWriter_ASeriesWithExceptions_IsWrittenInOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	second, third := at("2026-03-12T09:00:00Z"), at("2026-03-19T09:00:00Z")
	s.event(
		"e2", "Late", exception("e1", second),
		func(e *mirror.Event) { e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z") },
	)
	s.event(
		"e3", "Off", exception("e1", third),
		func(e *mirror.Event) { e.Start, e.End, e.Status = third, at("2026-03-19T10:00:00Z"), "cancelled" },
	)
	s.event("e1", "Weekly", weekly)
	s.run(2 * time.Minute)
	s.agree(1)
	series := s.only3(t, s)
	moved, err := s.full.Instance(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, series.EventID, second)
	s.must(err)
	if moved.Details.Summary != "Late" || !moved.Details.Start.Time.Equal(at("2026-03-12T15:00:00Z").Time) {
		t.Errorf("the second occurrence is %q at %v", moved.Details.Summary, moved.Details.Start)
	}
	off, err := s.full.Instance(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, series.EventID, third)
	s.must(err)
	if off.Details.Status != "cancelled" {
		t.Errorf("the third occurrence is %s", off.Details.Status)
	}
}

// An occurrence was found, and its series deleted before the occurrence was changed. As long as
// nobody has observed that, the change fails as often as others do.
func TestWriter_AnOccurrenceOfADeletedSeries_IsTriedRarely(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Weekly", weekly)
	s.run(0)
	series := s.only()
	s.must(s.google.Control().Plant(control.Rule{Match: "events.patch", Status: 503}))
	s.event("e2", "Late", exception("e1", at("2026-03-12T09:00:00Z")), func(e *mirror.Event) {
		e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z")
	})
	s.run(0)
	_, err := s.full.DeleteQuietly(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, series.EventID, "")
	s.must(err)
	s.google.Control().Clear()
	s.google.Control().ResetCalls()
	s.run(10 * time.Minute)
	if calls := s.google.Control().Calls(); calls["events.patch"] == 0 || calls["events.patch"] > 6 {
		t.Errorf("the calls in ten minutes are %v", calls)
	}
	for _, m := range s.mirrors() {
		if m.ID != series.ID && (m.Attempts == 0 || m.LastError == "") {
			t.Errorf("no failure is recorded: %+v", m)
		}
	}
}

// only3 is the mirror of the series among three.
func (s *stage) only3(t *testing.T, _ *stage) mirror.Mirror {
	t.Helper()
	all := s.mirrors()
	for _, m := range all {
		if len(all) == 3 && m.SeriesMirrorID == "" {
			return m
		}
	}
	t.Fatalf("the mirrors are %+v", all)
	return mirror.Mirror{}
}

// The exception's task comes first, and finds that it has to wait.
func TestWriter_AWrittenSeries_WakesItsExceptions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	series := s.event("e1", "Stand-up", weekly)
	exception := s.event("e1_x", "Stand-up", exception(series.EventID, at("2026-03-12T09:00:00Z")), func(e *mirror.Event) {
		e.Start, e.End = at("2026-03-12T14:00:00Z"), at("2026-03-12T15:00:00Z")
	})
	for _, m := range s.mirrors() {
		if m.CanonicalID == exception.ID {
			s.write(s.writer, m)
		}
	}
	s.run(0)
	s.agree(1)
}

// Two steps of one run use what was read for the first, and what the first left.
func TestWriter_TwoSteps_ReadNothingTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	counter := storetest.Count(s.memory)
	s.writer.Store = counter
	s.write(s.writer, s.only())
	// The mirror, its event and its account, and the mirror again as each step is recorded.
	if cost := counter.Reset(); cost.Reads > 5 {
		t.Errorf("creating an event costs %+v", cost)
	}
	s.agree(1)
}

// A mirror that changes as fast as it is written rests now and then.
func TestWriter_AMirrorThatKeepsChanging_Rests(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	calls, title := s.writer.Google.(*googlePoints), 0
	var again func()
	again = func() {
		title++
		s.event("e1", fmt.Sprint("Title ", title))
		calls.before = again
	}
	calls.before = again
	at, err := s.writer.Outbox.Run(s.ctx, mirrors.WriteKind, s.only().ID)
	s.must(err)
	if !at.Equal(s.clock.Now().Add(time.Second)) || title < 3 || title > 8 {
		t.Errorf("after %d calls it is due again at %v", title, at)
	}
	calls.before = nil
	s.run(time.Minute)
	s.each(1)
}

// Google refuses the change as if the event were another, and shows the one that is known.
func TestWriter_RefusedAsStaleWithoutAChange_IsTriedRarely(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(0)
	s.must(s.google.Control().Plant(control.Rule{Match: "events.patch", Status: 412, Reason: "conditionNotMet"}))
	s.event("e1", "Retrospective")
	s.google.Control().ResetCalls()
	s.write(s.writer, s.only())
	if m := s.only(); m.Attempts != 1 || m.LastError == "" || s.google.Control().Calls()["events.patch"] != 1 {
		t.Errorf("after %v the mirror is %+v", s.google.Control().Calls(), m)
	}
}

// A person's change, found by a write, is followed by the next one at once.
func TestWriter_ChangedByAPerson_IsCorrectedInTheSameRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(0)
	s.change(s.atHome(), "Mine")
	s.event("e1", "Retrospective")
	s.write(s.writer, s.only())
	s.agree(1)
	if shown, m := s.atHome(), s.only(); shown.Details.Summary != "Retrospective" || m.Attempts > 0 {
		t.Errorf("home shows %q, the mirror is %+v", shown.Details.Summary, m)
	}
	if drifts := s.traces("evt_e1", mirror.StepDrift); len(drifts) != 1 {
		t.Errorf("the journal has it %d times", len(drifts))
	}
}

// A person deletes the copy of a series twice, and the writer is who finds it.
func TestWriter_ASeriesLeftDeleted_LeavesItsExceptions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Weekly", weekly)
	s.event("e1_x", "Late", exception("e1", at("2026-03-12T09:00:00Z")), func(e *mirror.Event) {
		e.Start, e.End = at("2026-03-12T14:00:00Z"), at("2026-03-12T15:00:00Z")
	})
	s.run(2 * time.Minute)
	for _, title := range []string{"Monthly", "Yearly"} {
		for _, m := range s.mirrors() {
			if m.SeriesMirrorID == "" {
				s.delete(gcal.Event{ID: m.EventID})
			}
		}
		s.event("e1", title, weekly)
		s.run(2 * time.Minute)
	}
	for _, m := range s.mirrors() {
		if m.State != mirror.Suppressed || !m.Due.IsZero() {
			t.Errorf("the mirror of %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
		}
	}
	if shown := s.shown(home, homeMail); len(shown) > 0 {
		t.Errorf("home shows %+v", shown)
	}
}

// Google does not find a cancelled occurrence that must be shown: nothing has to be done;
// that it did not answer does not.
func TestWriter_ACancelledOccurrenceUnanswered_IsCancelledLater(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Weekly", weekly)
	s.run(2 * time.Minute)
	series := s.only()
	s.must(s.google.Control().Plant(control.Rule{Match: "events.instances", Status: 503, Times: 1}))
	s.cancelled()
	s.run(10 * time.Minute)
	if left := s.google.Control().Rules(); len(left) > 0 {
		t.Errorf("it was answered: %v", left)
	}
	second, err := s.full.Instance(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, series.EventID, at("2026-03-12T09:00:00Z"))
	s.must(err)
	if second.Details.Status != "cancelled" {
		t.Errorf("the second occurrence is %s", second.Details.Status)
	}
}

// A person made the copy of a series a single event, again and again, until it was left so.
func TestWriter_AnOccurrenceOfAContestedSeries_IsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Weekly", weekly)
	s.run(0)
	series := s.only()
	s.set(mirror.Path(series.ID), store.Set("state", string(mirror.Contested)))
	content := plan.Shown(*s.atHome().Details)
	content.Recurrence = nil
	_, err := s.full.PatchContent(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, series.EventID, "", content)
	s.must(err)
	s.event("e1_x", "Late", exception("e1", at("2026-03-12T09:00:00Z")), func(e *mirror.Event) {
		e.Start, e.End = at("2026-03-12T14:00:00Z"), at("2026-03-12T15:00:00Z")
	})
	s.run(2 * time.Minute)
	for _, m := range s.mirrors() {
		if m.State != mirror.Contested || !m.Due.IsZero() || m.Attempts > 0 {
			t.Errorf("the mirror of %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
		}
	}
	if all := s.mirrors(); len(all) != 2 {
		t.Errorf("the mirrors are %+v", all)
	}
	s.atHome()
}

// Without a drain: what is decided again beside a series is written after it.
func TestWriter_ASeriesMadeAnew_BringsItsExceptionsAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Weekly", weekly)
	s.event("e1_x", "Late", exception("e1", at("2026-03-12T09:00:00Z")), func(e *mirror.Event) {
		e.Start, e.End = at("2026-03-12T14:00:00Z"), at("2026-03-12T15:00:00Z")
	})
	s.run(2 * time.Minute)
	all := s.mirrors()
	series := all[slices.IndexFunc(all, func(m mirror.Mirror) bool { return m.SeriesMirrorID == "" })]
	s.delete(gcal.Event{ID: series.EventID})
	s.event("e1", "Monthly", weekly)
	s.write(s.writer, series)
	s.runDue()
	s.each(1)
}
