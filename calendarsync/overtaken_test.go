package calendarsync_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// overtaking is a store in which something is committed between the first attempt of the next
// transaction and the one that counts.
type overtaking struct {
	store.Store
	between func()
}

var errOvertaken = errors.New("another commit was first")

// Run implements store.Store.
func (o *overtaking) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	between := o.between
	if between == nil {
		return o.Store.Run(ctx, fn)
	}
	o.between = nil
	err := o.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		_ = fn(ctx, tx) // whatever it says, this attempt does not count
		return errOvertaken
	})
	if !errors.Is(err, errOvertaken) {
		return err
	}
	between()
	return o.Store.Run(ctx, fn)
}

// overtaken is a world in which gm's calendar has a poll, whose next transaction may be overtaken.
func overtaken(t *testing.T) (*worldtest.World, *overtaking) {
	t.Helper()
	var o *overtaking
	w := worldtest.New(t, worldtest.Options{
		Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1},
		Wrap: func(documents store.Store) store.Store {
			o = &overtaking{Store: documents}
			return o
		},
	})
	w.Finalised()
	w.Run(time.Minute)
	return w, o
}

// interests sets how many polls follow gm's calendar.
func interests(w *worldtest.World, count int64) {
	w.Write(calendars.Path(w.CalendarKey("gm")), poll.Set("interests", map[string]any{poll.ConsumerPoll: count}))
}

func TestRelease_OfACalendarFollowedMeanwhile_StopsNoChannel(t *testing.T) {
	t.Parallel()
	w, o := overtaken(t)
	interests(w, 0)
	o.between = func() { interests(w, 1) }
	if err := w.Watcher.Follow(t.Context(), w.Account("gm"), "gm@example.com", worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	same(t, "channels", statuses(w), []string{"active"})
	equal(t, "channels.stop calls", w.Calls("channels.stop"), 0)
}

func TestEnsure_OvertakenByAnother_OpensNoSecondChannel(t *testing.T) {
	t.Parallel()
	w, o := overtaken(t)
	w.Remove(w.Watches()[0].Path)
	before := w.Calls("events.watch")
	o.between = func() { ensure(t, w) }
	ensure(t, w)
	equal(t, "events.watch calls", w.Calls("events.watch")-before, 1)
	same(t, "channels", statuses(w), []string{"active"})
}

func TestPush_OfACalendarLeftMeanwhile_WakesNothing(t *testing.T) {
	t.Parallel()
	w, o := overtaken(t)
	o.between = func() { interests(w, 0) }
	if err := w.Watcher.Push(t.Context(), genuine(t, w)); err != nil {
		t.Fatal(err)
	}
	equal(t, "syncs waiting", waiting(w, calendars.SyncKind), 0)
	equal(t, "a sync is asked for", w.Calendar("gm").Asked(), false)
}

func TestConfirm_OvertakenByTheSame_ConfirmsNothingMore(t *testing.T) {
	t.Parallel()
	w, o := overtaken(t)
	second, _, _ := w.Finalised()
	allGoneAtOnce(t, w, second)
	confirm := func() int {
		count, err := w.Watcher.Confirm(t.Context(), worldtest.Person("gm"), w.CalendarKey("gm"), []string{second}, worldtest.Cause)
		if err != nil {
			t.Error(err)
		}
		return count
	}
	o.between = func() { equal(t, "confirmed first", confirm(), 1) }
	equal(t, "confirmed afterwards", confirm(), 0)
}

func TestSync_OvertakenByAnother_ListsNothing(t *testing.T) {
	t.Parallel()
	w, o := overtaken(t)
	key := w.CalendarKey("gm")
	w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
	before := w.Calls("events.list")
	sync := func() { w.Syncer.Work().Handle(t.Context(), outbox.Item{ID: key}) }
	o.between = sync
	sync()
	equal(t, "listings", w.Calls("events.list")-before, 1)
}

func TestSweep_OvertakenByAnother_AsksForNoSync(t *testing.T) {
	t.Parallel()
	w, o := overtaken(t)
	w.Run(2 * time.Hour)
	key := w.CalendarKey("gm")
	w.Write(calendars.Path(key), calendars.PlanSweep(w.Clock.Now(), "trace")...)
	woken := &wakings{}
	w.Watcher.Outbox = woken
	sweep := func() { w.Watcher.Sweeps().Handle(t.Context(), outbox.Item{ID: key}) }
	o.between = sweep
	sweep()
	equal(t, "woken", woken.count, 1)
}

func TestUpcoming_OvertakenByAnother_PlansNothing(t *testing.T) {
	t.Parallel()
	w, o := overtaken(t)
	w.Skip(ten.Start.Add(-time.Hour).Sub(w.Clock.Now()))
	plan := func() int {
		did, _, err := w.Watcher.PlanUpcoming(t.Context(), scheduler.Cause{Trigger: "timer"}, "", 0)
		if err != nil {
			t.Error(err)
		}
		return did.Syncs
	}
	o.between = func() { equal(t, "planned first", plan(), 1) }
	equal(t, "planned afterwards", plan(), 0)
}
