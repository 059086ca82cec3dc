package mirrors_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/storetest"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// newConcurrentWriter is one of several processes.
func (s *stage) newConcurrentWriter() *mirrors.Writer {
	client := s.newClient()
	service := s.service(storetest.Rerun(s.memory), s.wakes)
	service.Log = slog.New(slog.DiscardHandler)
	return working(&mirrors.Writer{Service: service, Google: client, Leaving: client})
}

// Several writers of one mirror, while it changes and a person changes its event, leave one
// event as wanted.
func TestWriter_SeveralAtOnce_LeaveOneEvent(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := newStage(t)
		s.event("e1", "Stand-up")
		var all sync.WaitGroup
		for range 4 {
			writer, m := s.newConcurrentWriter(), s.only()
			all.Go(func() {
				for range 3 {
					s.attempt(writer, m)
				}
			})
		}
		s.event("e1", "Retrospective")
		s.event("e1", "Planning", func(e *mirror.Event) { e.Start, e.End = at("2026-03-06T09:00:00Z"), at("2026-03-06T10:00:00Z") })
		all.Wait()
		s.run(10 * time.Minute)
		s.each(1)
	}
}

// attempt is write where others are at work, so that the store may give up.
func (s *stage) attempt(w *mirrors.Writer, m mirror.Mirror) {
	if _, err := w.Outbox.Run(s.ctx, mirrors.WriteKind, m.ID); !fault.Is(err, fault.Unavailable) && err != nil {
		s.Errorf("unexpected error: %v", err)
	}
}

// unwanted has nobody want the mirror any more, and another process delete it.
func (s *stage) unwanted() {
	s.edges = nil
	s.plan("e1@google.com")
	s.write(s.newConcurrentWriter(), s.only())
}

// nothingLeft fails unless there is neither event nor mirror.
func (s *stage) nothingLeft() {
	s.Helper()
	if shown, left := s.shown(home, homeMail), s.mirrors(); len(shown) != 0 || len(left) != 0 {
		s.Errorf("home shows %+v; the mirrors are %+v\n%s", shown, left, s.log.String())
	}
}

func TestWriter_DeletedDuringItsInsertAndDead_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.writer.Google.(*googlePoints).before = s.unwanted
	s.writer.Google.(*googlePoints).after = points.Die
	if points.Survives(func() { s.run(0) }) {
		t.Fatal("it lived")
	}
	s.atHome()
	s.restart()
	s.run(10 * time.Minute)
	s.nothingLeft()
}

// interrupted is a store before whose next transaction something else happens.
type interrupted struct {
	store.Store
	before func()
}

func (i *interrupted) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if before := i.before; before != nil {
		i.before = nil
		before()
	}
	return i.Store.Run(ctx, fn)
}

func TestWriter_AnEventThatChangesBetweenItsSteps_IsShownAsItThenIs(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]func(s *stage, change func()){
		"before it is named": func(s *stage, change func()) {
			s.writer.Store = &interrupted{s.writer.Store, change}
		},
		"while it is created": func(s *stage, change func()) {
			s.writer.Google.(*googlePoints).before = change
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			when(s, func() { s.event("e1", "Retrospective") })
			s.run(10 * time.Minute)
			s.each(1)
			if shown := s.atHome(); shown.Details.Summary != "Retrospective" {
				t.Errorf("home shows %q", shown.Details.Summary)
			}
		})
	}
}

func TestWriter_ForgottenDuringALongInsert_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.writer.Google.(*googlePoints).before = func() {
		s.unwanted()
		s.must(s.clock.Advance(3 * time.Minute))
		s.write(s.newConcurrentWriter(), s.only())
		if left := s.mirrors(); len(left) != 0 {
			t.Fatalf("the mirrors are %+v", left)
		}
	}
	s.run(0)
	s.nothingLeft()
}

// The first writer's patch is recorded after a second one found the event deleted, and
// created the next generation's.
func TestWriter_AnOutcomeOfAnEarlierGeneration_IsDropped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.event("e1", "Retrospective")
	s.writer.Google.(*googlePoints).after = func() {
		s.delete(s.atHome())
		s.write(s.newConcurrentWriter(), s.only())
		if m := s.only(); m.Generation != 2 || m.State != mirror.Active {
			t.Fatalf("the mirror is %+v", m)
		}
	}
	s.run(0)
	s.run(10 * time.Minute)
	s.each(1)
	if m := s.only(); m.Generation != 2 {
		t.Errorf("its generation is %d", m.Generation)
	}
}

// The mirror was made ten minutes before its insert: the time of grace begins when it is no
// longer wanted, so the insert that arrives after the first attempt to delete leaves no event.
func TestWriter_AnOldMirrorDeletedDuringItsInsert_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", Status: 503, Times: 4}))
	s.event("e1", "Stand-up")
	s.run(4 * time.Minute)
	if m := s.only(); m.State != mirror.Pending || m.EventID == "" || m.ETag != "" {
		t.Fatalf("the mirror is %+v", m)
	}
	s.writer.Google.(*googlePoints).before = s.unwanted
	s.writer.Google.(*googlePoints).after = points.Die
	if points.Survives(func() { s.run(10 * time.Minute) }) {
		t.Fatal("it lived")
	}
	s.atHome()
	s.restart()
	s.run(90 * time.Second)
	s.only() // the insert may still arrive
	s.run(time.Minute)
	s.nothingLeft()
}

