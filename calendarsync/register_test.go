package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// register goes through all pages of a registration.
func register(t *testing.T, w *worldtest.World) (all calendarsync.Renewed) {
	t.Helper()
	for at := ""; ; {
		did, next, err := w.Watcher.Register(t.Context(), worldtest.Cause, at, w.Clock.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		all.Calendars, all.Opened, all.Stopped, all.Failed = all.Calendars+did.Calendars, all.Opened+did.Opened,
			all.Stopped+did.Stopped, all.Failed+did.Failed
		at = next
		if at == "" {
			return all
		}
	}
}

func TestRegister_ReplacesLiveChannels(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	ensure(t, w)
	old := w.Watches()[0].Path
	w.On("before channels.stop", func() { equal(t, "channels while the old one is stopped", len(w.Watches()), 2) })
	equal(t, "did", register(t, w), calendarsync.Renewed{Calendars: 1, Opened: 1, Stopped: 1})
	same(t, "channels", statuses(w), []string{"active"})
	equal(t, "it is another one", w.Watches()[0].Path != old, true)
	w.Run(time.Minute)
	atRest(t, w)
}

func TestRegister_ThatIsRefused_LeavesWhatLives(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	ensure(t, w)
	old := w.Watches()[0].Path
	w.Refuse("events.watch", 503, "backendError", 10)
	equal(t, "did", register(t, w), calendarsync.Renewed{Calendars: 1, Failed: 1})
	live := 0
	for _, watch := range w.Watches() {
		if watch.Path == old && store.Fields(watch.Data).String("status") == "active" {
			live++
		}
	}
	equal(t, "the old one lives", live, 1)
	w.Heal()
	w.Run(10 * time.Minute)
	atRest(t, w)
}

// Another process may still get its answer.
func TestRegister_RefusedBesideOneUnderWay_LeavesThatItsTime(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Crash("before events.watch")
	w.Survives(func() { w.Finalised() })
	w.TakeOver()
	next := store.Fields(w.Watches()[0].Data).Time("nextTry")
	w.Refuse("events.watch", 503, "backendError", 1)
	equal(t, "did", register(t, w), calendarsync.Renewed{Calendars: 1, Failed: 1})
	same(t, "channels", statuses(w), []string{"pending", "error"})
	equal(t, "when the first is replaced", store.Fields(w.Watches()[0].Data).Time("nextTry"), next)
	equal(t, "that is later", next.After(w.Clock.Now()), true)
}

func TestRegister_UnfollowedOrRevokedCalendars_AreSkipped(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	calls := w.Calls("events.watch")
	equal(t, "did", register(t, w), calendarsync.Renewed{})
	equal(t, "calls", w.Calls("events.watch"), calls)
	atRest(t, w)
}

func TestRegister_WithoutTimeLeft_ReturnsItsPosition(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	until := w.Clock.Now().Add(20 * time.Second)
	w.On("before events.watch", func() { // Google is slow
		if err := w.Clock.Advance(30 * time.Second); err != nil {
			t.Error(err)
		}
	})
	first, next, err := w.Watcher.Register(t.Context(), worldtest.Cause, "", until)
	equal(t, "error", err, nil)
	equal(t, "did before the time was over", first.Opened, 1)
	equal(t, "there is more", next != "", true)
	second, next, err := w.Watcher.Register(t.Context(), worldtest.Cause, next, until)
	equal(t, "error", err, nil)
	equal(t, "did where it went on", second.Opened, 1)
	equal(t, "where to go on", next, "")
	atRest(t, w)
}

func TestRegister_WithoutAnAddress_SaysWhatToSet(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{NoPushes: true})
	w.Finalised()
	if _, _, err := w.Watcher.Register(t.Context(), worldtest.Cause, "", time.Time{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
}

func TestWalkByExpiration_GivesEveryChannelOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Run(time.Hour)
	w.FinalisedBy("ana")
	var ends []time.Time
	var after *store.Cursor
	for {
		next, err := calendarsync.WalkByExpiration(t.Context(), w.Documents, store.Paging{Limit: 1, After: after},
			func(watch calendarsync.Watch) (bool, error) {
				ends = append(ends, watch.Expiration)
				return true, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		after = next
		if next == nil {
			break
		}
	}
	equal(t, "channels", len(ends), 2)
	equal(t, "in order", len(ends) == 2 && ends[0].Before(ends[1]), true)
}
