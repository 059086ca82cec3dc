package calendarsync_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// late has Google's answer come two minutes after the channel's first push, which counts it as open.
func late(w *worldtest.World) {
	w.On("after events.watch", func() {
		if err := w.Clock.Advance(2 * time.Minute); err != nil {
			panic(err)
		}
		w.RunDue()
		if got := statuses(w); !slices.Equal(got, []string{"active"}) {
			panic(fmt.Sprintf("after its push the channels are %v", got))
		}
	})
}

// The answer says when the channel was granted, and what it is stopped by.
func TestAnswer_AfterTheFirstPush_IsStillTaken(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	late(w)
	w.Finalised()
	channel := store.Fields(w.Watches()[0].Data)
	equal(t, "granted", channel.Time("grantedAt"), worldtest.Start.Add(2*time.Minute))
	equal(t, "failures", channel.Int("failures"), 0)
	equal(t, "the channel", stored(w, w.Watches()[0].Path), "active 119h57m0s")
	known(t, w)
}

// That an answer was lost is no news of a channel that pushed.
func TestAnswer_LostAfterTheFirstPush_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	late(w)
	w.Fail("after events.watch", fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
	w.Finalised()
	channel := store.Fields(w.Watches()[0].Data)
	equal(t, "granted", channel.Time("grantedAt"), worldtest.Start)
	equal(t, "reason", channel.String("reason"), "")
	equal(t, "the channel", stored(w, w.Watches()[0].Path), "active 119h57m0s")
	known(t, w)
}

// An answer that comes when the channel's document is gone leaves none behind: it would be tried
// for ever.
func TestAnswer_OfAChannelThatWasRemoved_WritesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.On("after events.watch", func() { w.Remove(w.Watches()[0].Path) })
	pollID, slots := w.Poll()
	if _, err := w.Finalise(pollID, slots[0]); err != nil {
		t.Fatal(err)
	}
	equal(t, "documents of channels", len(w.Watches()), 0)
}

// What replaces a channel has been opened: the one that is on its way out is tried no more.
func TestChannel_OutOfUse_IsNotTriedAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	old := w.Watches()[0].Path
	w.Skip(5*24*time.Hour + time.Minute)
	w.Refuse("channels.stop", 503, "backendError", 1)
	ensure(t, w)
	equal(t, "the one that is stopped", stored(w, old), "retiring")
	w.Write(old, poll.Set("nextTry", w.Clock.Now().Add(time.Hour)), poll.Set("status", "active"))
	w.Skip(2 * 24 * time.Hour)
	if err := w.Watcher.StopAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "the one that ended", stored(w, old), "expired")
}

// After a crash a poll may say that no channel lives, although one does. The sweep corrects it,
// however many other polls the calendar has.
func TestSweep_OfAPollThatShowsNoChannel_ClearsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	finalisedToo(w)
	w.Run(time.Minute)
	if err := w.Scheduler.SetSyncError(t.Context(), pollID, rules.WatchFailed, worldtest.Cause, nil); err != nil {
		t.Fatal(err)
	}
	shows(t, w, pollID, rules.WatchFailed, rules.StateError)
	if err := w.SweepPages(worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	shows(t, w, pollID, "", rules.StateOK)
	equal(t, "events.watch calls", w.Calls("events.watch"), 1)
}

// What refuses a push before anything is read, a limit for strangers, says so in its own words.
func TestPush_NotAdmitted_GetsThatAnswer(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	push := genuine(t, w)
	limited := fault.New(fault.RateLimited, "too many")
	for name, c := range map[string]struct {
		token  string
		proven bool
	}{"a genuine one": {push.Token, true}, "a forged one": {"guessed", false}} {
		push.Token = c.token
		push.Admit = func(proven bool) error {
			equal(t, name+" is proven", proven, c.proven)
			return limited
		}
		passed := w.Points(func() {
			if err := w.Watcher.Push(t.Context(), push); !errors.Is(err, limited) {
				t.Errorf("%s: got %v", name, err)
			}
		})
		equal(t, name+": calls that leave the program", len(passed), 0)
	}
}
