package mirrors_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// unanswered is Google with a point before and behind every call.
type unanswered struct {
	google mirrors.Google
	points *points.Points
}

func (u unanswered) Get(ctx context.Context, ref gcal.Ref, id string) (gcal.Event, error) {
	return points.Pass(u.points, func() (gcal.Event, error) { return u.google.Get(ctx, ref, id) })
}

func (u unanswered) Instance(ctx context.Context, ref gcal.Ref, series string, original recurrence.Moment) (gcal.Event, error) {
	return points.Pass(u.points, func() (gcal.Event, error) { return u.google.Instance(ctx, ref, series, original) })
}

func (u unanswered) InsertContent(
	ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string,
) (gcal.Event, error) {
	return points.Pass(u.points, func() (gcal.Event, error) { return u.google.InsertContent(ctx, ref, id, content, private) })
}

func (u unanswered) PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error) {
	return points.Pass(u.points, func() (gcal.Event, error) { return u.google.PatchContent(ctx, ref, id, etag, content) })
}

func (u unanswered) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	return points.Pass(u.points, func() (bool, error) { return u.google.DeleteQuietly(ctx, ref, id, etag) })
}

func (u unanswered) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	return points.Pass(u.points, func() (gcal.Page, error) { return u.google.List(ctx, ref, mask, syncToken, pageToken) })
}

func (u unanswered) Access(ctx context.Context, ref gcal.Ref) (gcal.Access, error) {
	return points.Pass(u.points, func() (gcal.Access, error) { return u.google.Access(ctx, ref) })
}

func (u unanswered) Calendars(ctx context.Context, account string) ([]gcal.CalendarEntry, error) {
	return points.Pass(u.points, func() ([]gcal.CalendarEntry, error) { return u.google.Calendars(ctx, account) })
}

func (u unanswered) InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (string, error) {
	return points.Pass(u.points, func() (string, error) { return u.google.InsertCalendar(ctx, account, calendar) })
}

// Whichever call goes unanswered, a step of the writer ends there, counts it once and is taken again.
func TestWriter_ACallUnanswered_IsCountedOnceAndMadeUpFor(t *testing.T) {
	t.Parallel()
	second := exception("e1", at("2026-03-12T09:00:00Z"))
	moved := func(e *mirror.Event) { e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z") }
	single := func(s *stage) { s.event("e1", "Stand-up"); s.run(time.Minute) }
	series := func(s *stage) { s.event("e1", "Weekly", weekly); s.run(time.Minute) }
	plant := func(s *stage, match string, status int) {
		s.must(s.google.Control().Plant(control.Rule{Match: match, Status: status, Times: 1}))
	}
	lost := func(s *stage) {
		s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", LostAnswer: true, Times: 1}))
		s.event("e1", "Stand-up")
		s.write(s.writer, s.only())
		s.must(s.clock.Advance(time.Hour))
	}
	deleted := func(s *stage) { single(s); s.delete(s.atHome()); s.event("e1", "Review") }
	overlay := func(s *stage) { s.toOverlay(); s.event("e1", "Stand-up") }
	for name, row := range map[string]struct {
		begin func(s *stage)
		want  int
	}{
		"create":                          {func(s *stage) { s.event("e1", "Stand-up") }, 1},
		"create what is there":            {lost, 1},
		"create what is there, otherwise": {func(s *stage) { lost(s); s.event("e1", "Review") }, 1},
		"change":                          {func(s *stage) { single(s); s.event("e1", "Review") }, 1},
		"change what a person deleted":    {deleted, 1},
		"change what is not found":        {func(s *stage) { deleted(s); plant(s, "events.patch", 404); plant(s, "events.get", 404) }, 1},
		"delete":                          {func(s *stage) { single(s); s.edges = nil; s.plan("e1@google.com") }, 0},
		"move an occurrence":              {func(s *stage) { series(s); s.event("e2", "Late", second, moved) }, 1},
		"move one that is not found": {func(s *stage) {
			series(s)
			s.event("e2", "Late", second, moved)
			plant(s, "events.instances", 404)
		}, 1},
		"create an overlay": {overlay, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				s := newStage(t)
				row.begin(s)
				p, count := &points.Points{}, &tally{}
				google := s.writer.Google
				s.writer.Google, s.writer.Meter = unanswered{google, p}, count.count
				p.FailAt(n)
				for _, m := range s.mirrors() {
					s.write(s.writer, m)
				}
				failures := 0
				for _, counted := range count.counted {
					if strings.HasPrefix(counted, "mirrors.Failed") {
						failures++
					}
				}
				reached := p.Reached()
				if reached && failures != 1 {
					t.Errorf("with point %d failing %v are counted\n%s", n, count.counted, s.log.String())
				}
				s.writer.Google = google
				s.google.Control().Clear()
				s.run(10 * time.Minute)
				s.each(row.want)
				if t.Failed() {
					t.Fatalf("that is with point %d failing", n)
				}
				if !reached {
					points.Struck(t, n-1, 2)
					return
				}
			}
		})
	}
}

// Whichever call of a calendar's reconciliation goes unanswered, the calendar counts as failed.
func TestReconcile_ACallUnanswered_CountsAsFailed(t *testing.T) {
	t.Parallel()
	single := func(s *stage) { s.followed(homeMail); s.event("e1", "Stand-up"); s.run(time.Minute) }
	for name, begin := range map[string]func(s *stage){
		"nothing":    single,
		"a change":   func(s *stage) { single(s); s.change(s.atHome(), "Mine") },
		"a deletion": func(s *stage) { single(s); s.delete(s.atHome()) },
		"a stray":    func(s *stage) { single(s); s.stray(1, "here") },
		"a lost overlay calendar": func(s *stage) {
			s.toOverlay()
			s.event("e1", "Stand-up")
			s.run(2 * time.Minute)
			s.deleteCalendar(s.overlays()[0].ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				s := newStage(t)
				begin(s)
				s.must(s.clock.Advance(time.Hour))
				p := &points.Points{}
				s.writer.Google = unanswered{s.writer.Google, p}
				p.FailAt(n)
				did, _, err := s.writer.Reconcile(s.ctx, scheduler.Cause{Trigger: "timer"}, "", false)
				s.must(err)
				if !p.Reached() {
					points.Struck(t, n-1, 2)
					if did.Failed != 0 {
						t.Errorf("without a failure it did %+v", did)
					}
					return
				}
				if did.Failed != 1 || did.Corrected+did.Strays > 0 || s.person().Suppressed {
					t.Errorf("with point %d failing it did %+v\n%s", n, did, s.log.String())
				}
			}
		})
	}
}
