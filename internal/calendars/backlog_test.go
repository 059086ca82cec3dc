package calendars_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/points"
)

// shelf keeps calendars as a store does.
type shelf struct {
	*testing.T
	documents store.Store
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	documents, err := memorystore.Open(calendars.Queries)
	if err != nil {
		t.Fatal(err)
	}
	return shelf{t, documents}
}

func (s shelf) write(key string, updates ...store.Update) {
	s.Helper()
	if len(updates) == 0 {
		return
	}
	err := s.documents.Run(s.Context(), func(_ context.Context, tx store.Tx) error { return tx.Merge(calendars.Path(key), updates...) })
	if err != nil {
		s.Fatal(err)
	}
}

func (s shelf) read(key string) calendars.Calendar {
	s.Helper()
	c, _, err := calendars.LoadKey(s.Context(), s.documents, key)
	if err != nil {
		s.Fatal(err)
	}
	return c
}

const mirrors = "mirrors" // a consumer beside polls

func TestWant_FirstAndLastInterest_ListEverythingAndForgetIt(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	if updates := s.read("c").Want(mirrors, 0, request(now), "gm"); len(updates) != 0 {
		t.Errorf("one who wants nothing changes %v", updates)
	}
	s.write("c", s.read("c").Want(mirrors, 1, request(now), "gm")...)
	if c := s.read("c"); !c.Follows(mirrors) || !c.Backlogs[mirrors].Relist.Equal(now) || !c.SyncPending || c.OwnerID != "gm" {
		t.Errorf("after the first interest it is %+v", c)
	}
	if updates := s.read("c").Want(mirrors, 2, request(now), "gm"); slices.ContainsFunc(updates, func(u store.Update) bool {
		return u.Path.String() == "relist."+mirrors
	}) {
		t.Errorf("a second interest lists everything anew: %v", updates)
	}
	did := calendars.Progress{Deferred: []string{"e"}}
	updates, _ := s.read("c").Progressed(s.read("c"), mirrors, did, now)
	s.write("c", updates...)
	s.write("c", s.read("c").Want(mirrors, 0, request(now), "gm")...)
	if c := s.read("c"); c.Follows(mirrors) || c.HasBacklog() || len(c.Backlogs[mirrors].Deferred) > 0 {
		t.Errorf("after the last interest it is %+v", c)
	}
	if updates, _ := s.read("c").Progressed(s.read("c"), mirrors, did, now); len(updates) != 0 {
		t.Errorf("a run changes %v for one who follows nothing", updates)
	}
}

func TestProgressed_OverflowAndIncompleteListing_ListOnceMore(t *testing.T) {
	t.Parallel()
	many := make([]string, calendars.MaxBacklog+1)
	for i := range many {
		many[i] = fmt.Sprintf("event%03d", i)
	}
	for name, c := range map[string]struct {
		did    calendars.Progress
		relist time.Time
		events int
	}{
		"all listed":            {calendars.Progress{Relisted: true}, time.Time{}, 0},
		"one failed":            {calendars.Progress{Relisted: true, Deferred: many[:1]}, time.Time{}, 1},
		"as many as fit failed": {calendars.Progress{Relisted: true, Deferred: many[:calendars.MaxBacklog]}, time.Time{}, calendars.MaxBacklog},
		"too many failed":       {calendars.Progress{Deferred: many}, now, 0},
		"too long":              {calendars.Progress{Deferred: longIDs(64)}, now, 0},
		"a name of no field":    {calendars.Progress{Deferred: []string{"__e"}}, now, 0},
		"left out":              {calendars.Progress{Relisted: true, Overflow: true}, now, 0},
		"incomplete":            {calendars.Progress{Relisted: true, Incomplete: true}, now, 0},
	} {
		s := newShelf(t)
		s.write("c", s.read("c").Want(mirrors, 1, request(now), "gm")...)
		s.write("c", store.Set("syncAsked", store.Delete)) // the run begins
		if !c.did.Relisted {
			s.write("c", store.Update{Path: store.Field("relist", mirrors), Value: store.Delete})
		}
		updates, _ := s.read("c").Progressed(s.read("c"), mirrors, c.did, now)
		s.write("c", updates...)
		if got := s.read("c").Backlogs[mirrors]; !got.Relist.Equal(c.relist) || len(got.Deferred) != c.events {
			t.Errorf("%s: a listing is requested at %v, want %v; %d events wait, want %d", name, got.Relist, c.relist, len(got.Deferred), c.events)
		}
	}
}

