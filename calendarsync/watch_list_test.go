package calendarsync_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// writeChannel writes the document of a channel, of which only the fields are there by which
// channels are listed.
func writeChannel(w *worldtest.World, id string, status calendarsync.Status, ends time.Time, more ...store.Update) {
	w.Write(store.Doc("calendarWatches", id), append(more, poll.Set("status", string(status)), poll.Set("expiration", ends))...)
}

// channelIDs are the ids of channels, in their order.
func channelIDs(watches []calendarsync.Watch) (ids []string) {
	for _, watch := range watches {
		ids = append(ids, watch.ChannelID)
	}
	return ids
}

// pagewise lists channels, one a page.
func pagewise(t *testing.T, list func(part store.Paging) ([]calendarsync.Watch, *store.Cursor, error)) (ids []string) {
	t.Helper()
	part := store.Paging{Limit: 1}
	for {
		page, next, err := list(part)
		if err != nil {
			t.Fatal(err)
		}
		ids, part.After = append(ids, channelIDs(page)...), next
		if next == nil {
			return ids
		}
	}
}

func TestListsOfChannels_GiveTheirOwn_InTheirOrder(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	day := func(n int) time.Time { return worldtest.Start.AddDate(0, 0, n) }
	writeChannel(w, "a-last", calendarsync.Active, day(3))
	writeChannel(w, "b-first", calendarsync.Active, day(1))
	writeChannel(w, "c-second", calendarsync.Active, day(2))
	writeChannel(w, "d-ended", calendarsync.Expired, day(1))
	writeChannel(w, "e-later", calendarsync.Failed, day(1), poll.Set("nextTry", day(2)))
	writeChannel(w, "f-soon", calendarsync.Failed, day(1), poll.Set("nextTry", day(1)))
	writeChannel(w, "g-kept", calendarsync.Failed, day(1), poll.Set("nextTry", nil))
	writeChannel(w, "h-renewed", calendarsync.Active, day(9), poll.Set("nextTry", day(1)))
	byStatus := func(limit int, statuses ...calendarsync.Status) []string {
		found, err := calendarsync.ByStatus(t.Context(), w.Documents, limit, statuses...)
		if err != nil {
			t.Fatal(err)
		}
		return channelIDs(found)
	}
	same(t, "of a status", byStatus(0, calendarsync.Active), []string{"b-first", "c-second", "a-last", "h-renewed"})
	same(t, "of two, at most three", byStatus(3, calendarsync.Expired, calendarsync.Active), []string{"b-first", "d-ended", "c-second"})
	same(t, "active ones that end soon", pagewise(t, func(part store.Paging) ([]calendarsync.Watch, *store.Cursor, error) {
		return calendarsync.EndingBefore(t.Context(), w.Documents, day(3), part)
	}), []string{"b-first", "c-second"})
	same(t, "to be replaced", pagewise(t, func(part store.Paging) ([]calendarsync.Watch, *store.Cursor, error) {
		return calendarsync.Ungranted(t.Context(), w.Documents, part)
	}), []string{"f-soon", "e-later"})
}

// More calendars than one query may name.
func TestWatchesOf_ManyCalendars_GivesEachItsOwn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	var keys []string
	for n := range 40 {
		keys = append(keys, fmt.Sprintf("calendar-%02d", n))
		writeChannel(w, fmt.Sprintf("channel-%02d", n), calendarsync.Active, worldtest.Start, poll.Set("calendarKey", keys[n]))
	}
	writeChannel(w, "second", calendarsync.Failed, worldtest.Start, poll.Set("calendarKey", keys[39]))
	found, err := calendarsync.WatchesOf(t.Context(), w.Documents, slices.Delete(slices.Clone(keys), 7, 8))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calendars", len(found), 39)
	same(t, "of the first", channelIDs(found[keys[0]]), []string{"channel-00"})
	same(t, "of the last", channelIDs(found[keys[39]]), []string{"channel-39", "second"})
}

// The record of a channel lasts a month after its end.
func TestRemoveDead_KeepsWhatEndedLately(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	now := worldtest.Start
	for id, ended := range map[string]time.Duration{
		"a-month": calendarsync.DeadKept + time.Hour, "a-year": 365 * 24 * time.Hour, "nearly": calendarsync.DeadKept - time.Hour,
	} {
		writeChannel(w, id, calendarsync.Expired, now.Add(-ended))
	}
	for _, want := range []struct {
		removed int
		more    bool
	}{{1, true}, {1, true}, {0, false}} {
		removed, more, err := calendarsync.RemoveDead(t.Context(), w.Documents, now, 1)
		if err != nil || removed != want.removed || more != want.more {
			t.Errorf("removed %d, more %t (%v), want %+v", removed, more, err, want)
		}
	}
	equal(t, "channels left", w.Document(store.Doc("calendarWatches", "nearly")).Exists(), true)
	equal(t, "of how many", len(w.Watches()), 1)
}

// Half of the time between a channel's renewal and its end is the time in which something
// should have been done.
func TestEndsSoon_OnceItsRenewalIsOverdue(t *testing.T) {
	t.Parallel()
	now, hour := worldtest.Start, time.Hour
	for name, c := range map[string]struct {
		granted, left time.Duration // ago, and until its end
		want          bool
	}{
		"a week, with two days left":        {5 * 24 * hour, 48 * hour, false},
		"a week, with a day and a bit":      {6*24*hour - hour, 25 * hour, false},
		"a week, with a day":                {6 * 24 * hour, 24 * hour, true},
		"six hours, with a bit over one":    {5*hour - time.Minute, hour + time.Minute, false},
		"six hours, with one":               {5 * hour, hour, true},
		"one that ended":                    {7 * 24 * hour, -hour, true},
		"a month, with what a week is left": {29 * 24 * hour, 25 * hour, false},
	} {
		watch := calendarsync.Watch{GrantedAt: now.Add(-c.granted), Expiration: now.Add(c.left), CreatedAt: now.AddDate(-1, 0, 0)}
		equal(t, name, watch.EndsSoon(now, 24*hour), c.want)
	}
	unknown := calendarsync.Watch{CreatedAt: now.Add(-5 * hour), Expiration: now.Add(hour)}
	equal(t, "one whose grant is not known", unknown.EndsSoon(now, 2*hour), true)
	equal(t, "its lifetime", unknown.Lifetime(), 6*hour)
	equal(t, "that of one that ended before", calendarsync.Watch{CreatedAt: now, Expiration: now.Add(-hour)}.Lifetime(), 0)
}
