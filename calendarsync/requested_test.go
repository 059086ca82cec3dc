package calendarsync_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// idleWorld has a finalised poll whose calendar has no sync pending.
func idleWorld(t *testing.T) (w *worldtest.World, pollID, eventID string) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{})
	pollID, _, eventID = w.Finalised()
	w.Run(2 * time.Minute)
	if calendar := w.Calendar("gm"); !calendar.SyncAt.IsZero() {
		t.Fatalf("a sync is due at %v", calendar.SyncAt)
	}
	return w, pollID, eventID
}

// loseWake has the queue lose the next task once the work is committed.
func loseWake(w *worldtest.World) {
	w.Fail("before wake", fault.Wrap(fault.Unavailable, errors.New("no answer"), "The queue did not answer."))
}

// The program is killed between the answer to a push and the sync, and whatever the queue had
// is lost. No sweep runs.
func TestPush_AcknowledgedBeforeADeath_IsFoundByTheDrain(t *testing.T) {
	t.Parallel()
	w, pollID, eventID := idleWorld(t)
	w.MoveEvent("gm", eventID, noon)
	loseWake(w)
	w.RunDue()
	equal(t, "pushes that Google keeps", len(w.Google.PendingPushes()), 0)
	equal(t, "syncs waiting", waiting(w, calendars.SyncKind), 0)
	calendar := w.Calendar("gm")
	same(t, "cause and trace", []string{calendar.SyncCause, calendar.SyncTrace[:5]}, []string{"push", "push-"})
	w.Restart()
	w.RunDue()
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	journal := w.Journal(pollID)
	same(
		t, "cause in the journal", []string{journal[len(journal)-1].Trigger, journal[len(journal)-1].Trace},
		[]string{"push", calendar.SyncTrace},
	)
	atRest(t, w)
}

// A burst of pushes costs one write and one task.
func TestPush_ThatFindsARequest_WritesNothing(t *testing.T) {
	t.Parallel()
	w, meter := metered(t)
	w.Finalised()
	w.Run(2 * time.Minute)
	push := genuine(t, w)
	for n := range 20 {
		meter.Reset()
		if err := w.Watcher.Push(t.Context(), push); err != nil {
			t.Fatal(err)
		}
		equal(t, "writes", meter.Total().Writes, map[bool]int{true: 1}[n == 0])
	}
	equal(t, "syncs waiting", waiting(w, calendars.SyncKind), 1)
}

// transactions counts those that began.
type transactions struct {
	store.Store
	begun int
}

func (c *transactions) Run(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	c.begun++
	return c.Store.Run(ctx, fn)
}

// A transaction of a data file waits for others, so a push that is covered begins none there.
func TestPush_ThatFindsARequestInAFile_BeginsNoTransaction(t *testing.T) {
	t.Parallel()
	counted := &transactions{}
	w := worldtest.New(t, worldtest.Options{Alone: true, Wrap: func(inner store.Store) store.Store {
		counted.Store = inner
		return counted
	}})
	w.Finalised()
	w.Run(2 * time.Minute)
	push := genuine(t, w)
	for n := range 20 {
		counted.begun = 0
		if err := w.Watcher.Push(t.Context(), push); err != nil {
			t.Fatal(err)
		}
		equal(t, "transactions", counted.begun, map[bool]int{true: 1}[n == 0])
	}
	w.RunDue()
	equal(t, "still requested", w.Calendar("gm").Asked(), false)
	if err := w.Watcher.Push(t.Context(), push); err != nil {
		t.Fatal(err)
	}
	equal(t, "requested again", w.Calendar("gm").Asked(), true)
}

// A push in the middle of a run is followed by another run, though its task is lost.
func TestPush_DuringASync_StaysRequestedAfterIt(t *testing.T) {
	t.Parallel()
	for _, outage := range []bool{false, true} {
		w, pollID, eventID := idleWorld(t)
		w.MoveEvent("gm", eventID, noon)
		if outage {
			w.Refuse("events.list", 404, "notFound", 1)
		}
		w.On("after events.list", func() {
			w.MoveEvent("gm", eventID, three)
			loseWake(w)
			if err := w.Watcher.Push(t.Context(), genuine(t, w)); err != nil {
				t.Error(err)
			}
			w.LosePushes()
		})
		w.RunDue()
		calendar := w.Calendar("gm")
		equal(t, "requested when the run has ended", calendar.Asked() && !calendar.SyncAt.After(w.Clock.Now()), true)
		w.Run(time.Minute)
		stands(t, w, pollID, rules.StateRescheduled, three.Start)
		atRest(t, w)
	}
}

