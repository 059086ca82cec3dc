package calendarsync_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

var renewal = scheduler.Cause{Trigger: "renewal", Trace: "renewal"}

// renew is the timer's job of every day.
func renew(t *testing.T, w *worldtest.World) calendarsync.Renewed {
	t.Helper()
	renewed, next, err := w.Watcher.RenewPage(t.Context(), renewal, "")
	if err != nil || next != "" {
		t.Fatalf("renewal: %v, next %q", err, next)
	}
	return renewed
}

// known fails unless every channel that is open at Google has a document which
// takes its pushes, and at least one is open.
func known(t *testing.T, w *worldtest.World) {
	t.Helper()
	documents := map[string]store.Fields{}
	for _, doc := range w.Watches() {
		documents[doc.Path.ID()] = store.Fields(doc.Data)
	}
	open := 0
	for _, id := range w.Google.OpenChannels() {
		open++
		if status := documents[id].String("status"); status == "" || status == "expired" {
			t.Errorf("channel %s is open, and its document says %q", id, status)
		}
	}
	if open == 0 {
		t.Error("no channel is open")
	}
}

// Whatever befalls a renewal, and wherever: a channel lives all the time, none
// that is open is forgotten, and in the end there is one that is counted on.
func TestRenewal_InterruptedAnywhere_LeavesOneLiveChannel(t *testing.T) {
	t.Parallel()
	for _, blow := range []struct {
		name    string
		strike  func(w *worldtest.World, n int)
		recover func(w *worldtest.World)
	}{
		{"it dies and is started again", (*worldtest.World).CrashAt, (*worldtest.World).Restart},
		{"it dies beside another one", (*worldtest.World).CrashAt, (*worldtest.World).TakeOver},
		{"the call fails", func(w *worldtest.World, n int) {
			w.FailAt(n, fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
		}, (*worldtest.World).Calm},
	} {
		t.Run(blow.name, func(t *testing.T) {
			t.Parallel()
			n := 1
			for reached := true; reached && n <= worldtest.MostPoints; n++ {
				t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
					w := worldtest.New(t, worldtest.Options{})
					pollID, _, eventID := w.Finalised()
					w.Skip(5*24*time.Hour + time.Minute) // a day and a half before it ends
					blow.strike(w, n)
					w.Survives(func() {
						if _, _, err := w.Watcher.RenewPage(t.Context(), renewal, ""); err != nil {
							t.Logf("the renewal says: %v", err)
						}
					})
					reached = w.Struck()
					known(t, w)
					blow.recover(w)
					w.Run(2 * time.Minute)
					renew(t, w)
					sweep(t, w)
					known(t, w)
					active := 0
					for _, status := range statuses(w) {
						if status == "active" {
							active++
						}
					}
					equal(t, "channels that are counted on", active, 1)
					w.MoveEvent("gm", eventID, noon)
					w.Run(time.Minute)
					stands(t, w, pollID, rules.StateRescheduled, noon.Start)
					atRest(t, w)
				})
			}
			points.Struck(t, n-2, 20)
		})
	}
}

// Two renewals at once, whichever call of the first the second comes between:
// one channel in the end, and none that is open is forgotten.
func TestTwoRenewalsAtOnce_EndInOneChannel(t *testing.T) {
	t.Parallel()
	n := 1
	for reached := true; reached && n <= worldtest.MostPoints; n++ {
		t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.Skip(5*24*time.Hour + time.Minute)
			w.At(n, func() { renew(t, w) })
			renew(t, w)
			reached = w.Struck()
			w.Calm()
			known(t, w)
			same(t, "channels", statuses(w), []string{"active"})
			equal(t, "channels open at Google", len(w.Google.OpenChannels()), 1)
			w.Run(time.Minute)
			atRest(t, w)
		})
	}
	points.Struck(t, n-2, 20)
}

func TestRenewal_OneFailure_StopsAndRemovesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	w.Skip(5*24*time.Hour + time.Hour)
	w.Refuse("events.watch", 403, "push.webhookUrlUnauthorized", 1)
	renewed := renew(t, w)
	equal(t, "opened", renewed.Opened, 1)
	equal(t, "failed", renewed.Failed, 1)
	equal(t, "channels open at Google", len(w.Google.OpenChannels()), 2)
	known(t, w)
}

// slowly has each watch channel take a while to be granted.
type slowly struct {
	calendarsync.Google
	takes func()
}

// slow has it take longer than a call goes on for many.
func slow(t *testing.T, w *worldtest.World) slowly {
	t.Helper()
	return slowly{w.Watcher.Google, func() {
		if err := w.Clock.Advance(11 * time.Second); err != nil {
			t.Error(err)
		}
	}}
}

// Watch implements calendarsync.Google.
func (s slowly) Watch(ctx context.Context, ref gcal.Ref, request gcal.WatchRequest) (gcal.Channel, error) {
	s.takes()
	return s.Google.Watch(ctx, ref, request)
}

