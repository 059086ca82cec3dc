package mirrors_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// secondTool is another program that copies the events of two calendars into each other, ours
// included, and knows its own.
type secondTool struct {
	w     *world
	pair  [2]gcal.Ref
	made  map[string]bool   // its events
	copy  map[string]string // by what it copied
	title func(string) string
	marks bool // whether it copies private properties too
}

func newSecondTool(w *world, a, b string) *secondTool {
	return &secondTool{
		w: w, pair: [2]gcal.Ref{refTo(a), refTo(b)}, made: map[string]bool{}, copy: map[string]string{},
		title: func(s string) string { return s },
	}
}

// run copies what has no copy yet, and returns how many events it made.
func (s *secondTool) run() (made int) {
	s.w.Helper()
	for i, from := range s.pair {
		for _, event := range s.w.live(from) {
			if s.made[event.ID] || s.copy[event.ID] != "" {
				continue
			}
			s.w.names++
			d := event.Details
			id := fmt.Sprintf("tool%d", s.w.names)
			var marks map[string]string
			if s.marks {
				marks = event.Private
			}
			_, err := s.w.full.InsertContent(s.w.ctx, s.pair[1-i], id, gcal.Content{
				Summary: s.title(d.Summary), Start: d.Start, End: d.End, Recurrence: d.Recurrence, Transparency: "opaque", Visibility: "default",
			}, marks)
			s.w.must(err)
			s.made[id], s.copy[event.ID] = true, id
			made++
		}
	}
	return made
}

// live are the events of a calendar, a series as one.
func (w *world) live(at gcal.Ref) (found []gcal.Event) {
	w.Helper()
	page, err := w.full.List(w.ctx, at, gcal.WithDetails, "", "")
	w.must(err)
	return slices.DeleteFunc(page.Events, func(e gcal.Event) bool { return e.EventState == rules.Gone || e.InstanceOf != "" })
}

// bothWays are edges between two accounts.
func bothWays(detail mirror.Detail) []mirror.Edge {
	return []mirror.Edge{
		{FromAccountID: work, ToAccountID: home, Detail: detail, Target: mirror.PrimaryTarget},
		{FromAccountID: home, ToAccountID: work, Detail: detail, Target: mirror.PrimaryTarget},
	}
}

// grow has a tool and ours take turns, and returns how many events both calendars have after each.
func (s *secondTool) grow(turns int) (sizes []int) {
	s.w.Helper()
	for range turns {
		s.run()
		s.w.sync(work)
		s.w.sync(home)
		sizes = append(sizes, len(s.w.live(s.pair[0]))+len(s.w.live(s.pair[1])))
	}
	return sizes
}

func TestSecondTool_CopiesOurCopies_IsStopped(t *testing.T) {
	t.Parallel()
	marked := func(s string) string { return "[copy] " + s }
	for name, row := range map[string]struct {
		detail mirror.Detail
		lines  []string
		title  func(string) string
	}{
		"equal, busy": {detail: mirror.Busy}, "equal, title": {detail: mirror.Title}, "equal, full": {detail: mirror.Full},
		"marked, busy": {detail: mirror.Busy, title: marked}, "marked, full": {detail: mirror.Full, title: marked},
		"a series": {detail: mirror.Full, lines: []string{"RRULE:FREQ=DAILY;COUNT=3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tool := newSecondTool(w, work, home)
			if row.title != nil {
				tool.title = row.title
			}
			w.mirrorWork(bothWays(row.detail)...)
			w.insert(work, "Dentist", "2026-03-10T09:00:00Z", row.lines...)
			w.sync(work)
			sizes := tool.grow(8)
			// Of the event and of the tool's copy of it: three copies of ours, and three of the tool's.
			if len(sizes) == 0 || sizes[len(sizes)-1] != 14 || tool.run() > 0 {
				t.Errorf("both calendars have %v events, want 14 in the end", sizes)
			}
			looping := w.looping()
			if len(looping) != 2 || !strings.Contains(looping[0].LastError, "Take the calendars out of one") {
				t.Errorf("the stopped mirrors are %+v", looping)
			}
		})
	}
}

// looping are the mirrors that are not made because another program copies copies.
func (w *world) looping() (found []mirror.Mirror) {
	w.Helper()
	return w.loopingIn(work, home)
}

func (w *world) loopingIn(accounts ...string) (found []mirror.Mirror) {
	w.Helper()
	for _, account := range accounts {
		all, err := store.Collect(mirror.IntoAccount(w.ctx, w.memory, account))
		w.must(err)
		found = append(found, slices.DeleteFunc(all, func(m mirror.Mirror) bool { return !m.IsLooping() })...)
	}
	return found
}

