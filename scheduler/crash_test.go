package scheduler_test

import (
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// blow is what befalls the program at one of its calls, and how it goes on.
type blow struct {
	name    string
	strike  func(w *worldtest.World, n int)
	recover func(w *worldtest.World)
}

var blows = []blow{
	{"it dies and is started again", (*worldtest.World).CrashAt, (*worldtest.World).Restart},
	{"it dies beside another one", (*worldtest.World).CrashAt, (*worldtest.World).TakeOver},
	{"the call fails", func(w *worldtest.World, n int) {
		w.FailAt(n, fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
	}, (*worldtest.World).Calm},
}

// followed fails where a poll is not at a time, or people did not get exactly that many
// notices.
func followed(t *testing.T, w *worldtest.World, s fixture, state rules.State, slot worldtest.Slot, notices int) {
	t.Helper()
	view := w.View(s.poll)
	if view.Poll.Sync.State != state || !view.Winning.Start.Equal(slot.Start) {
		t.Errorf("the poll is %q at %v", view.Poll.Sync.State, view.Winning.Start)
	}
	if got := w.Notices("ana"); len(got) != notices {
		t.Errorf("ana has the notices %v, want %d", got, notices)
	}
}

// After any fault at any point, poll and calendar agree in the end, and nothing is left
// over. The poll follows what the calendar did, and announces it once; a person's command
// was carried out or not.
func TestFaults_Anywhere_LeavePollAndEventAgreeing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		begin func(*worldtest.World) fixture
		act   act
		check func(t *testing.T, w *worldtest.World, s fixture)
	}{
		{begin: fresh, act: finaliseFirst, check: func(t *testing.T, w *worldtest.World, s fixture) {
			if _, err := w.Finalise(s.poll, s.slots[1]); err != nil {
				t.Errorf("another finalise: %v", err)
			}
			w.Run(3 * time.Minute)
		}},
		{begin: finalised, act: finaliseSecond},
		{begin: finalised, act: finaliseClub},
		{begin: moved, act: finaliseSecond},
		{begin: moved, act: finaliseAlone},
		{begin: finalised, act: cancelIt},
		{begin: moved, act: reopenIt},
		{begin: finalised, act: deleteIt},
		{begin: moved, act: restoreIt},
		{begin: moved, act: acceptIt},
		{begin: finalised, act: cancelDirectly, check: func(t *testing.T, w *worldtest.World, s fixture) {
			if got := w.View(s.poll).Poll.Status; got != rules.Cancelled {
				t.Errorf("the poll is %s", got)
			}
		}},
		{begin: finalised, act: moveIt, check: func(t *testing.T, w *worldtest.World, s fixture) {
			followed(t, w, s, rules.StateRescheduled, worldtest.Noon, 1)
		}},
		{begin: moved, act: moveBack, check: func(t *testing.T, w *worldtest.World, s fixture) {
			followed(t, w, s, rules.StateOK, worldtest.Ten, 2)
			if got := w.View(s.poll).Poll.WinningSlotID; got != s.slots[0] {
				t.Errorf("slot %s wins", got)
			}
		}},
		{begin: moved, act: deleteEvent, check: func(t *testing.T, w *worldtest.World, s fixture) {
			followed(t, w, s, rules.StateCancelled, worldtest.Noon, 2)
		}},
	} {
		for i, blow := range blows {
			t.Run(fmt.Sprintf("%s: %s", c.act.name, blow.name), func(t *testing.T) {
				t.Parallel()
				n := 1 + i%*stride
				for reached := true; reached && n <= worldtest.MostPoints; n += *stride {
					t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
						w := worldtest.New(t, worldtest.Options{})
						s := c.begin(w)
						blow.strike(w, n)
						w.Survives(func() { c.act.do(w, s); w.Run(time.Minute) })
						reached = w.Struck()
						blow.recover(w)
						w.Sweep() // heals what a direct edit or a lost push left
						w.Run(3 * time.Minute)
						if c.check != nil {
							c.check(t, w, s)
						}
						checkAgreement(t, w, s)
						atRest(t, w)
					})
				}
				points.Struck(t, n-*stride-1, 25)
			})
		}
	}
}

// The poll is cancelled before Google has made the event, and the program that
// asked for it dies right after: nobody is left who knows that it was made, but
// for the deletion that waits for that.
func TestFinalise_CancelledAndDeadDuringInsert_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.On("before events.insert", func() { cancelIt.do(w, s) })
	w.Crash("after events.insert")
	if lived, _ := w.Survives(func() { finaliseFirst.do(w, s) }); lived {
		t.Fatal("the program lived")
	}
	if len(w.Events("gm")) != 1 {
		t.Fatal("the event was not made")
	}
	w.TakeOver()
	w.Check()
	w.Run(3 * time.Minute)
	checkAgreement(t, w, s)
	atRest(t, w)
}

