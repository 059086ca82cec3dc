package calendarsync_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/health"
	"questscheduler/rules"
)

// granted is a world in which Google grants channels for that long at most.
func granted(t *testing.T, longest time.Duration) *worldtest.World {
	t.Helper()
	return worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{LongestGrant: longest}})
}

// minutes lets that many minutes go by with the drain of each, and calls each
// after every one.
func minutes(t *testing.T, w *worldtest.World, n int, each func()) {
	t.Helper()
	for range n {
		w.Run(time.Minute)
		if err := w.TryChannels(); err != nil {
			t.Fatal(err)
		}
		w.RunDue()
		each()
	}
}

// live counts the channels that Google pushes by and whose document says so.
func live(w *worldtest.World) (n int) {
	open := w.Google.OpenChannels()
	for _, doc := range w.Watches() {
		if store.Fields(doc.Data).String("status") == "active" && slices.Contains(open, doc.Path.ID()) {
			n++
		}
	}
	return n
}

// However short a grant is, down to a quarter of an hour, its channel is kept and
// renewed in time by the drain alone.
func TestShortGrant_IsKept_AndRenewedByTheDrain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ grant, renewed, step time.Duration }{
		{20 * time.Minute, 15 * time.Minute, time.Minute}, // not sooner
		{time.Hour, 40 * time.Minute, time.Minute},
		{24 * time.Hour, 16 * time.Hour, 10 * time.Minute},
		{47 * time.Hour, 31*time.Hour + 20*time.Minute, 10 * time.Minute},
		{0, 5 * 24 * time.Hour, time.Hour}, // as asked: QS_RENEW_BEFORE before its end
	} {
		t.Run(row.grant.String(), func(t *testing.T) {
			t.Parallel()
			w := granted(t, row.grant)
			pollID, _, eventID := w.Finalised()
			sweep(t, w)
			equal(t, "channels after a sweep", live(w), 1)
			equal(t, "events.watch calls at first", w.Calls("events.watch"), 1)
			if t.Failed() {
				return
			}
			first := w.Watches()[0].Path
			began := worldtest.Start
			for w.Clock.Now().Before(began.Add(3*row.renewed - row.step)) {
				w.Skip(row.step - w.Clock.Now().Sub(began)%row.step)
				elapsed := w.Clock.Now().Sub(began)
				if err := w.TryChannels(); err != nil {
					t.Fatal(err)
				}
				equal(t, fmt.Sprint("channels after ", elapsed), live(w), 1)
				equal(t, fmt.Sprint("it is the first one after ", elapsed), w.Watches()[0].Path == first, elapsed < row.renewed)
				if t.Failed() {
					return
				}
			}
			equal(t, "events.watch calls", w.Calls("events.watch"), 3)
			if w.Clock.Now().Before(ten.Start) { // its session is ahead
				w.MoveEvent("gm", eventID, noon)
				w.Run(time.Minute)
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			}
			atRest(t, w)
		})
	}
}

// An old channel with most of two days left is stopped once the new one lives,
// and not before.
func TestRenewal_OldChannelWith43Hours_StopsAfterTheNewLives(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	old := w.Watches()[0].Path.ID()
	w.Skip(7*24*time.Hour - 43*time.Hour)
	w.LimitGrants(24 * time.Hour)

	w.Refuse("events.watch", 503, "backendError", 1)
	if _, _, err := w.Watcher.RenewPage(t.Context(), renewal, ""); err != nil {
		t.Fatal(err)
	}
	sweep(t, w) // its renewal is granted
	equal(t, "channels.stop calls", w.Calls("channels.stop"), 1)
	equal(t, "channels open at Google", len(w.Google.OpenChannels()), 1)
	equal(t, "it is another one", slices.Contains(w.Google.OpenChannels(), old), false)
	equal(t, "channels", live(w), 1)
	sweep(t, w)
	equal(t, "channels after another sweep", live(w), 1)
	equal(t, "channels.stop calls after it", w.Calls("channels.stop"), 1)
	atRest(t, w)
}

// A successor that ends before it could be renewed takes the place of nothing:
// the old channel lasts longer.
func TestRenewal_GrantedForMinutes_LeavesTheOldOne(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	old := w.Watches()[0].Path.ID()
	w.Skip(5*24*time.Hour + time.Minute)
	w.LimitGrants(5 * time.Minute)
	w.On("before channels.stop", func() { t.Error("a channel is stopped") })
	minutes(t, w, 45, func() {
		equal(t, "the old one lives", slices.Contains(w.Google.OpenChannels(), old), true)
	})
	if got := w.Calls("events.watch") - 1; got != 3 {
		t.Errorf("%d channels were asked for in 45 minutes, want one every 15", got)
	}
	w.Calm()
	w.LimitGrants(0)
	minutes(t, w, 20, func() {})
	equal(t, "the old one lives when Google grants days again", slices.Contains(w.Google.OpenChannels(), old), false)
	equal(t, "channels", live(w), 1)
	atRest(t, w)
}

