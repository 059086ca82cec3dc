package calendarsync_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// The calendars of a sweep have their places in nine tenths of its period, so
// that the last is swept before the next sweep begins.
func TestSweepPage_Spread_IsNineTenthsOfThePeriod(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for i := range 12 {
		w.Write(calendars.Path(fmt.Sprintf("calendar-%02d", i)), store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: int64(1)})
	}
	woken := &wakings{}
	w.Watcher.Outbox = woken
	began := w.Clock.Now()
	for at, more := "", true; more; more = at != "" {
		var err error
		_, at, err = w.Watcher.SweepPage(t.Context(), worldtest.Cause, at, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "woken", woken.count, 12)
	var places []int
	for i := range 12 {
		calendar := calendars.Decode(w.Document(calendars.Path(fmt.Sprintf("calendar-%02d", i))))
		places = append(places, int(calendar.SweepAt.Sub(began)/time.Second))
	}
	if got, want := fmt.Sprint(places), "[0 2 4 6 8 10 12 14 16 0 2 4]"; got != want {
		t.Errorf("the calendars have the places %s, want %s", got, want)
	}
}

// A sweep repairs what was written directly, and counts it.
func TestSweep_OfWhatWasWrittenDirectly_RepairsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(w *worldtest.World, open, finalised, eventID string)
		what  func(open, finalised string) string // the poll that is repaired
		last  string                              // in its journal
	}{
		"a status": {func(w *worldtest.World, open, _, _ string) {
			w.Write(poll.Path(open), poll.Set("status", string(rules.Cancelled)))
		}, func(open, _ string) string { return open }, "cancel"},
		"an index entry that is gone": {func(w *worldtest.World, _, _, eventID string) {
			w.Remove(poll.IndexPath(eventID))
		}, func(_, finalised string) string { return finalised }, "record"},
		"a status of a poll with an event": {func(w *worldtest.World, _, finalised, _ string) {
			w.Write(poll.Path(finalised), poll.Set("status", string(rules.Cancelled)))
		}, func(_, finalised string) string { return finalised }, "cancel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			open, _ := w.Poll()
			finalised, _, eventID := w.Finalised()
			w.Run(time.Minute)
			c.write(w, open, finalised, eventID)
			did, err := sweptBy(t, w, 0)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "repaired", did.Repaired, 1)
			equal(t, "failed", did.Failed, 0)
			journal := w.Decisions(c.what(open, finalised))
			equal(t, "last in the journal", journal[len(journal)-1], c.last)
			w.Run(2 * time.Minute)
			did, err = sweptBy(t, w, 0)
			equal(t, "repaired again", did.Repaired, 0)
			equal(t, "error", err, nil)
		})
	}
}

// A page is of a hundred channels, and the next one goes on behind it.
func TestSweep_OfManyChannels_LooksAtEachOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Shared: true})
	for n := range 101 {
		writeChannel(w, fmt.Sprintf("channel-%03d", n), calendarsync.Retiring, worldtest.Start.Add(-time.Hour))
	}
	pages := 0
	for at, more := "", true; more; more = at != "" {
		var err error
		_, at, err = w.Watcher.SweepPage(t.Context(), worldtest.Cause, at, 0)
		if err != nil {
			t.Fatal(err)
		}
		pages++
	}
	equal(t, "channels left", len(w.Watches()), 0)
	equal(t, "pages", pages, len(rules.Statuses)+5)
}

// A sweep that is woken before its time keeps it, and one that was done is not done again.
func TestSweep_WokenAtAnotherTime_IsDoneAtItsOwn(t *testing.T) {
	t.Parallel()
	w, _, _ := idleWorld(t)
	w.Run(2 * time.Hour)
	planned, key := w.Clock.Now().Add(time.Hour), w.CalendarKey("gm")
	w.Write(calendars.Path(key), calendars.PlanSweep(planned, "trace")...)
	woken := &wakings{}
	w.Watcher.Outbox = woken
	swept := func() outbox.Result {
		return w.Watcher.Sweeps().Handle(t.Context(), outbox.Item{ID: key, Document: w.Document(calendars.Path(key))})
	}
	if got := swept(); !reflect.DeepEqual(got, outbox.Kept(planned)) {
		t.Errorf("before its time: %+v", got)
	}
	equal(t, "it is planned still", w.Calendar("gm").SweepAt, planned)
	equal(t, "a sync is asked for", w.Calendar("gm").Asked(), false)
	w.Skip(time.Hour)
	if got := swept(); !reflect.DeepEqual(got, outbox.Kept(time.Time{})) {
		t.Errorf("at its time: %+v", got)
	}
	equal(t, "it is planned", !w.Calendar("gm").SweepAt.IsZero(), false)
	equal(t, "a sync is asked for at its time", w.Calendar("gm").Asked(), true)
	same(t, "by what", []string{w.Calendar("gm").SyncCause, w.Calendar("gm").SyncTrace}, []string{calendarsync.SweepKind, "trace"})
	equal(t, "woken", woken.count, 1)
	if got := swept(); !reflect.DeepEqual(got, outbox.Done()) {
		t.Errorf("once more: %+v", got)
	}
}

