package calendars_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

const (
	account  = "acc_gm"
	calendar = "gm@example.com"
	gap      = time.Second
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// kept is the document of a calendar in a store.
type kept struct {
	t         *testing.T
	documents store.Store
}

func open(t *testing.T) kept {
	t.Helper()
	documents, err := memorystore.Open(calendars.Queries)
	if err != nil {
		t.Fatal(err)
	}
	return kept{t, storetest.Rerun(documents)}
}

func (k kept) read() calendars.Calendar {
	k.t.Helper()
	c, _, err := calendars.Load(k.t.Context(), k.documents, account, calendar)
	if err != nil {
		k.t.Fatal(err)
	}
	return c
}

// write writes updates that a function gives for the calendar as it stands, as
// everybody does: read and written in one transaction.
func (k kept) write(updates func(c calendars.Calendar) []store.Update) calendars.Calendar {
	k.t.Helper()
	err := k.documents.Run(k.t.Context(), func(ctx context.Context, tx store.Tx) error {
		c, _, err := calendars.Load(ctx, tx, account, calendar)
		if err != nil {
			return err
		}
		return tx.Merge(calendars.Path(c.Key), updates(c)...)
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return k.read()
}

// claim begins a sync, or says how long to stay away.
func (k kept) claim(at time.Time) (fence int64, wait time.Duration) {
	k.t.Helper()
	updates, fence, wait := k.read().Claim(at, gap, k.read().SyncGen)
	if (wait > 0) != (updates == nil) || (wait > 0) == (fence > 0) {
		k.t.Fatalf("a claim gives %v, fence %d and wait %v", updates, fence, wait)
	}
	if wait == 0 {
		k.write(func(calendars.Calendar) []store.Update { return updates })
	}
	return fence, wait
}

func link(c calendars.Calendar) []store.Update { return c.Link(now, "gm", "") }

func TestClaim_AtEachAge_WaitsOrBegins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calendar calendars.Calendar
		fence    int64
		wait     time.Duration
	}{
		"the first sync waits for nothing": {calendar: calendars.Calendar{}, fence: 1},
		"after the gap":                    {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-gap)}, fence: 8},
		"within the gap":                   {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-gap / 4)}, wait: gap * 3 / 4},
		"just begun":                       {calendar: calendars.Calendar{Fence: 7, StartedAt: now}, wait: gap},
		"held, with much left":             {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now.Add(time.Minute)}, wait: gap},
		"held, with little left":           {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now.Add(time.Millisecond)}, wait: time.Millisecond},
		"the lease ends now":               {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now}, fence: 8},
		"expired":                          {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now.Add(-time.Second)}, fence: 8},
		"left alone":                       {calendar: calendars.Calendar{Fence: 7, PausedUntil: now.Add(time.Hour)}, wait: time.Hour},
		"left alone until a while ago":     {calendar: calendars.Calendar{Fence: 7, PausedUntil: now.Add(-time.Hour)}, fence: 8},
		"begun by a clock that is minutes ahead of us": {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(5 * time.Minute)}, fence: 8},
	} {
		updates, fence, wait := c.calendar.Claim(now, gap, 3)
		if fence != c.fence || wait != c.wait || (updates == nil) != (c.wait > 0) {
			t.Errorf("%s: fence %d, wait %v, %d updates", name, fence, wait, len(updates))
		}
	}
}

func TestSync_FromClaimToEnd(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	k.write(func(calendars.Calendar) []store.Update { return calendars.RequestSync() })
	before := k.read()

	fence, _ := k.claim(now)
	c := k.read()
	same(t, "generation of the next sync", c.SyncGen, before.SyncGen+1)
	same(t, "generation that began", c.StartedGen, before.SyncGen)
	same(t, "holds", []bool{c.Holds(fence), c.Holds(fence - 1), c.Holds(0)}, []bool{true, false, false})
	same(t, "pending", c.SyncPending, false)
	same(t, "lease", c.LeaseUntil, now.Add(calendars.Lease))
	if _, wait := k.claim(now.Add(time.Minute / 2)); wait == 0 {
		t.Error("a second sync began while the first held the lease")
	}
	c = k.write(func(calendars.Calendar) []store.Update { return calendars.Renew(now.Add(time.Minute / 2)) })
	same(t, "lease after a sign of life", c.LeaseUntil, now.Add(time.Minute/2+calendars.Lease))

	// A sync requested during a run stays pending after it.
	k.write(func(calendars.Calendar) []store.Update { return calendars.RequestSync() })
	c = k.write(func(calendars.Calendar) []store.Update { return calendars.Succeeded(now.Add(time.Minute), "token", 3) })
	same(t, "pending", c.SyncPending, true)
	same(t, "token", c.SyncToken, "token")
	same(t, "mask", c.MaskVersion, int64(3))
	same(t, "lease", c.LeaseUntil, time.Time{})
	same(t, "ended", []time.Time{c.SyncedAt, c.SuccessAt}, []time.Time{now.Add(time.Minute), now.Add(time.Minute)})

	later, _ := k.claim(now.Add(time.Hour))
	same(t, "the older sync holds", k.read().Holds(fence), false)
	same(t, "the newer sync holds", k.read().Holds(later), true)
}