// opened are when channels were asked for, by calendar.
type opened map[string][]time.Time

// atMostOne fails where a calendar had two within a quarter of an hour.
func (o opened) atMostOne(t *testing.T) {
	t.Helper()
	for calendar, times := range o {
		for i := 1; i < len(times); i++ {
			if apart := times[i].Sub(times[i-1]); apart < 15*time.Minute {
				t.Errorf("calendar %s: two channels within %v", calendar, apart)
			}
		}
	}
}

// However often a channel is asked for: those that Google grants for minutes run out,
// and another is opened every quarter of an hour at most. In the meantime poll and
// health say that the calendar is not watched, and the sweep finds what changed.
func TestGrantOfMinutes_OneChannelInAQuarterHour(t *testing.T) {
	t.Parallel()
	w := granted(t, 5*time.Minute)
	asked := opened{}
	var note func()
	note = func() {
		asked["gm"] = append(asked["gm"], w.Clock.Now())
		w.On("before events.watch", note)
	}
	w.On("before events.watch", note)
	pollID, _, eventID := w.Finalised()
	equal(t, "what the poll says", w.View(pollID).Poll.Sync.Error != nil && w.View(pollID).Poll.Sync.Error.Code == rules.WatchFailed, true)
	unwatched := 0
	minutes(t, w, 90, func() {
		another, slots := w.Poll()
		if _, err := w.Finalise(another, slots[0]); err != nil {
			t.Fatal(err)
		}
		if said := w.View(another).Poll.Sync.Error; said == nil || said.Code != rules.WatchFailed {
			t.Errorf("after %v a poll that is finalised says %+v", w.Clock.Now().Sub(worldtest.Start), said)
		}
		if err := w.RenewAll("t"); err == nil && live(w) == 0 {
			t.Error("no error for channels granted for minutes")
		}
		if err := w.SweepPages(worldtest.Cause); err != nil {
			t.Fatal(err)
		}
		report, err := w.Health.OfPerson(t.Context(), "gm")
		if err != nil {
			t.Fatal(err)
		}
		if watched := live(w) > 0; watched != (report.Overall == health.Healthy) {
			t.Errorf("watched %t, and the health is %v", watched, report.Overall)
		} else if !watched {
			unwatched++
		}
	})
	asked.atMostOne(t)
	if n := len(asked["gm"]); n < 5 || n > 7 {
		t.Errorf("%d channels in 90 minutes, want one every 15", n)
	}
	equal(t, "there were minutes without one", unwatched > 0, true)
	if n := len(w.Watches()); n > 12 {
		t.Errorf("%d documents of channels are kept", n)
	}
	w.MoveEvent("gm", eventID, noon)
	w.LosePushes()
	w.Sweep()
	w.Run(time.Minute)
	if at := w.View(pollID).Winning.Start; !at.Equal(noon.Start) {
		t.Errorf("after a sweep the poll is at %v", at)
	}
	w.LimitGrants(0)
	minutes(t, w, 16, func() {})
	equal(t, "channels when Google grants days again", live(w), 1)
	equal(t, "what the poll says then", w.View(pollID).Poll.Sync.Error == nil, true)
	atRest(t, w)
}

// A change whose push comes after its channel was stopped is found all the same,
// and the push does nothing.
func TestLatePush_OfAStoppedChannel_IsHarmless(t *testing.T) {
	t.Parallel()
	w := granted(t, 24*time.Hour)
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	old := w.Watches()[0].Path.ID()
	w.HoldPushes()
	w.Skip(16 * time.Hour)
	w.MoveEvent("gm", eventID, noon)
	if err := w.TryChannels(); err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, push := range w.Google.PendingPushes() {
		if push.ChannelID == old && !push.Held {
			late++
		}
	}
	equal(t, "pushes of the stopped channel on their way", late, 1)
	documents := len(w.Watches())
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule"})
	equal(t, "documents of channels", len(w.Watches()), documents)
	equal(t, "channels", live(w), 1)
	atRest(t, w)
}

