package mirrors_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
)

// fourInterviews are equal events at work, each made after the copy of the one before was written.
// The last is not mirrored.
func fourInterviews(t *testing.T, lines ...string) (w *world, made []gcal.Event) {
	t.Helper()
	w = newWorld(t)
	w.mirrorWork(bothWays(mirror.Full)...)
	for range 4 {
		made = append(made, w.insert(work, "Interview", "2026-03-10T09:00:00Z", lines...))
		w.sync(work)
		w.sync(home)
	}
	if looping := w.looping(); len(looping) != 1 || len(w.live(refTo(home))) != 3 {
		t.Fatalf("stopped are %+v", looping)
	}
	return w, made
}

// turn changes an event of work's calendar as a person does.
func (w *world) turn(event gcal.Event, title, start string) {
	w.Helper()
	until := at(start)
	until.Time = until.Time.Add(time.Hour)
	_, err := w.full.PatchContent(w.ctx, refTo(work), event.ID, "", gcal.Content{
		Summary: title, Start: at(start), End: until, Transparency: "opaque", Visibility: "default",
	})
	w.must(err)
}

func TestPerson_ChangesAStoppedEvent_IsMirrored(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ title, start string }{
		"moved": {"Interview", "2026-03-13T09:00:00Z"}, "renamed": {"Surgery", "2026-03-10T09:00:00Z"},
		"both": {"Surgery", "2026-03-13T09:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, made := fourInterviews(t)
			w.turn(made[3], row.title, row.start)
			w.sync(work)
			want := []string{"Interview", "Interview", "Interview", row.title}
			if got := w.titles(home); !slices.Equal(got, want) || len(w.looping()) != 0 {
				t.Errorf("home shows %q, want %q; stopped: %+v", got, want, w.looping())
			}
			w.turn(made[3], "Interview", "2026-03-10T09:00:00Z") // its time is taken anyway
			w.sync(work)
			w.wantTitles(home, "Interview", "Interview", "Interview")
		})
	}
}

func TestPerson_ChangesAnEarlierEvent_ReleasesTheStopped(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(w *world, event gcal.Event)
		want   []string
	}{
		"moved": {
			func(w *world, event gcal.Event) { w.turn(event, "Interview", "2026-03-13T09:00:00Z") },
			[]string{"Interview", "Interview", "Interview", "Interview"},
		},
		"renamed": {
			func(w *world, event gcal.Event) { w.turn(event, "Surgery", "2026-03-10T09:00:00Z") },
			[]string{"Interview", "Interview", "Interview", "Surgery"},
		},
		"deleted": {
			func(w *world, event gcal.Event) {
				_, err := w.full.DeleteQuietly(w.ctx, refTo(work), event.ID, "")
				w.must(err)
			},
			[]string{"Interview", "Interview", "Interview"},
		},
	} {
		for earlier := range 3 {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w, made := fourInterviews(t)
				row.change(w, made[earlier])
				w.sync(work)
				w.run(28 * time.Minute)
				if len(w.looping()) != 1 {
					t.Error("it is released before another program could have followed")
				}
				w.run(4 * time.Minute)
				w.wantTitles(home, row.want...)
				if name != "moved" {
					return
				}
				w.turn(made[earlier], "Interview", "2026-03-10T09:00:00Z")
				w.sync(work)
				w.run(32 * time.Minute)
				w.wantTitles(home, "Interview", "Interview", "Interview")
			})
		}
	}
}

// An occurrence of the last series takes a time that no other one takes any more.
func TestPerson_MovesAnEarlierOccurrence_ReleasesTheStopped(t *testing.T) {
	t.Parallel()
	w, made := fourInterviews(t, "RRULE:FREQ=DAILY;COUNT=3")
	event, _, err := mirror.OfOrigin(w.ctx, w.memory, work, refTo(work).Calendar, made[1].ID)
	w.must(err)
	w.moveOccurrence(event)
	w.sync(work)
	w.run(32 * time.Minute)
	if n := len(w.live(refTo(home))); n != 4 || len(w.looping()) != 0 {
		t.Errorf("home shows %d series, want 4; stopped: %+v", n, w.looping())
	}
}

// The program follows when the original moves. Its copies are what they were, elsewhere.
func TestSecondTool_OriginalMoves_StopsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tool := newSecondTool(w, work, home)
	w.mirrorWork(bothWays(mirror.Full)...)
	original := w.insert(work, "Dentist", "2026-03-10T09:00:00Z")
	w.sync(work)
	tool.grow(6)
	w.turn(original, "Dentist", "2026-03-13T09:00:00Z")
	for range 8 {
		w.sync(work)
		w.sync(home)
		tool.follow()
	}
	w.run(35 * time.Minute)
	if n := len(w.live(tool.pair[0])) + len(w.live(tool.pair[1])); n != 14 || tool.run() > 0 || len(w.looping()) != 2 {
		t.Errorf("both calendars have %d events, want 14; stopped: %+v", n, w.looping())
	}
}

// follow brings the copies to where their events are now.
func (s *secondTool) follow() {
	s.w.Helper()
	for i, from := range s.pair {
		for _, event := range s.w.live(from) {
			id, copied := s.copy[event.ID]
			if !copied || s.made[event.ID] {
				continue
			}
			now, err := s.w.full.Get(s.w.ctx, s.pair[1-i], id)
			s.w.must(err)
			if d := event.Details; !d.Start.Equal(now.Details.Start) {
				_, err := s.w.full.PatchContent(s.w.ctx, s.pair[1-i], id, "", gcal.Content{
					Summary: d.Summary, Start: d.Start, End: d.End, Transparency: "opaque", Visibility: "default",
				})
				s.w.must(err)
			}
		}
	}
}

// The program deletes the copies of what is gone later than events are released, and goes on copying.
func TestSecondTool_FollowsSlowly_ComesToAnEnd(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"soon": 20 * time.Minute, "late": 40 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tool := newSecondTool(w, work, home)
			w.mirrorWork(bothWays(mirror.Full)...)
			original := w.insert(work, "Dentist", "2026-03-10T09:00:00Z")
			w.sync(work)
			tool.grow(6)
			_, err := w.full.DeleteQuietly(w.ctx, refTo(work), original.ID, "")
			w.must(err)
			made, turns := 1, 0
			for ; len(w.live(tool.pair[0]))+len(w.live(tool.pair[1])) > 0 && turns < 60; turns++ {
				w.sync(work)
				w.sync(home)
				w.run(pause)
				tool.withdraw()
				made = tool.run()
			}
			if n := len(w.live(tool.pair[0])) + len(w.live(tool.pair[1])); made > 0 || pause < 30*time.Minute && turns > 12 || n > 2 {
				t.Errorf("after %d turns there are %d events, and %d were made", turns, n, made)
			}
		})
	}
}