func TestFailedSync_KeepsItsToken(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	k.claim(now)
	k.write(func(calendars.Calendar) []store.Update { return calendars.Succeeded(now, "token", 1) })
	for i := range 3 {
		at := now.Add(time.Duration(i+1) * time.Hour)
		k.claim(at)
		c := k.write(func(c calendars.Calendar) []store.Update { return c.Failed(at, "unavailable") })
		same(t, "token", c.SyncToken, "token")
		same(t, "failing since", c.FailedSince, now.Add(time.Hour))
		same(t, "why", c.LastError, "unavailable")
		same(t, "last good sync", c.SuccessAt, now)
		same(t, "last sync", c.SyncedAt, at)
		same(t, "lease", c.LeaseUntil, time.Time{})
		same(t, "pending beside the task that tries again", c.SyncPending, false)
	}
	k.write(func(calendars.Calendar) []store.Update {
		return []store.Update{calendars.Pause(now.Add(9 * time.Hour))}
	})
	c := k.write(func(calendars.Calendar) []store.Update { return calendars.Succeeded(now.Add(9*time.Hour), "next", 1) })
	same(t, "failing since, why, left alone until", []any{c.FailedSince, c.LastError, c.PausedUntil}, []any{time.Time{}, "", time.Time{}})
	c = k.write(func(calendars.Calendar) []store.Update { return calendars.ResetToken() })
	same(t, "token after 410", c.SyncToken, "")
	same(t, "last good sync after 410", c.SuccessAt, now.Add(9*time.Hour))
}

// A task name may never become free again, so no generation is used twice.
func TestSyncGeneration_NeverRestarts(t *testing.T) {
	t.Parallel()
	k := open(t)
	first := k.write(link)
	last := first.SyncGen
	for i := range 5 {
		k.claim(now.Add(time.Duration(i) * time.Hour))
		if c := k.read(); c.SyncGen <= last {
			t.Fatalf("sync %d has generation %d after %d", i, c.SyncGen, last)
		}
		last = k.read().SyncGen
	}
	c := k.write(func(c calendars.Calendar) []store.Update { return c.Skip() })
	if c.SyncGen != last+1 || c.SyncPending {
		t.Errorf("a sync that is not needed leaves generation %d (before: %d), pending: %t", c.SyncGen, last, c.SyncPending)
	}
	same(t, "linked again", k.write(link).SyncGen, c.SyncGen)

	err := k.documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Delete(calendars.Path(c.Key)) })
	if err != nil {
		t.Fatal(err)
	}
	again := k.write(func(c calendars.Calendar) []store.Update { return c.Link(now.Add(time.Second), "gm", "") })
	if again.SyncGen <= c.SyncGen {
		t.Errorf("made again, the generation is %d after %d", again.SyncGen, c.SyncGen)
	}
}

func TestCovers_TriggersOlderThanTheLastRun(t *testing.T) {
	t.Parallel()
	c := calendars.Calendar{SyncGen: 9, StartedGen: 7}
	for generation, want := range map[int64]bool{6: true, 7: false, 8: false, 9: false} {
		if got := c.Covers(generation); got != want {
			t.Errorf("generation %d: %t", generation, got)
		}
	}
}