// Two instances that renew at once open one channel.
func TestTwoRenewalsAtOnce_OpenOneChannel(t *testing.T) {
	t.Parallel()
	n := 1
	for reached := true; reached && n <= worldtest.MostPoints; n++ {
		t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
			w := granted(t, 24*time.Hour)
			w.Finalised()
			w.Skip(16 * time.Hour)
			again := func() {
				if err := w.TryChannels(); err != nil {
					t.Error(err)
				}
			}
			w.At(n, again)
			again()
			reached = w.Struck()
			w.Calm()
			known(t, w)
			minutes(t, w, 2, func() {})
			same(t, "channels", statuses(w), []string{"active"})
			equal(t, "channels open at Google", len(w.Google.OpenChannels()), 1)
			equal(t, "events.watch calls", w.Calls("events.watch"), 2)
			atRest(t, w)
		})
	}
	points.Struck(t, n-2, 20)
}

// The answer was lost, and the push says until when the channel is open.
func TestLostAnswer_OfAShortGrant_EndsAsThePushSays(t *testing.T) {
	t.Parallel()
	w := granted(t, time.Hour)
	w.Fail("after events.watch", fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
	w.Finalised()
	w.RunDue()
	same(t, "channels", statuses(w), []string{"active"})
	equal(t, "its end", store.Fields(w.Watches()[0].Data).Time("expiration"), worldtest.Start.Add(time.Hour))
	minutes(t, w, 120, func() { equal(t, "channels", live(w), 1) })
}

// A channel from before knows when it was made, and that has to do.
func TestChannelFromBefore_CountsFromItsMaking(t *testing.T) {
	t.Parallel()
	w := granted(t, 24*time.Hour)
	w.Finalised()
	path := w.Watches()[0].Path
	w.Write(path, store.Update{Path: store.Field("grantedAt"), Value: store.Delete}, store.Update{Path: store.Field("nextTry"), Value: nil})
	w.Skip(worldtest.Start.Add(16*time.Hour - time.Minute).Sub(w.Clock.Now()))
	equal(t, "did before its time", renew(t, w), calendarsync.Renewed{Calendars: 1})
	w.Skip(time.Minute)
	equal(t, "did in its time", renew(t, w), calendarsync.Renewed{Calendars: 1, Opened: 1})
	equal(t, "channels", live(w), 1)
	atRest(t, w)
}

// What is due to be renewed and that nothing follows any more is let go by the
// drain, and not asked about again.
func TestRetry_NobodyFollows_LetsTheChannelGo(t *testing.T) {
	t.Parallel()
	w := granted(t, time.Hour)
	pollID, _, _ := w.Finalised()
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	minutes(t, w, 41, func() {})
	equal(t, "channels open at Google", len(w.Google.OpenChannels()), 0)
	equal(t, "documents of channels", len(w.Watches()), 0)
	equal(t, "events.watch calls", w.Calls("events.watch"), 1)
	atRest(t, w)
}

// An operator may have a channel opened again, however soon after another; but
// where Google grants it for minutes only, those of before stay.
func TestRegister_GrantedForMinutes_LeavesTheOldOnes(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	old := w.Watches()[0].Path.ID()
	equal(t, "did", register(t, w), calendarsync.Renewed{Calendars: 1, Opened: 1, Stopped: 1})
	newer := w.Google.OpenChannels()
	equal(t, "the old one is open", slices.Contains(newer, old), false)
	w.LimitGrants(5 * time.Minute)
	equal(t, "did with grants of minutes", register(t, w), calendarsync.Renewed{Calendars: 1, Failed: 1})
	equal(t, "the one of before is open", slices.Contains(w.Google.OpenChannels(), newer[0]), true)
	atRest(t, w)
}

// A channel that is due to be renewed watches its calendar until it ends: a poll
// that is finalised while Google refuses the next one is as well off as the others.
func TestFinalise_RenewalRefused_IsStillWatched(t *testing.T) {
	t.Parallel()
	w := granted(t, 24*time.Hour)
	w.Finalised()
	w.Skip(17 * time.Hour)
	w.Refuse("events.watch", 503, "backendError", 0)
	another, slots := w.Poll()
	if _, err := w.Finalise(another, slots[0]); err != nil {
		t.Fatal(err)
	}
	equal(t, "channels", live(w), 1)
	equal(t, "what the poll says", w.View(another).Poll.Sync.Error == nil, true)
	sweep(t, w)
	equal(t, "sweeps without a channel", w.Calendar("gm").SweptAt.IsZero(), true)
	w.Skip(8 * time.Hour) // it ended
	third, slots := w.Poll()
	if _, err := w.Finalise(third, slots[0]); err != nil {
		t.Fatal(err)
	}
	said := w.View(third).Poll.Sync.Error
	equal(t, "what a poll says without one", said != nil && said.Code == rules.WatchFailed, true)
	atRest(t, w)
}