// The same, but the one that asked stood still for longer than anybody waits.
func TestFinalise_CancelledAndHeldUpDuringInsert_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.On("before events.insert", func() { cancelIt.do(w, s); w.Run(10 * time.Minute) })
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.Conflict)
	w.Run(3 * time.Minute)
	checkAgreement(t, w, s)
	atRest(t, w)
}

// By the clock of the instance that cancels, and by that of the one that deletes,
// nobody can be at work on the insert any more.
func TestFinalise_CancelledByAClockAheadAndDead_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	skews := []time.Duration{-5 * time.Minute, 0}
	w := worldtest.New(t, worldtest.Options{Instances: 2, Skew: func() time.Duration {
		skews = append(skews[1:], skews[0])
		return skews[1]
	}})
	s := fresh(w)
	w.On("before events.insert", func() {
		w.Use(1)
		cancelIt.do(w, s)
		w.RunDue()
		w.Use(0)
	})
	w.Crash("after events.insert")
	if lived, _ := w.Survives(func() { finaliseFirst.do(w, s) }); lived {
		t.Fatal("the program lived")
	}
	w.Check()
	w.Use(1)
	w.Run(3 * time.Minute)
	checkAgreement(t, w, s)
	atRest(t, w)
}

// A command that supersedes a finalisation relies on it: no event is made after the
// grace period.
func TestFinalise_HeldUpBeforeTheInsert_LeavesItToTheDrain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.On("after store.run", func() { w.Skip(20 * time.Second) })
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.Unavailable)
	equal(t, "calls of events.insert", w.Calls("events.insert"), 0)
	w.Run(2 * time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
	equal(t, "events", len(w.Events("gm")), 1)
	checkAgreement(t, w, s)
	atRest(t, w)
}

// The drain carries out what a dead program left, and is itself overtaken.
func TestDrainedInsert_CancelledAndDeadDuringIt_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Crash("before events.insert")
	w.Survives(func() { finaliseFirst.do(w, s) })
	w.TakeOver()
	w.On("before events.insert", func() { cancelIt.do(w, s) })
	w.Crash("after events.insert")
	if lived, _ := w.Survives(func() { w.Run(2 * time.Minute) }); lived {
		t.Fatal("the program lived")
	}
	w.TakeOver()
	w.Check()
	w.Run(3 * time.Minute)
	checkAgreement(t, w, s)
	atRest(t, w)
}

// A deletion reaches Google before the event is made; the event is made, and
// found to be unwanted, while the deletion's answer is on its way.
func TestADeletionThatCameTooEarly_IsDoneOnceMore(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	goOn, stop := iter.Pull(func(yield func(bool) bool) {
		w.On("before events.insert", func() { yield(true) })
		_, err := w.Finalise(s.poll, s.slots[0])
		kind(t, err, fault.Conflict)
	})
	defer stop()
	goOn() // up to the insert, where it stands still for minutes
	if _, err := w.Cancel(s.poll); err != nil {
		t.Fatal(err)
	}
	w.Skip(5 * time.Minute)
	w.On("after events.delete", func() { goOn() })
	w.RunDue()
	w.Run(3 * time.Minute)
	checkAgreement(t, w, s)
	atRest(t, w)
}

// What a program that was killed had begun goes on at once, and not when leases
// and graces are over.
func TestARestart_IsAtWorkAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point string
		begin func(*worldtest.World) fixture
		act   act
	}{
		{"before events.insert", fresh, finaliseFirst},
		{"after events.insert", fresh, finaliseFirst},
		{"before events.delete", finalised, cancelIt},
		{"after events.list", finalised, moveIt},
		{"before events.list", moved, deleteEvent},
	} {
		t.Run(c.act.name+", dead "+c.point, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := c.begin(w)
			w.Crash(c.point)
			if lived, _ := w.Survives(func() { c.act.do(w, s) }); lived {
				t.Fatal("the program lived")
			}
			w.Restart()
			w.Run(worldtest.MinGap)
			w.RunDue()
			checkAgreement(t, w, s)
			atRest(t, w)
		})
	}
}

// Two are at work on one insert: the second makes the event and dies, the first
// is refused. That it was refused does not say that there is none.
func TestFinalise_RefusedBesideADeadOne_KeepsTheIntent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.On("before events.insert", func() {
		w.Crash("after events.insert")
		if lived, _ := w.Survives(func() { finaliseFirst.do(w, s) }); lived {
			t.Error("the second one lived")
		}
		w.Refuse("events.insert", 429, "rateLimitExceeded", 1)
	})
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.RateLimited)
	w.Check()
	w.TakeOver()
	w.Run(3 * time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
	checkAgreement(t, w, s)
	atRest(t, w)
}
