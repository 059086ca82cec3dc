package mirrors_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// invitation has ana make a daily series of 12 with a guest, and move eight occurrences.
func (w *world) invitation(guest string) (seriesID string, starts []recurrence.Moment) {
	w.Helper()
	seriesID, starts = w.guestSeries(annes, guest, 12)
	for _, start := range starts[2:10] {
		w.moveInstance(annes, seriesID, start, 3*time.Hour)
	}
	return seriesID, starts
}

// guestSeries makes a daily series of an account with a guest. starts are those by the rule.
func (w *world) guestSeries(account, guest string, count int) (seriesID string, starts []recurrence.Moment) {
	w.Helper()
	series := w.insert(account, "Stand-up", thursday, fmt.Sprintf("RRULE:FREQ=DAILY;COUNT=%d", count))
	list, err := w.full.GuestList(w.ctx, refTo(account), series.ID)
	w.must(err)
	_, err = w.full.PatchGuests(w.ctx, refTo(account), list, gcal.GuestChange{Add: []string{refTo(guest).Calendar}}, "none")
	w.must(err)
	for day := range count {
		start := at(thursday)
		start.Time = start.Time.AddDate(0, 0, day)
		starts = append(starts, start)
	}
	return series.ID, starts
}

// moveInstance moves an occurrence in its organizer's account to a time after the one by the
// rule; 0 cancels it.
func (w *world) moveInstance(account, seriesID string, start recurrence.Moment, by time.Duration) {
	w.Helper()
	shown, err := w.full.Instance(w.ctx, refTo(account), seriesID, start)
	w.must(err)
	if by == 0 {
		_, err = w.full.DeleteQuietly(w.ctx, refTo(account), shown.ID, "")
		w.must(err)
		return
	}
	content := plan.Shown(*shown.Details)
	content.Start.Time, content.End.Time = start.Time.Add(by), start.Time.Add(by+time.Hour)
	_, err = w.full.PatchContent(w.ctx, refTo(account), shown.ID, "", content)
	w.must(err)
}

// unlike are the occurrences that home does not show as ana's calendar does.
func (w *world) unlike(seriesID string, starts []recurrence.Moment) (differ []recurrence.Moment) {
	w.Helper()
	copied := w.masterAtHome().ID
	for _, start := range starts {
		want, err := w.full.Instance(w.ctx, refTo(annes), seriesID, start)
		w.must(err)
		got, err := w.full.Instance(w.ctx, refTo(home), copied, start)
		w.must(err)
		if want.EventState != got.EventState || want.EventState != rules.Gone && !sameTimes(want, got) {
			differ = append(differ, start)
		}
	}
	return differ
}

func sameTimes(a, b gcal.Event) bool {
	return a.Details.Start.Time.Equal(b.Details.Start.Time) && a.Details.End.Time.Equal(b.Details.End.Time)
}

// spent is what writes cost at Google since the last ResetCalls.
func (w *world) spent() int {
	calls := w.google.Control().Calls()
	return calls["events.insert"] + calls["events.patch"] + calls["events.delete"] + calls["events.instances"] + calls["events.get"]
}

