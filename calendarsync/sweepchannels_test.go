package calendarsync_test

import (
	"strconv"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func sweep(t *testing.T, w *worldtest.World) {
	t.Helper()
	if err := w.SweepPages(scheduler.Cause{Trigger: "sweep"}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
}

func TestSweep_StopsChannelsThatNothingNeeds(t *testing.T) {
	t.Parallel()
	newChannel := func(w *worldtest.World, status string, expires time.Time) {
		w.Write(store.Doc("calendarWatches", "00000000-0000-4000-8000-00000000beef"),
			poll.Set("calendarId", "gm@example.com"), poll.Set("accountId", w.Account("gm")), poll.Set("calendarKey", w.CalendarKey("gm")),
			poll.Set("address", "https://quests.example/webhooks/google/calendar"), poll.Set("status", status),
			poll.Set("expiration", expires), poll.Set("createdAt", w.Clock.Now()))
		if status != "pending" { // Google answered, and said what it is stopped by
			w.Write(store.Doc("calendarWatches", "00000000-0000-4000-8000-00000000beef"), poll.Set("resourceId", "resource"))
		}
	}
	week := worldtest.Start.Add(7 * 24 * time.Hour)
	for _, row := range []struct {
		name string
		set  func(t *testing.T, w *worldtest.World, pollID string)
		want []string
	}{
		{"of a calendar that no poll follows any more", func(t *testing.T, w *worldtest.World, pollID string) {
			if _, err := w.Cancel(pollID); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{
			"that could not be stopped before",
			func(_ *testing.T, w *worldtest.World, _ string) { newChannel(w, "retiring", week) }, []string{"active"},
		},
		{
			"beside a later one",
			func(_ *testing.T, w *worldtest.World, _ string) { newChannel(w, "active", week.Add(-time.Hour)) }, []string{"active"},
		},
		{
			"that lasts longer: the other goes",
			func(_ *testing.T, w *worldtest.World, _ string) { newChannel(w, "active", week.Add(time.Hour)) }, []string{"active"},
		},
		{"but none that nobody finished making, and that may be open", func(_ *testing.T, w *worldtest.World, _ string) {
			newChannel(w, "pending", week)
			w.Skip(61 * time.Minute)
		}, []string{"active", "pending"}},
		{"that nobody finished making, when its time is over", func(_ *testing.T, w *worldtest.World, _ string) {
			newChannel(w, "pending", worldtest.Start.Add(time.Hour))
			w.Skip(61 * time.Minute)
		}, []string{"active", "expired"}},
		{
			"but none that may be on its way", func(_ *testing.T, w *worldtest.World, _ string) { newChannel(w, "pending", week) },
			[]string{"active", "pending"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			row.set(t, w, pollID)
			sweep(t, w)
			same(t, "channels", statuses(w), row.want)
			atRest(t, w)
		})
	}
}

func TestSweep_TriesAgainToStopAChannelThatNothingNeeds(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Refuse("channels.stop", 503, "backendError", 1)
	sweep(t, w)
	same(t, "channels", statuses(w), []string{"retiring"})
	sweep(t, w)
	equal(t, "channels", len(w.Watches()), 0)
	equal(t, "channels.stop calls", w.Calls("channels.stop"), 2)
	atRest(t, w)
}

// Stopping the channel of a calendar that nothing follows may come too late: a poll
// that is finalised into it in the meantime needs a channel.
func TestFollowingAgain_WhileChannelsAreStopped_IsWatched(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(t *testing.T, w *worldtest.World){
		"by the sweep": func(t *testing.T, w *worldtest.World) {
			if err := w.SweepPages(scheduler.Cause{Trigger: "sweep"}); err != nil {
				t.Fatal(err)
			}
		},
		"by a renewal": func(t *testing.T, w *worldtest.World) {
			if err := w.RenewAll("t"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 1
			for struck := true; struck; n++ {
				w := worldtest.New(t, worldtest.Options{})
				cancelled, _, _ := w.Finalised()
				w.Run(time.Minute)
				if _, err := w.Cancel(cancelled); err != nil {
					t.Fatal(err)
				}
				w.RunDue()
				followed, slots := w.Poll()
				w.At(n, func() {
					if _, err := w.Finalise(followed, slots[0]); err != nil {
						t.Error(err)
					}
				})
				stop(t, w)
				struck = w.Struck()
				w.Calm()
				if !struck {
					same(t, "channels where nothing follows", statuses(w), nil)
					continue
				}
				w.Run(2 * time.Minute)
				stands(t, w, followed, rules.StateOK, ten.Start)
				same(t, "channels, followed again at point "+strconv.Itoa(n), statuses(w), []string{"active"})
				atRest(t, w)
			}
			points.Struck(t, n-2, 8)
		})
	}
}

// A renewal lets go what nothing follows, and counts it.
func TestRenewal_OfWhatNothingFollows_CountsWhatItStops(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.RunDue()
	equal(t, "did", renew(t, w), calendarsync.Renewed{Calendars: 1, Stopped: 1})
	equal(t, "channels left", len(w.Watches()), 0)
	equal(t, "did once more", renew(t, w), calendarsync.Renewed{Calendars: 1})
}
