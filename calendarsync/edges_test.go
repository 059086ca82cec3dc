package calendarsync

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/roundtrip"
	"questscheduler/internal/test/wakes"
)

func TestWaits_GrowWithEachFailure_UpToTheirMost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		cause error
		waits map[int64]time.Duration
	}{
		{
			&fault.Error{Kind: fault.NotFound},
			map[int64]time.Duration{1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 8: time.Hour, 99: time.Hour},
		},
		{
			&fault.Error{Kind: fault.Unavailable},
			map[int64]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 11: 10 * time.Minute, 99: 10 * time.Minute},
		},
		{&fault.Error{Kind: fault.RateLimited, RetryAfter: 40 * time.Second}, map[int64]time.Duration{1: 40 * time.Second, 7: 64 * time.Second}},
		{&fault.Error{Kind: fault.RateLimited}, map[int64]time.Duration{1: time.Minute, 2: 2 * time.Minute}},
		{&fault.Error{Kind: fault.Exhausted}, map[int64]time.Duration{1: time.Hour, 5: time.Hour}},
	} {
		for failed, want := range row.waits {
			if got := failureOf(row.cause).wait(row.cause, failed); got != want {
				t.Errorf("failed sync %d, %v, is followed by %s, want %s", failed, row.cause, got, want)
			}
		}
	}
	for failures, want := range map[int64]time.Duration{
		0: time.Minute, 1: time.Minute, 2: 2 * time.Minute, 9: 256 * time.Minute, 10: 6 * time.Hour, 99: 6 * time.Hour,
	} {
		if got := retryWait(failures); got != want {
			t.Errorf("a channel's failure %d is followed by %s, want %s", failures, got, want)
		}
	}
}

// Each row is why a sync failed, and how long every other keeps off the calendar.
func TestFailed_ByALimit_PausesTheCalendar(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := &syncRun{Syncer: &Syncer{Now: func() time.Time { return now }}}
	limited, untold := 40*time.Second, time.Minute
	for name, row := range map[string]struct {
		cause error
		leave time.Duration
	}{
		"rate":               {&fault.Error{Kind: fault.RateLimited, RetryAfter: limited}, limited + l.jitter(limited)},
		"rate, without when": {&fault.Error{Kind: fault.RateLimited}, untold + l.jitter(untold)},
		"quota":              {&fault.Error{Kind: fault.Exhausted, RetryAfter: time.Second}, time.Hour},
		"no answer":          {&fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second}, 0},
		"refused":            {&fault.Error{Kind: fault.Provider}, 0},
	} {
		updates := l.failureUpdates(calendars.Calendar{}, failureOf(row.cause), row.cause)
		want := time.Time{}
		if row.leave > 0 {
			want = now.Add(row.leave)
		}
		if got := calendars.Decode(roundtrip.Kept(t, calendars.Path("key"), updates)).PausedUntil; !got.Equal(want) {
			t.Errorf("%s: left alone until %s, want %s", name, got, want)
		}
	}
}

// The calendars of an account are refused together, and are tried again one after the other.
func TestFailed_ByALimit_SpreadsTheCalendars(t *testing.T) {
	t.Parallel()
	waits := map[time.Duration]bool{}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cause := &fault.Error{Kind: fault.RateLimited}
	for i := range int64(40) {
		l := &syncRun{Syncer: &Syncer{Now: func() time.Time { return now }}, calendar: calendars.Calendar{Key: fmt.Sprint(i / 2)}, fence: i % 2}
		l.failureUpdates(l.calendar, failureOf(cause), cause)
		wait := l.next.Sub(now)
		if wait < time.Minute || wait > 75*time.Second {
			t.Errorf("calendar %d, run %d waits %s", i/2, i%2, wait)
		}
		waits[wait] = true
	}
	if len(waits) < 30 {
		t.Errorf("40 runs have %d different waits", len(waits))
	}
}

func TestSweep_ThatFails_IsTriedThreeTimesMore(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(nil) // it answers no query
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(calendars.Path("key"), map[string]any{
			"interests": map[string]any{poll.ConsumerPoll: int64(1)}, "sweepAt": time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var log strings.Builder
	w := &Watcher{Store: documents, Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil))}
	work := &outbox.Outbox{Store: documents, Waker: wakes.New(wakes.Options{Now: w.Now}), Now: w.Now, Log: slog.New(slog.DiscardHandler)}
	work.Add(w.Sweeps())
	for attempt, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 0} {
		again, err := work.Run(t.Context(), SweepKind, "key")
		calendar, _, loadErr := calendars.LoadKey(t.Context(), documents, "key")
		if err != nil || loadErr != nil || !again.Equal(calendar.SweepAt) || want > 0 && calendar.SweepAt.Sub(now) != want ||
			again.IsZero() != (want == 0) {
			t.Errorf("attempt %d: again at %v, due %v, %v, %v", attempt+1, again, calendar.SweepAt, err, loadErr)
		}
		if left := strings.Contains(log.String(), "left to the next"); left != (want == 0) {
			t.Errorf("attempt %d: left to the next sweep: %t", attempt+1, left)
		}
		now = calendar.SweepAt
	}
}

// Where channels are granted for minutes, those that ended long ago are removed
// when another is opened.
func TestWrite_AmongManyEndedChannels_KeepsTheLast(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	documents, err := memorystore.Open(Queries)
	if err != nil {
		t.Fatal(err)
	}
	key := poll.CalendarKey("acc", "cal")
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range maxEnded + 2 {
			watch := Watch{
				ChannelID: fmt.Sprintf("ended-%02d", i), CalendarKey: key, Status: Expired,
				Expiration: now.Add(-time.Duration(i+1) * time.Hour),
			}
			if err := tx.Create(watchPath(watch.ChannelID), encodeWatch(watch)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &Watcher{
		Store: documents, Now: func() time.Time { return now }, NewUUID: func() string { return "new" }, TTL: time.Hour,
		RenewBefore: time.Minute,
	}
	asked := gcal.WatchRequest{ID: "new", Token: "token", TTL: w.TTL}
	if _, _, err := w.create(t.Context(), gcal.Ref{Account: "acc", Calendar: "cal"}, asked, true); err != nil {
		t.Fatal(err)
	}
	left, err := Watches(t.Context(), documents, "acc", "cal")
	if err != nil {
		t.Fatal(err)
	}
	gone := slices.ContainsFunc(left, func(watch Watch) bool { return watch.ChannelID == "ended-10" || watch.ChannelID == "ended-11" })
	if len(left) != maxEnded+1 || gone {
		t.Errorf("%d are left, those that ended long ago among them: %t", len(left), gone)
	}
}