func TestInterests_CountThePolls(t *testing.T) {
	t.Parallel()
	k := open(t)
	same(t, "wanted at first", k.read().Wanted(), false)
	for _, step := range []struct {
		does    string
		updates func(c calendars.Calendar) []store.Update
		want    int64
	}{
		{"a poll is linked", link, 1},
		{"another one", link, 2},
		{"one is linked to another event", func(c calendars.Calendar) []store.Update { return c.Exchange("e1") }, 2},
		{"one is unlinked", func(c calendars.Calendar) []store.Update { return c.Unlink("e1") }, 1},
		{"the other", func(c calendars.Calendar) []store.Update { return c.Unlink("e2") }, 0},
		{"one that was not counted", func(c calendars.Calendar) []store.Update { return c.Unlink("e3") }, 0},
		{"an exchange of one that was not counted", func(c calendars.Calendar) []store.Update { return c.Exchange("e3") }, 1},
	} {
		c := k.write(step.updates)
		if c.Interests[poll.ConsumerPoll] != step.want || c.Wanted() != (step.want > 0) {
			t.Errorf("%s: %d, wanted %t", step.does, c.Interests[poll.ConsumerPoll], c.Wanted())
		}
	}
	c := k.read()
	same(t, "identity", []string{c.AccountID, c.CalendarID, c.OwnerID, c.Key}, []string{account, calendar, "gm", poll.CalendarKey(account, calendar)})
}

// A calendar is there for other consumers too.
func TestInterests_OfOthersStay(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(func(calendars.Calendar) []store.Update {
		return []store.Update{{Path: store.Field("interests", "mirror"), Value: 1}}
	})
	k.write(link)
	c := k.write(func(c calendars.Calendar) []store.Update { return c.Unlink("e1") })
	same(t, "interests", c.Interests, map[string]int64{poll.ConsumerPoll: 0, "mirror": 1})
	same(t, "wanted", c.Wanted(), true)
}

func TestLink_RequestsASync_AndKeepsGooglesIDs(t *testing.T) {
	t.Parallel()
	k := open(t)
	c := k.write(func(c calendars.Calendar) []store.Update { return c.Link(now, "gm", "google1") })
	same(t, "pending", c.SyncPending, true)
	k.write(func(c calendars.Calendar) []store.Update { return c.Link(now, "gm", "google1") })
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Link(now, "gm", "google2") })
	same(t, "ids", c.LegacyEventIDs, []string{"google1", "google2"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Exchange("google1") })
	same(t, "ids after an exchange", c.LegacyEventIDs, []string{"google2"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Unlink("google2") })
	same(t, "ids after an unlink", c.LegacyEventIDs, []string(nil))
}

func TestDeferredEvents_StayUntilSettledOrUnlinked(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	c := k.write(func(calendars.Calendar) []store.Update {
		return []store.Update{calendars.Defer("e2", calendars.DeferredRace), calendars.Defer("e1", calendars.DeferredFailed), calendars.Defer("e3", calendars.DeferredCommand)}
	})
	same(t, "deferred, sorted", c.DeferredEvents(), []string{"e1", "e2", "e3"})
	same(t, "why", c.Deferred["e2"], calendars.DeferredRace)
	c = k.write(func(calendars.Calendar) []store.Update { return []store.Update{calendars.Settle("e1")} })
	same(t, "after one is settled", c.DeferredEvents(), []string{"e2", "e3"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Unlink("e2") })
	same(t, "after one is unlinked", c.DeferredEvents(), []string{"e3"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Exchange("e3") })
	same(t, "after one took another's place", len(c.Deferred), 0)
}

func TestSyncTask_IsNamedByCalendarAndGeneration(t *testing.T) {
	t.Parallel()
	c := calendars.Calendar{Key: "k1", SyncGen: 42}
	task := calendars.SyncTask(c, "push", "trace-1")
	same(t, "kind", task.Kind, calendars.SyncKind)
	same(t, "name", task.Name, "k1/42")
	same(t, "payload", string(task.Payload), `{"key":"k1","gen":42,"cause":"push","trace":"trace-1"}`)
	same(t, "the same again", calendars.SyncTask(c, "drain", "").Name, task.Name)
}

