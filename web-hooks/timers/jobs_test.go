package timers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
	"questscheduler/rules"
	"questscheduler/web-hooks/timers"
)

var noon = worldtest.Times("2026-03-10T12:00:00Z", time.Hour)

func names(jobs []timers.Job) (all []string) {
	for _, job := range jobs {
		all = append(all, job.Name)
	}
	return all
}

func TestTheTable_HasEveryJob(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	same(t, "jobs", names(w.Timers.Jobs), []string{timers.RenewWatches, timers.PollFallback, timers.PlanUpcoming, timers.Cleanup})
	for _, job := range w.Timers.Jobs {
		did, err := w.Timers.RunNow(t.Context(), job.Name, nil)
		if err != nil || len(did) == 0 || job.Does == "" {
			t.Errorf("%s: %v, %v", job.Name, did, err)
		}
	}
}

func TestPollFallback_FindsWhatPushesMissed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(2 * time.Hour)
	w.MoveEvent("gm", eventID, noon)
	w.LosePushes()
	w.RunTimers(worldtest.FallbackEvery, 10*time.Minute)
	same(t, "state", w.View(pollID).Poll.Sync.State, rules.StateRescheduled)
	w.Check()
}

// A push that comes while the sweep of its calendar waits is handled at once: only the
// sweep waits.
func TestPollFallback_KeepsNoPushWaiting(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.FinalisedBy("ana")
	w.Run(2 * time.Hour)
	must(t, w.Timers.HandOver(t.Context(), timers.PollFallback))
	for range 5 { // the job is done, the second calendar's sweep waits
		w.RunDue()
	}
	w.MoveEvent("gm", eventID, noon)
	w.RunDue()
	w.Run(worldtest.MinGap)
	same(t, "state", w.View(pollID).Poll.Sync.State, rules.StateRescheduled)
}

func TestPollFallback_LeavesOutFreshCalendars(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.FinalisedBy("ana")
	w.Run(30 * time.Minute)
	did, err := w.Timers.RunNow(t.Context(), timers.PollFallback, nil)
	must(t, err)
	same(t, "within the hour", did, timers.Counts{
		{What: "calendars", N: 2}, {What: "looks"}, {What: "fresh calendars left out", N: 2}, {What: "polls set right"}, {What: "failed"},
	})
	w.Run(time.Hour)
	did, err = w.Timers.RunNow(t.Context(), timers.PollFallback, nil)
	must(t, err)
	same(t, "later", did[1], timers.Count{What: "looks", N: 2})
}

func TestRenewal_LeavesOneChannel_AndNoGap(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.RunTimers(4*24*time.Hour, time.Hour)
	same(t, "channels opened before it is time", w.Calls("events.watch"), 1)
	w.RunTimers(2*24*time.Hour, time.Hour)
	same(t, "channels opened", w.Calls("events.watch"), 2)
	same(t, "channels", len(w.Watches()), 1)
	same(t, "stopped", w.Calls("channels.stop"), 1)
}

func TestRenewal_StopsWhatNothingNeeds(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Run(time.Minute)
	_, err := w.Cancel(pollID)
	must(t, err)
	w.Run(time.Minute)
	did, err := w.Timers.RunNow(t.Context(), timers.RenewWatches, nil)
	must(t, err)
	same(t, "stopped", did[2], timers.Count{What: "watch channels stopped", N: 1})
	same(t, "channels", len(w.Watches()), 0)
	same(t, "channels.stop calls", w.Calls("channels.stop"), 1)
}

func TestCleanup_RemovesExpired_AndKeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	moved, _, eventID := w.Finalised()
	back, slots, backEvent := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.MoveEvent("gm", backEvent, noon)
	w.Run(time.Minute)
	w.MoveEvent("gm", backEvent, worldtest.Times("2026-03-10T10:00:00Z", time.Hour))
	w.Run(time.Minute)
	same(t, "restored", w.View(back).Poll.WinningSlotID, slots[0])
	same(t, "snapshots", len(w.Snapshots()), 2)
	same(t, "announced", len(w.Notices("ana")) > 0, true)

	w.RunTimers(91*24*time.Hour, 12*time.Hour)
	kept := w.Snapshots()
	if len(kept) != 1 || kept[0].Path.Parent() != poll.Path(moved) {
		t.Errorf("snapshots that are left: %v", kept)
	}
	same(t, "the poll is still rescheduled", w.View(moved).Poll.Sync.State, rules.StateRescheduled)
	same(t, "notices that are left", len(w.Notices("ana")), 0)
	same(t, "the cleanup ended", record(t, w, timers.Cleanup).EndedAt.IsZero(), false)
}