// With any number of channels to open, however slow, one call ends within a task's time
// limit and the next one continues.
func TestRenewal_EndsInTime_AndGoesOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	w.Skip(5*24*time.Hour + time.Hour)
	w.Watcher.Google = slow(t, w)
	first, next, err := w.Watcher.RenewPage(t.Context(), renewal, "")
	if err != nil || first.Opened != 1 || next == "" {
		t.Fatalf("opened %d, goes on at %q, %v", first.Opened, next, err)
	}
	second, next, err := w.Watcher.RenewPage(t.Context(), renewal, next)
	if err != nil || second.Opened != 1 || next != "" {
		t.Errorf("then opened %d, goes on at %q, %v", second.Opened, next, err)
	}
	known(t, w)
}

func TestRetry_EndsInTime_AndGoesOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Refuse("events.watch", 403, "push.webhookUrlUnauthorized", 2)
	w.Finalised()
	w.FinalisedBy("ana")
	w.Skip(2 * time.Minute)
	w.Watcher.Google = slow(t, w)
	for range 2 {
		if err := w.TryChannels(); err != nil {
			t.Error(err)
		}
	}
	same(t, "channels", statuses(w), []string{"active", "active"})
}

// A channel that Google did not grant is tried again with growing delays, and does not wait for
// the sweep.
func TestChannel_NotGranted_IsRetriedWithoutASweep(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Refuse("events.watch", 403, "push.webhookUrlUnauthorized", 4)
	pollID, _, _ := w.Finalised()
	equal(t, "error", w.View(pollID).Poll.Sync.Error.Code, rules.WatchFailed)
	same(t, "channels", statuses(w), []string{"error"})
	var tried []int
	for range 20 {
		w.Run(time.Minute)
		tried = append(tried, w.Calls("events.watch"))
	}
	// A minute after the finalisation, which has just passed, and then after 2, 4 and 8: the
	// fifth is granted.
	equal(t, "tries by the minute", fmt.Sprint(tried), "[2 3 3 3 3 4 4 4 4 4 4 4 4 5 5 5 5 5 5 5]")
	same(t, "channels", statuses(w), []string{"active"})
	equal(t, "state", w.View(pollID).Poll.Sync.State, rules.StateOK)
	atRest(t, w)
}

// A refusal is waited for as long as it says, though an earlier channel was never answered.
func TestChannel_RefusedAfterOneUnanswered_WaitsForItsOwnTime(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Crash("before events.watch")
	w.Survives(func() { w.Finalised() })
	w.TakeOver()
	w.Skip(2 * time.Minute)
	w.Refuse("events.watch", 503, "backendError", 0)
	if err := w.Watcher.Ensure(t.Context(), w.Account("gm"), "gm@example.com"); err == nil {
		t.Error("a refused channel is no error")
	}
	before := w.Calls("events.watch")
	if err := w.TryChannels(); err != nil {
		t.Error(err)
	}
	equal(t, "further calls before its time", w.Calls("events.watch")-before, 0)
	w.Skip(2 * time.Minute)
	if err := w.TryChannels(); err == nil {
		equal(t, "further calls at its time", w.Calls("events.watch")-before, 1)
	}
}

// The answer of a grant was lost: the channel is open, and nobody knows how to
// stop it until it pushes. Its first push is enough.
func TestAChannelWhoseAnswerWasLost_IsCountedOnFromItsFirstPush(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Fail("after events.watch", fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
	w.Finalised()
	w.RunDue()
	same(t, "channels", statuses(w), []string{"active"})
	known(t, w)
	renew(t, w)
	equal(t, "events.watch calls", w.Calls("events.watch"), 1)
}

// Where that push was lost too, another channel is made, and the first is
// stopped as soon as it is heard of.
func TestAChannelWhoseAnswerWasLost_IsStoppedOnceItIsHeard(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Fail("after events.watch", fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
	w.Plant("push", func(f *worldtest.Fault) { f.Drop, f.Times = true, 1 })
	_, _, eventID := w.Finalised()
	w.RunDue()
	same(t, "channels", statuses(w), []string{"error", "active"}) // the drain had another one made
	equal(t, "channels open at Google", len(w.Google.OpenChannels()), 2)
	known(t, w)
	w.PatchEvent("gm", eventID, map[string]any{"summary": "Another title"})
	w.Run(time.Minute)
	equal(t, "pushes that were refused or kept", len(w.Google.PendingPushes()), 0)
	sweep(t, w)
	same(t, "channels", statuses(w), []string{"active"})
	equal(t, "channels open at Google", len(w.Google.OpenChannels()), 1)
	known(t, w)
}

// A push of a channel that no document names is refused, and does nothing.
func TestAChannelThatNoDocumentNames_IsRefusedAndNothingElse(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, eventID := w.Finalised()
	w.Run(time.Minute)
	for _, doc := range w.Watches() {
		w.Remove(doc.Path)
	}
	listed := w.Calls("events.list")
	w.MoveEvent("gm", eventID, noon)
	w.RunDue()
	equal(t, "listings", w.Calls("events.list"), listed)
	equal(t, "documents of channels", len(w.Watches()), 0)
}