// Each edit of a series by somebody else costs a bounded number of calls at once; in the end
// every occurrence is copied as Google shows it, and no old time stays.
func TestSync_AnothersSeriesOfManyExceptions_IsCopiedInSteps(t *testing.T) {
	t.Parallel()
	const most = 3
	for name, row := range map[string]struct {
		edit func(w *world, seriesID string, starts []recurrence.Moment)
		most int
	}{
		"the rule changes": {func(w *world, seriesID string, _ []recurrence.Moment) {
			w.patchSeries(seriesID, func(c *gcal.Content) { c.Recurrence = []string{"RRULE:FREQ=DAILY;COUNT=13"} })
		}, most},
		"occurrences move": {func(w *world, seriesID string, starts []recurrence.Moment) {
			for _, start := range starts[2:10] {
				w.moveInstance(annes, seriesID, start, 5*time.Hour)
			}
		}, most},
		"occurrences are cancelled": {func(w *world, seriesID string, starts []recurrence.Moment) {
			for _, start := range starts[1:9] {
				w.moveInstance(annes, seriesID, start, 0)
			}
		}, 4 * most},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.service.MostExceptions = most
			w.mirrorWork()
			w.settle()
			seriesID, starts := w.invitation(work)
			w.google.Control().ResetCalls()
			w.sync(work)
			if spent := w.spent(); spent > 2+2*most {
				t.Errorf("the first copy cost %d calls", spent)
			}
			w.run(time.Hour)
			if differ := w.unlike(seriesID, starts); len(differ) > 0 {
				t.Fatalf("not as in ana's calendar: %v\n%s", differ, w.log.String())
			}
			row.edit(w, seriesID, starts)
			w.google.Control().ResetCalls()
			w.sync(work)
			w.run(5 * time.Minute)
			if spent := w.spent(); spent > 2+2*row.most {
				t.Errorf("the edit cost %d calls", spent)
			}
			w.run(time.Hour)
			if differ := w.unlike(seriesID, starts); len(differ) > 0 {
				t.Errorf("not as in ana's calendar: %v\n%s", differ, w.log.String())
			}
		})
	}
}

// Occurrences that somebody else cancels are free: their times do not wait for the turns of
// other exceptions.
func TestSync_OccurrencesOfOthersCancelled_AreFreeAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.MostExceptions = 2
	w.mirrorWork()
	w.settle()
	seriesID, starts := w.guestSeries(annes, work, 12)
	w.sync(work)
	for i, start := range starts[:11] {
		if i < 4 {
			w.moveInstance(annes, seriesID, start, 3*time.Hour)
		} else {
			w.moveInstance(annes, seriesID, start, 0)
		}
	}
	w.sync(work)
	w.run(2 * time.Minute)
	if differ := w.unlike(seriesID, starts[4:]); len(differ) > 0 {
		t.Errorf("busy, but cancelled: %v\n%s", differ, w.log.String())
	}
	if differ := w.unlike(seriesID, starts[:4]); len(differ) != 2 {
		t.Errorf("of 4 moved %v wait, want 2", differ)
	}
}

// patchSeries has ana change her series.
func (w *world) patchSeries(seriesID string, change func(c *gcal.Content)) {
	w.Helper()
	shown, err := w.full.Get(w.ctx, refTo(annes), seriesID)
	w.must(err)
	content := plan.Shown(*shown.Details)
	change(&content)
	_, err = w.full.PatchContent(w.ctx, refTo(annes), seriesID, "", content)
	w.must(err)
}

// The person's own series has no bound.
func TestSync_OwnSeriesOfManyExceptions_IsCopiedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.MostExceptions = 1
	w.mirrorWork(mirror.Edge{FromAccountID: club, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget})
	w.settle()
	seriesID, starts := w.guestSeries(work, club, 6)
	for _, start := range starts[:5] {
		w.moveInstance(work, seriesID, start, time.Hour)
	}
	w.sync(club)
	if all := w.shown(home, homeMail); len(all) != 6 {
		t.Errorf("home shows %d events, want the series and 5 exceptions\n%s", len(all), w.log.String())
	}
}

// What makes all copies of an account due does not make those due that wait their turn.
func TestWriter_RelinkedWhileExceptionsWait_KeepsTheirTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.MostExceptions = 2
	w.mirrorWork()
	w.settle()
	w.invitation(work)
	w.sync(work)
	w.google.Control().ResetCalls()
	w.relink(home)
	w.run(2 * time.Minute)
	if spent := w.spent(); spent > 0 {
		t.Errorf("relinking cost %d calls", spent)
	}
	w.run(time.Hour)
	for _, m := range w.mirrors() {
		if m.State != mirror.Active {
			t.Errorf("it is %+v", m)
		}
	}
}