// longIDs are few ids that take too much room together.
func longIDs(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(i, strings.Repeat("x", 1020)))
	}
	return ids
}

func TestHeld_AreTheHeldAlone(t *testing.T) {
	t.Parallel()
	c := deferred(map[string]string{
		"b": calendars.DeferredHeld, "a": calendars.DeferredHeld, "c": calendars.DeferredConfirmed, "d": calendars.DeferredMoved,
	})
	if held := c.Held(); !slices.Equal(held, []string{"a", "b"}) {
		t.Errorf("held are %v", held)
	}
}

// keys are those of calendars.
func keys(all []calendars.Calendar) (keys []string) {
	for _, c := range all {
		keys = append(keys, c.Key)
	}
	return keys
}

func TestLists_FindWhatTheySay(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i, key := range []string{"a", "b", "c"} {
		at := now.Add(time.Duration(i) * time.Hour)
		s.write(key, store.Set("ownerId", "gm"), store.Set("lastError", "broken"), store.Set("failedSince", at.Add(-24*time.Hour)),
			store.Set("pausedUntil", at), store.Set("interests", map[string]any{poll.ConsumerPoll: 1}))
	}
	ctx, p := t.Context(), &points.Points{}
	reads := &points.Reads{Store: s.documents, Points: p}
	part := store.Paging{Limit: 2}
	for name, c := range map[string]struct {
		list func() ([]calendars.Calendar, error)
		want []string
	}{
		"failing": {func() (all []calendars.Calendar, err error) {
			all, _, err = calendars.Failing(ctx, reads, now, []string{"broken"}, part)
			return all, err
		}, []string{"a", "b"}},
		"failing lately": {func() (all []calendars.Calendar, err error) {
			all, _, err = calendars.FailingLately(ctx, reads, now, []string{"broken"}, part)
			return all, err
		}, []string{"c", "b"}},
		"paused": {func() (all []calendars.Calendar, err error) {
			all, _, err = calendars.Paused(ctx, reads, now, part)
			return all, err
		}, []string{"b", "c"}},
		"by key": {func() ([]calendars.Calendar, error) {
			return calendars.LoadKeys(ctx, reads, []string{"c", "missing", "a"})
		}, []string{"c", "missing", "a"}},
		"of a person": {func() ([]calendars.Calendar, error) { return calendars.OfOwner(ctx, reads, "gm") }, []string{"a", "b", "c"}},
	} {
		all, err := c.list()
		if err != nil || !slices.Equal(keys(all), c.want) {
			t.Errorf("%s: %v, %v; want %v", name, keys(all), err, c.want)
		}
		p.NoneUnread(t, 1, func() error {
			_, err := c.list()
			return err
		})
	}
	if all, err := calendars.OfOwner(ctx, s.documents, ""); err != nil || len(all) != 0 {
		t.Errorf("nobody has %v, %v", keys(all), err)
	}
	c, ok, err := calendars.Load(ctx, s.documents, "acc", "missing")
	if err != nil || ok || c.AccountID != "acc" || c.CalendarID != "missing" {
		t.Errorf("a missing calendar is %+v, %v, %v", c, ok, err)
	}
}

func TestAll_PageByPage_PassesEachOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, key := range []string{"a", "b", "c"} {
		s.write(key, store.Set("ownerId", "gm"))
	}
	var seen []string
	for after := ""; len(seen) < 4; {
		page, next, err := calendars.All(t.Context(), s.documents, 2, after)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, keys(page)...)
		if next == "" {
			break
		}
		after = next
	}
	if !slices.Equal(seen, []string{"a", "b", "c"}) {
		t.Errorf("passed are %v", seen)
	}
}