// The call by which a cancelled occurrence is found fails after another process has cancelled it
// in the copy: nothing is left to be done, and nothing fails.
func TestWriter_FailedAfterAnotherHasCancelled_IsNotDueAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.event("e1", "Stand-up", weekly)
	s.run(time.Minute)
	s.event("e2", "Stand-up", exception("e1", at("2026-03-12T09:00:00Z")), func(e *mirror.Event) { e.Status = "cancelled" })
	occurrence := func() mirror.Mirror {
		all := s.mirrors()
		return all[slices.IndexFunc(all, func(m mirror.Mirror) bool { return m.SeriesMirrorID != "" })]
	}
	s.writer.Google.(*googlePoints).before = func() {
		s.write(s.newConcurrentWriter(), occurrence())
		s.must(s.google.Control().Plant(control.Rule{Match: "events.instances", Status: 503, Times: 4}))
	}
	s.run(time.Minute)
	if m := occurrence(); m.State != mirror.Active || !m.Due.IsZero() || m.Attempts != 0 || m.LastError != "" {
		t.Errorf("its mirror is %+v", m)
	}
}

// A call that Google refuses for good says nothing of work that was decided during it, which is done
// at once.
func TestWriter_RefusedWhileOtherWorkWasDecided_DoesThatAtOnce(t *testing.T) {
	t.Parallel()
	changes := func(s *stage) { s.event("e1", "Planning") }
	for name, row := range map[string]struct {
		call  string
		setUp func(s *stage)
		after func(s *stage)
		want  []string // titles at home in the end
	}{
		"created": {"events.insert", func(*stage) {}, changes, []string{"Planning"}},
		"changed": {"events.patch", func(s *stage) { s.run(time.Minute); s.event("e1", "Retrospective") }, changes, []string{"Planning"}},
		"wanted no more": {
			"events.insert", func(*stage) {}, func(s *stage) { s.edges = nil; s.plan("e1@google.com") }, nil,
		},
		"to be replaced": {
			"events.patch", func(s *stage) { s.run(time.Minute); s.event("e1", "Retrospective") },
			func(s *stage) { s.edges[0].Target = mirror.Overlay; s.plan("e1@google.com") }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			row.setUp(s)
			s.must(s.google.Control().Plant(control.Rule{Match: row.call, Status: 400, Reason: "invalid", Times: 1}))
			s.writer.Google.(*googlePoints).before = func() { row.after(s) }
			s.run(10 * time.Minute)
			var titles []string
			for _, shown := range s.shown(home, homeMail) {
				titles = append(titles, shown.Details.Summary)
			}
			if !slices.Equal(titles, row.want) {
				t.Errorf("home shows %v, want %v; the mirrors are %+v\n%s", titles, row.want, s.mirrors(), s.log.String())
			}
			for _, m := range s.mirrors() {
				if m.State != mirror.Active || m.Attempts != 0 || m.LastError != "" {
					t.Errorf("the mirror is %+v", m)
				}
			}
		})
	}
}

// Another process deletes the mirror whose event was just created, which is planned anew before the
// outcome of its creation is recorded. What comes next for it finds that there is no event.
func TestWriter_DeletedAndWantedAgainDuringItsInsert_HasOneEventInTheEnd(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(s *stage){
		"reconciled": func(s *stage) {
			if did := s.reconcile(false); did != (mirrors.Reconciled{Calendars: 1, Checked: 1, Corrected: 1}) {
				s.Errorf("it did %+v", did)
			}
		},
		"changed": func(s *stage) { s.event("e1", "Retrospective") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.followed(homeMail)
			s.event("e1", "Stand-up")
			s.writer.Google.(*googlePoints).after = func() {
				edges := s.edges
				s.unwanted()
				s.nothingLeft()
				s.edges = edges
				s.plan("e1@google.com")
			}
			s.run(time.Minute)
			if m := s.only(); m.State != mirror.Active || len(s.shown(home, homeMail)) != 0 {
				t.Fatalf("the mirror is %+v", m)
			}
			s.must(s.clock.Advance(time.Hour))
			next(s)
			s.run(10 * time.Minute)
			s.each(1)
			s.atHome()
		})
	}
}

// The id of a copy proves nothing: whose the event is that has it, its marks say.
func TestWriter_IDThatAnotherEventHas_LeavesThatAlone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		title string
		marks map[string]string
	}{
		"unmarked":                  {"Private", nil},
		"unmarked, equal":           {"Stand-up", nil},
		"marked for another":        {"Private", plan.Marks(mirror.Mirror{ID: "mir_other"}, "here")},
		"marked for another, equal": {"Stand-up", plan.Marks(mirror.Mirror{ID: "mir_other"}, "here")},
		"marked by another program": {"Private", map[string]string{"mirror": "theirs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.event("e1", "Stand-up")
			id := mirror.EventID("here", "evt_e1", home, homeMail, s.only().Generation)
			theirs, err := s.full.InsertContent(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, id, gcal.Content{
				Summary: row.title, Start: at("2026-03-05T09:00:00Z"), End: at("2026-03-05T10:00:00Z"), Transparency: "opaque",
				Visibility: "default",
			}, row.marks)
			s.must(err)
			s.run(10 * time.Minute)
			now, err := s.full.Get(s.ctx, gcal.Ref{Account: home, Calendar: homeMail}, id)
			s.must(err)
			if now.ETag != theirs.ETag || now.EventState == rules.Gone {
				t.Errorf("it is %+v", now)
			}
			if m := s.only(); m.State != mirror.Active || m.EventID == id {
				t.Errorf("the mirror is %+v", m)
			}
		})
	}
}