func TestCleanup_GoesPageByPage(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	const many = 250
	for page := range many / 50 {
		write(t, w, func(tx store.Tx) error {
			for i := range 50 {
				id := fmt.Sprintf("%d-%d", page, i)
				snapshot := poll.Snapshot{ID: id, CreatedAt: worldtest.Start, ExpiresAt: worldtest.Start.Add(-time.Hour)}
				if err := tx.Create(poll.SnapshotPath("gone", id), poll.EncodeSnapshot("gone", snapshot)); err != nil {
					return err
				}
				if err := tx.Create(store.Doc("calendarWatches", id), map[string]any{
					"status": "expired", "expiration": worldtest.Start.AddDate(0, 0, -31),
				}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	write(t, w, func(tx store.Tx) error {
		young := map[string]any{"status": "expired", "expiration": worldtest.Start.AddDate(0, 0, -29)}
		others := map[string]any{"type": "POLL_INVITE", "createdAt": worldtest.Start.AddDate(-1, 0, 0)}
		announced := map[string]any{"type": notify.NoticeSyncError, "createdAt": worldtest.Start.AddDate(-1, 0, 0)}
		if err := tx.Create(store.Doc("calendarWatches", "young"), young); err != nil {
			return err
		}
		if err := tx.Create(notify.NotificationPath("ana", "invite"), others); err != nil {
			return err
		}
		return tx.Create(notify.NotificationPath("ana", "announced"), announced)
	})
	steps := 0
	did, err := w.Timers.RunNow(t.Context(), timers.Cleanup, func(timers.Counts) { steps++ })
	must(t, err)
	same(t, "removed", did, timers.Counts{
		{What: "expired snapshots", N: many}, {What: "watch channels long ended", N: many}, {What: "old notifications"},
	})
	same(t, "pages", steps, 3+3+1)
	same(t, "channels that are left", len(w.Watches()), 1)
	for _, id := range []string{"invite", "announced"} {
		if !w.Document(notify.NotificationPath("ana", id)).Exists() {
			t.Errorf("the notification %s is gone", id)
		}
	}
}

// A row among whose documents many stay goes on from its own place, whatever came
// between its pages, and the rows behind it come after it.
func TestCleanup_GoesOnWhereARowIs(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	var places []string
	w.Timers.Jobs = timers.Jobs(timers.Parts{
		Watcher: w.Watcher, FallbackEvery: worldtest.FallbackEvery, Documents: w.Documents, Now: w.Clock.Now,
		Cleaning: []timers.Cleaning{
			{What: "old entries", RemoveFrom: func(_ context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				places = append(places, at)
				return 1, map[string]string{"": `{"behind": 1}`, `{"behind": 1}`: "2\n3"}[at], nil
			}},
			{What: "the rest", RemoveFrom: func(_ context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				places = append(places, "the rest"+at)
				return 0, "", nil
			}},
		},
	})
	did, err := w.Timers.RunNow(t.Context(), timers.Cleanup, nil)
	must(t, err)
	same(t, "places", places, []string{"", `{"behind": 1}`, "2\n3", "the rest"})
	same(t, "removed", did[3:], timers.Counts{{What: "old entries", N: 3}, {What: "the rest"}})
}

func TestCleanup_WhileItObserves_LeavesWhatIsShared(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	write(t, w, func(tx store.Tx) error {
		snapshot := poll.Snapshot{ID: "old", ExpiresAt: worldtest.Start.Add(-time.Hour)}
		return tx.Create(poll.SnapshotPath("gone", "old"), poll.EncodeSnapshot("gone", snapshot))
	})
	w.Timers.Jobs = timers.Jobs(timers.Parts{
		Watcher: w.Watcher, FallbackEvery: worldtest.FallbackEvery, Observing: true,
		Documents: w.Documents, Now: w.Clock.Now,
	})
	did, err := w.Timers.RunNow(t.Context(), timers.Cleanup, nil)
	must(t, err)
	same(t, "removed", did, timers.Counts{{What: "watch channels long ended"}})
	same(t, "snapshots", len(w.Snapshots()), 1)
}

func TestPollFallback_ChecksTheAccountsLast(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	asked := 0
	w.Timers.Jobs = timers.Jobs(timers.Parts{
		Watcher: w.Watcher, FallbackEvery: worldtest.FallbackEvery, Documents: w.Documents, Now: w.Clock.Now,
		CheckAccounts: func(context.Context) (timers.Counts, bool, error) {
			asked++
			return timers.Counts{{What: "accounts", N: 2}}, asked < 3, nil
		},
	})
	did, err := w.Timers.RunNow(t.Context(), timers.PollFallback, nil)
	must(t, err)
	same(t, "asked until there are no more", asked, 3)
	same(t, "reported last", did[len(did)-1], timers.Count{What: "accounts", N: 6})
}

// Here only the sweep finds what others wrote.
func TestPollFallback_WhereCardsAreOurs_ChecksThem(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	group := w.Party()
	w.Write(poll.Path("written"), poll.Set("title", "Written by the app"), poll.Set("status", string(rules.Open)),
		poll.Set("questingGroupId", group), poll.Set("createdAt", w.Clock.Now()))
	did, err := w.Timers.RunNow(t.Context(), timers.PollFallback, nil)
	must(t, err)
	same(t, "what it did last", did[len(did)-1], timers.Count{What: "cards checked", N: 1})
	w.RunDue()
	same(t, "cards", len(w.Discord.Messages(worldtest.Channel)), 1)
}
