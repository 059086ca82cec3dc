package mirrors_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

const (
	secondStart = "2026-03-12T09:00:00Z"
	cakeStart   = "2026-03-12T15:00:00Z"
)

// movedSecond is a world with a weekly series at work, whose second occurrence is in the afternoon, that
// home shows.
func movedSecond(t *testing.T) (w *world, seriesID string) {
	t.Helper()
	w = newMirroringWorld(t)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at(secondStart))
	w.must(err)
	w.turn(second, "With cake", cakeStart)
	w.sync(work)
	w.run(5 * time.Minute)
	w.sync(home)
	w.wantTitles(home, "Weekly", "With cake")
	return w, series.ID
}

// secondAtHome is the second occurrence as home has it, deleted or not.
func (w *world) secondAtHome() gcal.Event {
	w.Helper()
	second, err := w.full.Instance(w.ctx, refTo(home), w.masterAtHome().ID, at(secondStart))
	w.must(err)
	return second
}

// observeAtHome applies what home shows of an event.
func (w *world) observeAtHome(id string) {
	w.Helper()
	shown, err := w.full.Get(w.ctx, refTo(home), id)
	w.must(err)
	_, _, err = w.service.Observe(w.ctx, refTo(home), shown, false, cause)
	w.must(err)
}

// Google cancels the exceptions of a series that somebody moves. Nobody deleted them, and they come back
// with it, however often.
func TestSync_ASeriesCopyIsMovedTwice_KeepsItsExceptions(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(w *world, seriesID, masterID, secondID string){
		"found by a sync":              func(*world, string, string, string) {},
		"the occurrence is seen first": func(w *world, _, _, second string) { w.observeAtHome(second) },
		"the series is seen first":     func(w *world, _, master, _ string) { w.observeAtHome(master) },
		"found by a reconciliation": func(w *world, _, _, _ string) {
			for at, more := "", true; more; more = at != "" {
				_, next, err := w.writer.Reconcile(w.ctx, cause, at, false)
				w.must(err)
				at = next
			}
		},
		"found by a write": func(w *world, series, _, _ string) {
			shown, err := w.full.Get(w.ctx, refTo(work), series)
			w.must(err)
			content := plan.Shown(*shown.Details)
			content.Location += "Room 4"
			_, err = w.full.PatchContent(w.ctx, refTo(work), series, "", content)
			w.must(err)
			w.sync(work)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, series := movedSecond(t)
			for range 2 {
				master, second := w.masterAtHome(), w.secondAtHome()
				content := plan.Shown(*master.Details)
				content.Start.Time, content.End.Time = content.Start.Time.Add(time.Hour), content.End.Time.Add(time.Hour)
				_, err := w.full.PatchContent(w.ctx, refTo(home), master.ID, "", content)
				w.must(err)
				second, err = w.full.Get(w.ctx, refTo(home), second.ID)
				w.must(err)
				if second.EventState != rules.Gone {
					t.Fatalf("the occurrence is %+v", second)
				}
				find(w, series, master.ID, second.ID)
				w.sync(home)
				w.run(10 * time.Minute)
				w.wantTitles(home, "Weekly", "With cake")
			}
			if d := w.secondAtHome().Details; !d.Start.Time.Equal(at(cakeStart).Time) {
				t.Errorf("the occurrence is at %v", d.Start)
			}
			if d := w.masterAtHome().Details; !d.Start.Time.Equal(at(thursday).Time) {
				t.Errorf("the series is at %v", d.Start)
			}
			for _, m := range w.mirrors() {
				if m.State != mirror.Active {
					t.Errorf("the mirror of %s is %s: %s", m.CanonicalID, m.State, m.LastError)
				}
			}
			w.delete(w.secondAtHome()) // for the first time
			w.sync(home)
			w.run(10 * time.Minute)
			w.wantTitles(home, "Weekly", "With cake")
		})
	}
}

// What somebody deletes twice stays away, also where they rename the series in between and after it.
func TestSync_OneOccurrenceOfACopyIsDeletedTwice_StaysAway(t *testing.T) {
	t.Parallel()
	w, _ := movedSecond(t)
	rename := func() {
		master := w.masterAtHome()
		content := plan.Shown(*master.Details)
		content.Summary = "Mine"
		_, err := w.full.PatchContent(w.ctx, refTo(home), master.ID, "", content)
		w.must(err)
		w.sync(home)
		w.run(10 * time.Minute)
	}
	for _, left := range [][]string{{"Weekly", "With cake"}, {"Weekly"}} {
		w.delete(w.secondAtHome())
		w.sync(home)
		w.run(10 * time.Minute)
		w.wantTitles(home, left...)
		rename()
		w.wantTitles(home, left...)
	}
	if !slices.ContainsFunc(w.mirrors(), func(m mirror.Mirror) bool { return m.State == mirror.Suppressed }) {
		t.Errorf("the copies are %+v", w.mirrors())
	}
}

// A deleted occurrence that somebody restores in the copy goes again, at most three times a day.
func TestSync_ADeletedOccurrenceIsRestoredInTheCopy_GoesAgain(t *testing.T) {
	t.Parallel()
	w, series := movedSecond(t)
	content := plan.Shown(*w.secondAtHome().Details)
	original, err := w.full.Instance(w.ctx, refTo(work), series, at(secondStart))
	w.must(err)
	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), original.ID, "")
	w.must(err)
	w.sync(work)
	w.run(5 * time.Minute)
	w.sync(home)
	for _, left := range [][]string{{"Weekly"}, {"Weekly"}, {"Weekly"}, {"Weekly", "With cake"}} {
		w.wantTitles(home, "Weekly")
		restored, err := w.full.PatchContent(w.ctx, refTo(home), w.secondAtHome().ID, "", content)
		w.must(err)
		w.sync(home)
		w.run(5 * time.Minute)
		w.wantTitles(home, left...)
		_, _, err = w.service.Observe(w.ctx, refTo(home), restored, false, cause) // a listing from before
		w.must(err)
		for _, m := range w.mirrors() {
			if want := len(left) > 1 && m.EventID == restored.ID; (m.State == mirror.Contested) != want || !m.Due.IsZero() {
				t.Errorf("the mirror of %s is %s, due %v", m.CanonicalID, m.State, m.Due)
			}
		}
	}
}
