package calendarsync

import (
	"context"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/points"
)

// keeping is a watcher at noon that keeps one calendar's channels, which a poll follows if wanted.
func keeping(t *testing.T, wanted bool, watches ...Watch) (*Watcher, *points.Points) {
	t.Helper()
	documents, err := memorystore.Open(slices.Concat(Queries, calendars.Queries))
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		interests := map[string]any{poll.ConsumerPoll: map[bool]int64{true: 1}[wanted]}
		if err := tx.Create(calendars.Path(poll.CalendarKey("gm", "c")), map[string]any{"interests": interests}); err != nil {
			return err
		}
		for _, watch := range watches {
			if err := tx.Create(watchPath(watch.ChannelID), encodeWatch(ofCalendar(watch))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w, p := atNoon(), &points.Points{}
	w.Store = &points.Reads{Store: documents, Points: p}
	return w, p
}

// ofCalendar is a channel of the one calendar.
func ofCalendar(watch Watch) Watch {
	watch.AccountID, watch.CalendarID, watch.CalendarKey = "gm", "c", poll.CalendarKey("gm", "c")
	return watch
}

// triedAt is a channel that is tried that long after noon.
func triedAt(watch Watch, next time.Duration) Watch {
	watch.NextTry = noon.Add(next)
	return watch
}

// A sweep stops the channels that are not needed, so one that is must not be taken for one of them.
func TestNeeded_BesideOthers_IsWhatNothingReplaces(t *testing.T) {
	t.Parallel()
	week := 7 * 24 * time.Hour
	live := grant("live", Active, time.Hour, week)
	none := []Watch(nil)
	for name, c := range map[string]struct {
		watch  Watch
		others []Watch
		want   bool
		reads  int
	}{
		"one out of use, for the record":            {grant("a", Expired, time.Minute, week), []Watch{live}, true, 0},
		"one out of use that ended":                 {grant("a", Expired, 2*week, week), []Watch{live}, true, 0},
		"one that is replaced":                      {grant("a", Retiring, time.Minute, week), none, false, 0},
		"one that ends now":                         {grant("a", Active, week, week), none, false, 0},
		"one that ended and is tried again":         {triedAt(grant("a", Active, week, week), time.Minute), none, true, 0},
		"one that ended and whose try is due":       {triedAt(grant("a", Active, week, week), 0), none, false, 0},
		"the only one":                              {grant("a", Active, 2*time.Hour, week), none, true, 2},
		"one beside a later one":                    {grant("a", Active, 2*time.Hour, week), []Watch{live}, false, 2},
		"one beside an earlier one":                 {grant("a", Active, time.Minute, week), []Watch{live}, true, 2},
		"one of another address":                    {elsewhere(grant("a", Active, time.Minute, week)), []Watch{live}, false, 2},
		"one of another address, alone":             {elsewhere(grant("a", Active, time.Minute, week)), none, true, 2},
		"one that was requested just now":           {grant("a", Pending, 59*time.Second, week), []Watch{live}, true, 2},
		"one that was requested a minute ago":       {grant("a", Pending, time.Minute, week), []Watch{live}, false, 2},
		"one requested a minute ago, alone":         {grant("a", Pending, time.Minute, week), none, true, 2},
		"one that was refused":                      {grant("a", Failed, time.Hour, week), []Watch{live}, false, 2},
		"one that was refused just now":             {grant("a", Failed, 59*time.Second, week), []Watch{live}, true, 2},
		"one that was refused, beside another":      {grant("a", Failed, time.Hour, week), []Watch{grant("b", Failed, time.Minute, week)}, true, 2},
		"one that was refused, beside one replaced": {grant("a", Failed, time.Hour, week), []Watch{grant("b", Retiring, time.Hour, week)}, true, 2},
	} {
		w, p := keeping(t, true, append([]Watch{c.watch}, c.others...)...)
		if got, err := w.needed(t.Context(), ofCalendar(c.watch)); got != c.want || err != nil {
			t.Errorf("%s: needed is %t (%v), want %t", name, got, err, c.want)
		}
		p.NoneUnread(t, c.reads, func() error {
			_, err := w.needed(t.Context(), ofCalendar(c.watch))
			return err
		})
	}
}

// A channel of a calendar that nothing follows is marked, so that it is stopped whatever comes next.
func TestNeeded_WhereNothingFollowsTheCalendar_IsNone(t *testing.T) {
	t.Parallel()
	week := 7 * 24 * time.Hour
	for name, c := range map[string]struct {
		watch Watch
		want  Status // of its document afterwards
	}{
		"one that lives":   {grant("a", Active, time.Hour, week), Retiring},
		"one requested":    {triedAt(grant("a", Pending, time.Second, week), time.Minute), Pending},
		"one that failed":  {triedAt(grant("a", Failed, time.Hour, week), time.Minute), Failed},
		"one out of reach": {elsewhere(grant("a", Active, time.Hour, week)), Retiring},
	} {
		w, p := keeping(t, false, c.watch)
		p.NoneUnread(t, 3, func() error {
			needed, err := w.needed(t.Context(), ofCalendar(c.watch))
			if needed && err == nil {
				t.Errorf("%s is needed", name)
			}
			return err
		})
		watches, err := Watches(t.Context(), w.Store, "gm", "c")
		if err != nil || len(watches) != 1 {
			t.Fatalf("%s: the channels are %v (%v)", name, watches, err)
		}
		if left := watches[0]; left.Status != c.want || left.Status == Retiring && !left.NextTry.IsZero() {
			t.Errorf("%s: it is %s and tried at %v, want %s", name, left.Status, left.NextTry, c.want)
		}
	}
}

// One that ended meanwhile is left as it is: its end is recorded by what stops it.
func TestRelease_OfAChannelThatEnded_WritesNothing(t *testing.T) {
	t.Parallel()
	for name, watch := range map[string]Watch{
		"it ends now":       triedAt(grant("a", Active, time.Hour, time.Hour), time.Minute),
		"it ended long ago": triedAt(grant("a", Active, 2*time.Hour, time.Hour), time.Minute),
	} {
		w, _ := keeping(t, false, watch)
		unneeded, err := w.release(t.Context(), ofCalendar(watch))
		if !unneeded || err != nil {
			t.Errorf("%s: unneeded is %t (%v)", name, unneeded, err)
		}
		watches, err := Watches(t.Context(), w.Store, "gm", "c")
		if err != nil || watches[0].Status != Active || !watches[0].NextTry.Equal(noon.Add(time.Minute)) {
			t.Errorf("%s: it is %+v (%v)", name, watches, err)
		}
	}
}
