package calendarsync_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// atEachPoint has something happen during the due syncs, at each point of
// them in a world of its own, and then checks what became of it.
func atEachPoint(
	t *testing.T, due func() *worldtest.World, happens func(w *worldtest.World),
	became func(t *testing.T, w *worldtest.World),
) {
	t.Helper()
	n := 1
	for struck := true; struck; n++ {
		w := due()
		w.At(n, func() { happens(w) })
		w.RunDue()
		struck = w.Struck()
		w.Calm()
		if !struck {
			continue
		}
		t.Run("point "+strconv.Itoa(n), func(t *testing.T) { became(t, w) })
	}
	points.Struck(t, n-2, 8)
}

// While a sync that Google refused still shows that on the polls, the account is
// linked again and synced, before the sync's lease is over or after: a slow
// program does not know.
func TestRefusedSync_DuringRelink_LeavesNoError(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{3 * time.Second, 2 * time.Minute} {
		t.Run(slow.String(), func(t *testing.T) {
			t.Parallel()
			var polls [2]string
			atEachPoint(t, func() *worldtest.World {
				w := worldtest.New(t, worldtest.Options{})
				for i := range polls {
					polls[i], _, _ = w.Finalised()
				}
				w.Run(time.Minute)
				w.Revoke("gm")
				w.Sweep()
				return w
			}, func(w *worldtest.World) {
				w.Link("gm")
				w.Skip(slow)
				w.RunDue()
			}, func(t *testing.T, w *worldtest.World) {
				w.Run(5 * time.Minute)
				for _, pollID := range polls {
					shows(t, w, pollID, "", rules.StateOK)
				}
				equal(t, "why syncs fail", w.Calendar("gm").LastError, "")
				atRest(t, w)
			})
		})
	}
}

// A sync that goes through again takes off the polls what was said of their
// calendar, and nothing that was said since.
func TestRecoveredSync_DuringUnlink_LeavesItsError(t *testing.T) {
	t.Parallel()
	var polls [2]string
	atEachPoint(t, func() *worldtest.World {
		w := worldtest.New(t, worldtest.Options{})
		for i := range polls {
			polls[i], _, _ = w.Finalised()
		}
		w.Refuse("events.list", 503, "backendError", 1)
		w.Sweep()
		w.RunDue()
		w.Skip(time.Minute)
		return w
	}, func(w *worldtest.World) { w.Unlink("gm") }, func(t *testing.T, w *worldtest.World) {
		w.Run(5 * time.Minute)
		for _, pollID := range polls {
			lost(t, w, pollID, rules.CalendarUnlinked)
			same(t, "journal", w.Decisions(pollID), []string{"finalise", "warn"})
		}
		gone(t, w, w.Account("gm"))
		atRest(t, w)
	})
}

// Who carries on that an account is lost is overtaken by the person that links it
// again, and by all that follows from that, goes on, and then dies.
func TestRelink_WhileTheLossIsCarriedOn_StaysLinked(t *testing.T) {
	t.Parallel()
	losses := map[string]func(t *testing.T, w *worldtest.World){
		"revoked": func(_ *testing.T, w *worldtest.World) {
			w.Revoke("gm")
			w.Sweep()
			w.RunDue()
		},
		"unlinked": func(t *testing.T, w *worldtest.World) {
			if _, err := w.Accounts.Unlink(t.Context(), "gm", w.Account("gm")); err != nil {
				t.Fatal(err)
			}
		},
	}
	for loss, lose := range losses {
		for _, writes := range []int{2, 3, 4} { // that are still tried before the death
			t.Run(loss+", "+strconv.Itoa(writes)+" writes", func(t *testing.T) {
				t.Parallel()
				n := 1
				for struck := true; struck; n++ {
					w := worldtest.New(t, worldtest.Options{})
					pollID, _, _ := w.Finalised()
					w.Run(time.Minute)
					lose(t, w)
					w.At(n, func() {
						w.Link("gm")
						w.Skip(3 * time.Second)
						w.RunDue()
						for range writes {
							w.On("before store.run", func() {})
						}
						w.Crash("before store.run")
					})
					lived, _ := w.Survives(func() { w.FollowDue(w.Account("gm")) })
					struck = w.Struck()
					w.Calm()
					if !lived {
						w.TakeOver()
					}
					if !struck {
						continue
					}
					w.Run(5 * time.Minute)
					at := ", linked again at point " + strconv.Itoa(n)
					equal(t, "error"+at, w.View(pollID).Poll.Sync.Error == nil, true)
					equal(t, "why syncs fail"+at, w.Calendar("gm").LastError, "")
					equal(t, "a channel lives"+at, slices.Contains(statuses(w), "active"), true)
					atRest(t, w)
				}
				points.Struck(t, n-2, 8)
			})
		}
	}
}