func TestCalendars_AreFoundByTheirPendingSync(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	list := func(found []calendars.Calendar, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	same(t, "pending", list(store.Collect(calendars.SyncsPending(t.Context(), k.documents))), 1)
	k.claim(now)
	same(t, "pending after the claim", list(store.Collect(calendars.SyncsPending(t.Context(), k.documents))), 0)
	same(t, "leased", list(calendars.Leased(t.Context(), k.documents, now)), 1)
	same(t, "leased when the lease is over", list(calendars.Leased(t.Context(), k.documents, now.Add(calendars.Lease))), 0)
	k.write(func(calendars.Calendar) []store.Update { return append(calendars.RequestSync(), calendars.Release()) })
	same(t, "leased after it was given back", list(calendars.Leased(t.Context(), k.documents, now)), 0)
	followed, _, err := calendars.Followed(t.Context(), k.documents, 10, nil)
	same(t, "followed", list(followed, err), 1)
	same(t, "of their owner", list(calendars.OfOwner(t.Context(), k.documents, "gm")), 1)
	same(t, "of somebody else", list(calendars.OfOwner(t.Context(), k.documents, "ana")), 0)
	k.write(func(c calendars.Calendar) []store.Update { return c.Unlink("e1") })
	followed, _, err = calendars.Followed(t.Context(), k.documents, 10, nil)
	same(t, "followed by nothing", list(followed, err), 0)
	_, ok, err := calendars.LoadKey(t.Context(), k.documents, "no-such-key")
	same(t, "one that is not there", []any{ok, err}, []any{false, error(nil)})
}

func TestUnwatched_CountsTheSweepsInARowThatWentWell(t *testing.T) {
	t.Parallel()
	k := open(t)
	sweep := func(at time.Time) (good int64) {
		k.write(func(c calendars.Calendar) []store.Update {
			updates, count := c.Unwatched(at)
			good = count
			return updates
		})
		return good
	}
	syncAt := func(at time.Time) {
		k.write(func(calendars.Calendar) []store.Update { return calendars.Succeeded(at, "token", 1) })
	}
	same(t, "the first, which follows none", sweep(now), int64(0))
	same(t, "one without a sync since", sweep(now.Add(time.Hour)), int64(0))
	syncAt(now.Add(2 * time.Hour))
	same(t, "one with a sync since", sweep(now.Add(3*time.Hour)), int64(1))
	syncAt(now.Add(4 * time.Hour))
	same(t, "another", sweep(now.Add(5*time.Hour)), int64(2))
	syncAt(now.Add(6 * time.Hour))
	k.write(func(c calendars.Calendar) []store.Update { return c.Failed(now.Add(7*time.Hour), "unavailable") })
	same(t, "one while syncs fail", sweep(now.Add(8*time.Hour)), int64(0))
}

// What was wrong with a calendar that nothing followed was never taken off it, and
// says nothing of a poll that follows it from now on.
func TestLink_OfAnUnfollowedCalendar_ClearsItsFailure(t *testing.T) {
	t.Parallel()
	failed := calendars.Calendar{Key: "k", FailedSince: time.Unix(1, 0), LastError: calendars.ReasonRevoked, SyncGen: 1}
	forgets := func(c calendars.Calendar) bool {
		return slices.ContainsFunc(c.Link(time.Unix(2, 0), "gm", ""), func(u store.Update) bool {
			return u.Path.String() == "lastError" && u.Value == store.Delete
		})
	}
	if !forgets(failed) {
		t.Error("the failure stays")
	}
	failed.Interests = map[string]int64{"poll": 1}
	if forgets(failed) {
		t.Error("the failure of a calendar that a poll follows goes")
	}
}

// At the very end of a pause the calendar may be synced.
func TestClaim_AtTheEndOfAPause_BeginsASync(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]calendars.Calendar{
		"deferred": {PausedUntil: now}, "leased": {LeaseUntil: now}, "synced a gap ago": {StartedAt: now.Add(-gap)},
	} {
		if updates, _, wait := c.Claim(now, gap, 0); len(updates) == 0 || wait != 0 {
			t.Errorf("%s: wait %s", name, wait)
		}
	}
}

func TestHolds_WithoutAFence_CommitsNothing(t *testing.T) {
	t.Parallel()
	same(t, "a sync that never claimed a new calendar", calendars.Calendar{}.Holds(0), false)
	same(t, "the sync that did", calendars.Calendar{Fence: 1}.Holds(1), true)
}

// Since when a calendar fails is said once.
func TestLost_AfterAFailure_KeepsSinceWhen(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, at := range []time.Time{now, now.Add(time.Hour)} {
		c := k.write(func(c calendars.Calendar) []store.Update { return c.MarkFailing(at, "revoked") })
		same(t, "failed since", c.FailedSince, now)
	}
}
