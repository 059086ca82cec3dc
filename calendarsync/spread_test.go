package calendarsync_test

import (
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
	began := w.Clock.Now()
	for at, more := "", true; more; more = at != "" {
		var err error
		_, at, err = w.Watcher.SweepPage(t.Context(), worldtest.Cause, at, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
	}
	var places []int
	for i := range 12 {
		calendar := calendars.Decode(w.Document(calendars.Path(fmt.Sprintf("calendar-%02d", i))))
		places = append(places, int(calendar.SweepAt.Sub(began)/time.Second))
	}
	if got, want := fmt.Sprint(places), "[0 2 4 6 8 10 12 14 16 0 2 4]"; got != want {
		t.Errorf("the calendars have the places %s, want %s", got, want)
	}
}

// A sweep that is woken before its time keeps it, and one that was done is not done again.
func TestSweep_WokenAtAnotherTime_IsDoneAtItsOwn(t *testing.T) {
	t.Parallel()
	w, _, _ := idleWorld(t)
	w.Run(2 * time.Hour)
	planned, key := w.Clock.Now().Add(time.Hour), w.CalendarKey("gm")
	w.Write(calendars.Path(key), calendars.PlanSweep(planned, "trace")...)
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
	if got := swept(); !reflect.DeepEqual(got, outbox.Done()) {
		t.Errorf("once more: %+v", got)
	}
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
