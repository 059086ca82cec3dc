package health_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/health"
	"questscheduler/rules"
)

// figures are those of a world now.
func figures(t *testing.T, w *worldtest.World) health.Figures {
	t.Helper()
	got, err := w.Health.Figures(w.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// empty are the figures of a server that is well.
var empty = health.Figures{Failing: map[fault.Kind]int{}, Errors: map[rules.ErrorCode]int{}, Mirrors: map[mirror.State]int{}}

func wantFigures(t *testing.T, w *worldtest.World, when string, want health.Figures) {
	t.Helper()
	got := figures(t, w)
	if got.FailingSince.IsZero() == (len(want.Failing) > want.Failing[fault.Revoked]) {
		t.Errorf("%s syncs fail since %v", when, got.FailingSince)
	}
	got.FailingSince = time.Time{}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s the figures are %+v, want %+v", when, got, want)
	}
}

func TestFigures_OfAServerThatIsWell_AreNone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	wantFigures(t, w, "without a poll", empty)
	w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	wantFigures(t, w, "with two followed calendars", empty)
	w.RunTimers(20*24*time.Hour, time.Hour)
	wantFigures(t, w, "after twenty days", empty)
}

func TestFigures_CountChannelsThatAreNotRenewed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Finalised() // in the same calendar
	w.Refuse("events.watch", http.StatusServiceUnavailable, "backendError", 0)
	w.RunTimers(6*24*time.Hour-time.Hour, time.Hour)
	failed := empty
	wantFigures(t, w, "a day before the end, while the channel still lives", failed)
	w.RunTimers(2*time.Hour, time.Hour)
	failed.WatchesEnding, failed.WatchesFailed = 1, 1
	wantFigures(t, w, "on the last day", failed)
	w.RunTimers(2*24*time.Hour, time.Hour)
	failed.WatchesEnding = 0
	wantFigures(t, w, "after its end", failed)
	w.Heal()
	w.RunTimers(12*time.Hour, time.Hour)
	wantFigures(t, w, "when Google grants one again", empty)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
}

func TestFigures_CountCalendarsWhoseSyncFails(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	w.Run(time.Minute)
	w.Refuse("events.list", http.StatusForbidden, "quotaExceeded", 0)
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	want := empty
	want.Failing, want.Paused = map[fault.Kind]int{fault.Exhausted: 1}, 1
	wantFigures(t, w, "while the quota is used up", want)
	w.Heal()
	w.Run(2 * time.Hour)
	wantFigures(t, w, "when it is not any more", empty)
}

func TestFigures_CountWhatOnlyPeopleCanRepair(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	w.Run(time.Minute)
	w.Revoke("gm")
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Hour)
	want := empty
	want.Failing = map[fault.Kind]int{fault.Revoked: 1}
	want.Revoked, want.Errors = 1, map[rules.ErrorCode]int{rules.TokenExpired: 1}
	wantFigures(t, w, "while a grant is refused", want)
}

// calling counts the calls of a store, however many documents each gives.
type calling struct {
	store.Reader
	calls int
}

func (c *calling) Get(ctx context.Context, path store.Path) (store.Document, error) {
	c.calls++
	return c.Reader.Get(ctx, path)
}

func (c *calling) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	c.calls++
	return c.Reader.GetAll(ctx, paths)
}

func (c *calling) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	c.calls++
	return c.Reader.Query(ctx, query)
}

// calendarOf writes a calendar with its fields beside what makes it followed (n
// polls do), and gives its key.
func calendarOf(w *worldtest.World, name string, n int, fields ...store.Update) (key string) {
	key = poll.CalendarKey("acc_"+name, name)
	w.Write(calendars.Path(key), append([]store.Update{
		poll.Set("accountId", "acc_"+name), poll.Set("calendarId", name), poll.Set("interests", map[string]any{poll.ConsumerPoll: n}),
	}, fields...)...)
	return key
}

// channelFor writes a channel of a calendar.
func channelFor(w *worldtest.World, name, key, status string, expiration time.Time, fields ...store.Update) {
	w.Write(store.Doc("calendarWatches", name), append([]store.Update{
		poll.Set("calendarKey", key), poll.Set("status", status), poll.Set("expiration", expiration), poll.Set("address", w.Health.Address),
	}, fields...)...)
}