func TestSecondTool_OriginalGoes_NothingIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tool := newSecondTool(w, work, home)
	w.mirrorWork(bothWays(mirror.Full)...)
	event := w.insert(work, "Dentist", "2026-03-10T09:00:00Z")
	w.sync(work)
	tool.grow(6)
	_, err := w.full.DeleteQuietly(w.ctx, refTo(work), event.ID, "")
	w.must(err)
	for range 8 {
		w.sync(work)
		w.sync(home)
		tool.withdraw()
	}
	w.sync(work)
	w.sync(home)
	if left := len(w.live(refTo(work))) + len(w.live(refTo(home))); left != 0 || len(w.looping()) != 0 {
		t.Errorf("%d events and %d mirrors are left", left, len(w.looping()))
	}
}

// withdraw deletes the copies of what is gone.
func (s *secondTool) withdraw() {
	s.w.Helper()
	there := map[string]bool{}
	for _, at := range s.pair {
		for _, event := range s.w.live(at) {
			there[event.ID] = true
		}
	}
	for of, id := range s.copy {
		for i := range s.pair {
			if _, err := s.w.full.Get(s.w.ctx, s.pair[i], id); err == nil && !there[of] && there[id] {
				_, err = s.w.full.DeleteQuietly(s.w.ctx, s.pair[i], id, "")
				s.w.must(err)
			}
		}
	}
}

// A person makes equal events, each after the copy of the one before, and duplicates a copy.
func TestPerson_MakesEqualEvents_AllAreMirrored(t *testing.T) {
	t.Parallel()
	for name, account := range map[string][]string{"in one calendar": {work, work, work}, "in both": {work, home, home}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork(bothWays(mirror.Full)...)
			for _, at := range account {
				w.insert(at, "Focus", "2026-03-10T09:00:00Z")
				w.sync(at)
				w.sync(work)
				w.sync(home)
			}
			for _, at := range []string{work, home} {
				if n := len(w.live(refTo(at))); n != len(account) {
					t.Errorf("%s has %d events, want %d", at, n, len(account))
				}
			}
			if looping := w.looping(); len(looping) != 0 {
				t.Errorf("these count as copies of copies: %+v", looping)
			}
		})
	}
}

// Events that were there before the copies are nobody's answer to them, however many there are.
func TestPerson_HadEqualEvents_AllAreMirrored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		w.insert(work, "Focus", "2026-03-10T09:00:00Z")
		w.insert(home, "Focus", "2026-03-10T09:00:00Z")
	}
	w.must(w.clock.Advance(time.Minute))
	w.mirrorWork(bothWays(mirror.Full)...)
	w.settle()
	w.sync(work)
	w.sync(home)
	if n := len(w.live(refTo(work))) + len(w.live(refTo(home))); n != 20 || len(w.looping()) != 0 {
		t.Errorf("both calendars have %d events, want 20; looping: %+v", n, w.looping())
	}
}

// A moved occurrence of a stopped series takes a time that no other copy does. The other series
// are equal, and stay stopped.
func TestSecondTool_StoppedSeriesMoves_GrowsNoFurther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tool := newSecondTool(w, work, home)
	w.mirrorWork(bothWays(mirror.Full)...)
	w.insert(work, "Dentist", "2026-03-10T09:00:00Z", "RRULE:FREQ=DAILY;COUNT=3")
	w.sync(work)
	tool.grow(6)
	stopped := w.looping()
	for _, m := range stopped {
		event, err := mirror.LoadEvent(w.ctx, w.memory, m.CanonicalID)
		w.must(err)
		w.moveOccurrence(event)
		w.sync(event.AccountID)
		if n := len(w.live(refTo(m.TargetAccountID))); n != 8 {
			t.Errorf("%s shows %d series, want the moved one and 7", m.TargetAccountID, n)
		}
	}
	// The tool copies both released series, which equal those before again.
	if sizes := tool.grow(6); len(stopped) != 2 || sizes[5] != 18 || tool.run() > 0 || len(w.looping()) != 2 {
		t.Errorf("both calendars have %v events, want 18 in the end; stopped are %+v", sizes, w.looping())
	}
}

// moveOccurrence moves the second occurrence of a daily series by an hour.
func (w *world) moveOccurrence(series mirror.Event) {
	w.Helper()
	ref := refTo(series.AccountID)
	original := series.Start
	original.Time = original.Time.Add(24 * time.Hour)
	shown, err := w.full.Instance(w.ctx, ref, series.EventID, original)
	w.must(err)
	from, until := original, original
	from.Time, until.Time = from.Time.Add(time.Hour), until.Time.Add(2*time.Hour)
	_, err = w.full.PatchContent(w.ctx, ref, shown.ID, "", gcal.Content{
		Summary: "Dentist", Start: from, End: until, Transparency: "opaque", Visibility: "default",
	})
	w.must(err)
}