// interrupted is a store before whose next transaction something else happens.
type interrupted struct {
	store.Store
	before func()
}

func (i *interrupted) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	before := i.before
	i.before = nil
	if before != nil {
		before()
	}
	return i.Store.Run(ctx, fn)
}

// Another run may have ended the sweep, and the next one may be planned.
func TestSweep_EndedByAnotherRun_IsNotEndedTwice(t *testing.T) {
	t.Parallel()
	documents := &interrupted{}
	w := worldtest.New(t, worldtest.Options{Wrap: func(s store.Store) store.Store { documents.Store = s; return documents }})
	w.Finalised()
	w.Run(2 * time.Hour)
	key, next := w.CalendarKey("gm"), w.Clock.Now().Add(6*time.Hour)
	w.Write(calendars.Path(key), calendars.PlanSweep(w.Clock.Now(), "trace")...)
	documents.before = func() { w.Write(calendars.Path(key), calendars.PlanSweep(next, "another")...) }
	got := w.Watcher.Sweeps().Handle(t.Context(), outbox.Item{ID: key, Document: w.Document(calendars.Path(key))})
	if !reflect.DeepEqual(got, outbox.Kept(time.Time{})) {
		t.Errorf("it ended with %+v", got)
	}
	equal(t, "the next one", w.Calendar("gm").SweepAt, next)
	equal(t, "a sync is asked for", w.Calendar("gm").Asked(), false)
}

// What a person asked for is not done in the name of a sweep.
func TestSweep_OfACalendarThatIsAskedFor_KeepsWhoAsked(t *testing.T) {
	t.Parallel()
	w, _, _ := idleWorld(t)
	w.Run(2 * time.Hour)
	key := w.CalendarKey("gm")
	w.Write(calendars.Path(key), calendars.PlanSweep(w.Clock.Now(), "trace")...)
	w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
	woken := &wakings{}
	w.Watcher.Outbox = woken
	w.Watcher.Sweeps().Handle(t.Context(), outbox.Item{ID: key, Document: w.Document(calendars.Path(key))})
	equal(t, "asked for by", w.Calendar("gm").SyncCause, "person")
	equal(t, "woken", woken.count, 0)
}

// The slot is in the calendar's document: no task is needed for the sweep, it is done once, and
// what it found is synced though the calendar's own task is lost too.
func TestSweep_Planned_IsDoneByTheDrain(t *testing.T) {
	t.Parallel()
	w, pollID, eventID := idleWorld(t)
	w.Run(2 * time.Hour) // not fresh
	w.MoveEvent("gm", eventID, noon)
	w.LosePushes()
	loseWake(w)
	for at, more := "", true; more; more = at != "" {
		var err error
		_, at, err = w.Watcher.SweepPage(t.Context(), worldtest.Cause, at, worldtest.FallbackEvery)
		if err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "sweeps waiting", waiting(w, calendarsync.SweepKind), 0)
	equal(t, "planned with the job's trace", w.Calendar("gm").SweepTrace, worldtest.Cause.Trace)
	w.Restart()
	loseWake(w)
	w.RunDue()
	calendar := w.Calendar("gm")
	equal(t, "planned still", !calendar.SweepAt.IsZero(), false)
	equal(t, "a sync is requested", calendar.Asked(), true)
	w.Run(2 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	swept := w.Calls("events.list")
	w.Run(10 * time.Minute)
	equal(t, "listings of a sweep that is done", w.Calls("events.list")-swept, 0)
	atRest(t, w)
}