// What is filtered out of a figure hides nothing that counts, however much of it
// comes first.
func TestFigures_BehindManyUncounted_AreFound(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	now := w.Clock.Now()
	for i := range health.FiguresMost + 10 {
		long := now.Add(-time.Duration(1000-i) * time.Minute)
		calendarOf(w, fmt.Sprintf("revoked%d", i), 1, poll.Set("failedSince", long), poll.Set("lastError", "revoked"))
		calendarOf(w, fmt.Sprintf("left%d", i), 0, poll.Set("failedSince", long), poll.Set("lastError", "not found"),
			poll.Set("pausedUntil", now.Add(time.Minute)))
		// Unanswered, kept to its end, and another lives beside it.
		key := calendarOf(w, fmt.Sprintf("well%d", i), 1)
		channelFor(w, fmt.Sprintf("unanswered%d", i), key, "error", now.Add(time.Hour), poll.Set("reason", "unavailable"))
		channelFor(w, fmt.Sprintf("old%d", i), key, "active", now.Add(time.Hour))
		channelFor(w, fmt.Sprintf("new%d", i), key, "active", now.Add(100*time.Hour))
	}
	calendarOf(w, "fresh", 1, poll.Set("failedSince", now.Add(-time.Hour)), poll.Set("lastError", "not found"),
		poll.Set("pausedUntil", now.Add(time.Hour)))
	refused := calendarOf(w, "refused", 1)
	channelFor(w, "refused", refused, "error", now.Add(150*time.Hour), poll.Set("nextTry", now.Add(time.Hour)))
	channelFor(w, "last", calendarOf(w, "ending", 1), "active", now.Add(23*time.Hour))

	reads := &calling{Reader: w.Health.Store}
	reader := *w.Health
	reader.Store = reads
	got, err := reader.Figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := health.Figures{
		WatchesEnding: 1, WatchesFailed: 1, Paused: 1, Errors: map[rules.ErrorCode]int{}, FailingSince: now.Add(-time.Hour),
		Failing: map[fault.Kind]int{fault.NotFound: 1, fault.Revoked: health.FiguresMost}, Mirrors: map[mirror.State]int{},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the figures are %+v, want %+v", got, want)
	}
	if reads.calls > 60 {
		t.Errorf("they ask the store %d times, want 60 at most", reads.calls)
	}
}

// Whatever the settings are, a channel that was just renewed does not count, and
// one that was to be renewed long ago does.
func TestFigures_EndingChannels_CountOnlyWhenRenewalIsLate(t *testing.T) {
	t.Parallel()
	for _, lasts := range []time.Duration{7 * 24 * time.Hour, 48 * time.Hour, 24 * time.Hour, 6 * time.Hour} {
		renewBefore := min(48*time.Hour, lasts/2)
		for left, want := range map[time.Duration]int{lasts: 0, renewBefore - time.Minute: 0, renewBefore/2 - time.Minute: 1} {
			w := worldtest.New(t, worldtest.Options{})
			channelFor(w, "it", calendarOf(w, "it", 1), "active", w.Clock.Now().Add(left))
			reader := *w.Health
			reader.Ending = health.Ending(renewBefore)
			if got, err := reader.Figures(t.Context()); err != nil || got.WatchesEnding != want {
				t.Errorf("of channels that last %s, one with %s left counts as %d, want %d (%v)", lasts, left, got.WatchesEnding, want, err)
			}
		}
	}
}

// A channel that Google grants for a day ends within a day all the time: it
// should have been renewed where half of the third of a day is over in vain.
func TestFigures_ShortGrants_CountWhenOverdue(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{LongestGrant: 24 * time.Hour}})
	w.Finalised()
	w.Run(time.Minute)
	for w.Clock.Now().Before(worldtest.Start.Add(3 * 24 * time.Hour)) {
		w.RunTimers(time.Hour, 10*time.Minute)
		wantFigures(t, w, fmt.Sprint("at ", w.Clock.Now()), empty)
		report, err := w.Health.OfPerson(t.Context(), "gm")
		if err != nil || report.Overall != health.Healthy {
			t.Errorf("at %v the health is %+v, %v", w.Clock.Now(), report, err)
		}
		if t.Failed() {
			return
		}
	}
	w.Refuse("events.watch", http.StatusServiceUnavailable, "backendError", 0)
	left := func() time.Duration {
		for _, doc := range w.Watches() {
			if f := store.Fields(doc.Data); f.String("status") == "active" {
				return f.Time("expiration").Sub(w.Clock.Now())
			}
		}
		return 0
	}
	for left() > 4*time.Hour+10*time.Minute {
		w.RunTimers(10*time.Minute, 10*time.Minute)
		if got := figures(t, w); got.WatchesEnding != 0 {
			t.Fatalf("with %v left %d calendars are counted", left(), got.WatchesEnding)
		}
	}
	w.RunTimers(20*time.Minute, 10*time.Minute)
	if got := figures(t, w); got.WatchesEnding != 1 {
		t.Errorf("with %v left %d calendars are counted, want 1", left(), got.WatchesEnding)
	}
}