// The queue knows nothing of a run that died: the calendar is due when the lease ends.
func TestSync_ThatDies_IsFollowedByAnotherAfterItsLease(t *testing.T) {
	t.Parallel()
	w, pollID, eventID := idleWorld(t)
	w.MoveEvent("gm", eventID, noon)
	w.LosePushes()
	key := w.CalendarKey("gm")
	w.Write(calendars.Path(key), calendars.RequestSync(worldtest.Cause.Request(w.Clock.Now()))...)
	w.Crash("before events.list")
	lived, _ := w.Survives(func() {
		_, _ = w.Outbox.Run(w.Context(), calendars.SyncKind, key)
		_ = w.Scheduler.Recover(w.Context()) // any call of a program that died
	})
	if lived {
		t.Fatal("the run lived")
	}
	w.TakeOver()
	w.Run(30 * time.Second)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	w.Run(calendars.Lease + time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

// While the quota is used up no drain wakes the calendar, and a push of that time is synced
// when the rest ends, or once its owner links the account again.
func TestPush_DuringARest_IsSyncedAtItsEnd(t *testing.T) {
	t.Parallel()
	for _, relinked := range []bool{false, true} {
		w, pollID, eventID := idleWorld(t)
		w.Refuse("events.list", 403, "quotaExceeded", 1)
		w.MoveEvent("gm", eventID, noon)
		w.RunDue()
		w.MoveEvent("gm", eventID, three)
		w.RunDue()
		listed, until := w.Calls("events.list"), w.Calendar("gm").PausedUntil
		equal(t, "asked, and due at the end of the rest", w.Calendar("gm").Asked() && w.Calendar("gm").SyncAt.Equal(until), true)
		for range 10 {
			w.Skip(time.Minute)
			woken, err := w.Outbox.Drain(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range woken {
				equal(t, "woken of "+kind.Kind, kind.N, 0)
			}
		}
		if relinked {
			w.Link("gm")
			w.RunDue()
		} else {
			w.Run(until.Sub(w.Clock.Now()) - time.Minute)
			equal(t, "listings before the end", w.Calls("events.list")-listed, 0)
			w.Run(2 * time.Minute)
		}
		stands(t, w, pollID, rules.StateRescheduled, three.Start)
		atRest(t, w)
	}
}

// How often a calendar failed is stored: the waits of one that is gone grow over restarts, and
// the first success forgets them.
func TestSync_ThatKeepsFailing_WaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	w, _, _ := idleWorld(t)
	key := w.CalendarKey("gm")
	w.Refuse("events.list", 404, "notFound", 3)
	w.Write(calendars.Path(key), calendars.RequestSync(worldtest.Cause.Request(w.Clock.Now()))...)
	for failed, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		if _, err := w.Outbox.Run(t.Context(), calendars.SyncKind, key); err != nil {
			t.Fatal(err)
		}
		calendar := w.Calendar("gm")
		equal(t, "failures", calendar.SyncAttempts, int64(failed+1))
		equal(t, "wait", calendar.SyncAt.Sub(w.Clock.Now()), want)
		w.Restart()
		w.Skip(want)
	}
	w.Run(time.Minute)
	calendar := w.Calendar("gm")
	equal(t, "failures, forgotten", calendar.SyncAttempts, 0)
	equal(t, "due", calendar.SyncAt.IsZero(), true)
	atRest(t, w)
}

// With QS_SYNC=off syncs rest. What was requested then runs at once when it is on again.
func TestSync_ThatRests_RunsOnceItWorksAgain(t *testing.T) {
	t.Parallel()
	w, pollID, eventID := idleWorld(t)
	key, mode := w.CalendarKey("gm"), outbox.Rests
	kind := w.Syncer.Work()
	kind.Mode = func() outbox.Mode { return mode }
	switched := &outbox.Outbox{Store: w.Documents, Waker: w.Wakes, Now: w.Clock.Now, Log: slog.New(slog.DiscardHandler)}
	switched.Add(kind)
	w.MoveEvent("gm", eventID, noon)
	w.LosePushes()
	w.Write(calendars.Path(key), calendars.RequestSync(worldtest.Cause.Request(w.Clock.Now()))...)
	for _, row := range []struct {
		mode  outbox.Mode
		state rules.State
		start time.Time
		woken int
	}{{outbox.Rests, rules.StateOK, ten.Start, 0}, {outbox.Works, rules.StateRescheduled, noon.Start, 1}} {
		mode = row.mode
		if _, err := switched.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "woken", waiting(w, calendars.SyncKind), row.woken)
		if again, err := switched.Run(t.Context(), calendars.SyncKind, key); err != nil || !again.IsZero() {
			t.Errorf("again at %v, %v", again, err)
		}
		stands(t, w, pollID, row.state, row.start)
	}
	w.RunDue()
	atRest(t, w)
}
