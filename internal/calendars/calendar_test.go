package calendars_test

import (
	"context"
	"fmt"
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

// due counts the calendars that a drain finds.
func (k kept) due(at time.Time) int {
	k.t.Helper()
	docs, err := k.documents.Query(k.t.Context(), calendars.SyncsDue.With(at))
	if err != nil {
		k.t.Fatal(err)
	}
	return len(docs)
}

// claim begins a sync, or says how long to stay away.
func (k kept) claim(at time.Time) (fence int64, wait time.Duration) {
	k.t.Helper()
	updates, fence, again := k.read().Claim(at, gap)
	if (fence == 0) != (updates == nil) {
		k.t.Fatalf("a claim gives %v, fence %d, again at %v", updates, fence, again)
	}
	if fence == 0 {
		return 0, again.Sub(at)
	}
	k.write(func(calendars.Calendar) []store.Update { return updates })
	return fence, 0
}

// asked requests a run.
func (k kept) asked(at time.Time) calendars.Calendar {
	k.t.Helper()
	return k.write(func(calendars.Calendar) []store.Update { return calendars.RequestSync(request(at)) })
}

func request(at time.Time) calendars.Request {
	return calendars.Request{At: at, Trigger: "push", Trace: "trc_1"}
}

func succeeded(at time.Time, token string, mask int64) func(c calendars.Calendar) []store.Update {
	return func(c calendars.Calendar) []store.Update { return c.Succeeded(at, token, mask, time.Time{}) }
}

func link(c calendars.Calendar) []store.Update { return c.Link(request(now), "gm", "") }

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
		"held, with much left": {
			calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now.Add(time.Minute)}, wait: gap,
		},
		"held, with little left": {
			calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now.Add(time.Millisecond)},
			wait:     time.Millisecond,
		},
		"the lease ends now": {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now}, fence: 8},
		"expired": {
			calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(-time.Hour), LeaseUntil: now.Add(-time.Second)}, fence: 8,
		},
		"left alone": {
			calendar: calendars.Calendar{Fence: 7, PausedUntil: now.Add(time.Hour)}, wait: time.Hour,
		},
		"left alone until a while ago":                 {calendar: calendars.Calendar{Fence: 7, PausedUntil: now.Add(-time.Hour)}, fence: 8},
		"begun by a clock that is minutes ahead of us": {calendar: calendars.Calendar{Fence: 7, StartedAt: now.Add(5 * time.Minute)}, fence: 8},
	} {
		for _, asked := range []bool{true, false} { // requested, or due to be tried again
			c.calendar.SyncPending, c.calendar.SyncAt = asked, now
			updates, fence, again := c.calendar.Claim(now, gap)
			var wait time.Duration
			if !again.IsZero() {
				wait = again.Sub(now)
			}
			if fence != c.fence || wait != c.wait || (updates == nil) != (c.wait > 0 && c.calendar.PausedUntil.IsZero()) {
				t.Errorf("%s: fence %d, wait %v, %d updates", name, fence, wait, len(updates))
			}
		}
	}
}

// A run that nothing calls for does not begin, though something wakes it.
func TestClaim_OfACalendarThatIsNotDue_BeginsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]calendars.Calendar{"nothing to do": {}, "due later": {SyncAt: now.Add(time.Hour)}} {
		if updates, fence, again := c.Claim(now, gap); len(updates) > 0 || fence != 0 || !again.Equal(c.SyncAt) {
			t.Errorf("%s: fence %d, again at %v, %d updates", name, fence, again, len(updates))
		}
	}
}

// A request during a rest is kept, and found by the drain when the rest ends, not before.
// Linking the account again ends the rest.
func TestRequest_DuringARest_RunsWhenItEnds(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	rest := now.Add(time.Hour)
	k.write(func(calendars.Calendar) []store.Update { return []store.Update{calendars.Pause(rest)} })
	k.asked(now)
	updates, fence, again := k.read().Claim(now, gap)
	c := k.write(func(calendars.Calendar) []store.Update { return updates })
	same(t, "fence, again, due, asked", []any{fence, again, c.SyncAt, c.Asked()}, []any{int64(0), rest, rest, true})
	same(t, "due before the end", k.due(rest.Add(-time.Second)), 0)
	same(t, "due at the end", k.due(rest), 1)
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Relinked(request(now.Add(time.Minute))) })
	same(t, "due after relinking", c.SyncAt, now.Add(time.Minute))
	if fence, wait := k.claim(now.Add(time.Minute)); fence == 0 {
		t.Errorf("after relinking the calendar rests for %v", wait)
	}
}

// The end of a run moves the next one, unless one was requested during it; a run that dies is
// followed by another at the end of its lease.
func TestEnd_OfARun_LeavesWhatWasRequestedDuringIt(t *testing.T) {
	t.Parallel()
	later := now.Add(30 * time.Minute)
	for name, end := range map[string]func(c calendars.Calendar) []store.Update{
		"it succeeds":          func(c calendars.Calendar) []store.Update { return c.Succeeded(now.Add(time.Second), "token", 1, later) },
		"it fails":             func(c calendars.Calendar) []store.Update { return c.Failed(now.Add(time.Second), "unavailable", later) },
		"it ends":              func(c calendars.Calendar) []store.Update { return c.Ended(now.Add(time.Second), later) },
		"its program ends":     func(c calendars.Calendar) []store.Update { return c.Abandon(later) },
		"it renews its lease":  func(c calendars.Calendar) []store.Update { return c.Renew(later.Add(-calendars.Lease)) },
		"its account is lost":  calendars.Calendar.Invalidate,
		"nothing, for it died": func(calendars.Calendar) []store.Update { return calendars.InZone("Europe/Zurich") },
	} {
		for _, during := range []bool{false, true} {
			k := open(t)
			k.write(link)
			k.claim(now)
			same(t, name+": due during the run", k.read().SyncAt, now.Add(calendars.Lease))
			same(t, name+": asked during the run", k.read().Asked(), false)
			want := map[string]time.Time{"its account is lost": {}, "nothing, for it died": now.Add(calendars.Lease)}
			due, special := want[name]
			if !special {
				due = later
			}
			if during {
				due = now.Add(time.Millisecond)
				k.asked(due)
			}
			c := k.write(end)
			same(t, fmt.Sprintf("%s, asked during it %t: due, asked", name, during), []any{c.SyncAt, c.Asked()}, []any{due, during})
		}
	}
}

func TestSync_FromClaimToEnd(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	c := k.asked(now)
	same(t, "cause and trace", []string{c.SyncCause, c.SyncTrace}, []string{"push", "trc_1"})

	fence, _ := k.claim(now)
	c = k.read()
	same(t, "holds", []bool{c.Holds(fence), c.Holds(fence - 1), c.Holds(0)}, []bool{true, false, false})
	same(t, "pending", c.SyncPending, false)
	same(t, "lease", c.LeaseUntil, now.Add(calendars.Lease))
	k.asked(now)
	if fence, _ := k.claim(now.Add(time.Minute / 2)); fence != 0 {
		t.Error("a second sync began while the first held the lease")
	}
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Renew(now.Add(time.Minute / 2)) })
	same(t, "lease after a sign of life", c.LeaseUntil, now.Add(time.Minute/2+calendars.Lease))

	// A sync requested during a run stays pending after it.
	k.asked(now.Add(time.Second))
	c = k.write(succeeded(now.Add(time.Minute), "token", 3))
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
	k.write(succeeded(now, "token", 1))
	for i := range 3 {
		at := now.Add(time.Duration(i+1) * time.Hour)
		k.asked(at)
		k.claim(at)
		c := k.write(func(c calendars.Calendar) []store.Update {
			return append(c.Failed(at, "unavailable", at.Add(time.Minute)), c.CountFailure())
		})
		same(t, "token", c.SyncToken, "token")
		same(t, "failing since", c.FailedSince, now.Add(time.Hour))
		same(t, "why", c.LastError, "unavailable")
		same(t, "last good sync", c.SuccessAt, now)
		same(t, "last sync", c.SyncedAt, at)
		same(t, "lease", c.LeaseUntil, time.Time{})
		same(t, "tried again, pending, failures", []any{c.SyncAt, c.SyncPending, c.SyncAttempts}, []any{at.Add(time.Minute), false, int64(i + 1)})
	}
	k.write(func(calendars.Calendar) []store.Update {
		return []store.Update{calendars.Pause(now.Add(9 * time.Hour))}
	})
	c := k.write(succeeded(now.Add(9*time.Hour), "next", 1))
	same(
		t, "failing since, why, left alone until, failures", []any{c.FailedSince, c.LastError, c.PausedUntil, c.SyncAttempts},
		[]any{time.Time{}, "", time.Time{}, int64(0)},
	)
	c = k.write(func(calendars.Calendar) []store.Update { return calendars.ResetToken() })
	same(t, "token after 410", c.SyncToken, "")
	same(t, "last good sync after 410", c.SuccessAt, now.Add(9*time.Hour))
}

func TestSkip_DropsTheRun(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	c := k.write(func(c calendars.Calendar) []store.Update { return c.Skip() })
	same(t, "due, pending", []any{c.SyncAt, c.SyncPending}, []any{time.Time{}, false})
	same(t, "once more", len(c.Skip()), 0)
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
		{"one is linked to another event", func(c calendars.Calendar) []store.Update { return c.Exchange(request(now), "e1") }, 2},
		{"one is unlinked", func(c calendars.Calendar) []store.Update { return c.Unlink("e1") }, 1},
		{"the other", func(c calendars.Calendar) []store.Update { return c.Unlink("e2") }, 0},
		{"one that was not counted", func(c calendars.Calendar) []store.Update { return c.Unlink("e3") }, 0},
		{"an exchange of one that was not counted", func(c calendars.Calendar) []store.Update { return c.Exchange(request(now), "e3") }, 1},
	} {
		c := k.write(step.updates)
		if c.Interests[poll.ConsumerPoll] != step.want || c.Wanted() != (step.want > 0) {
			t.Errorf("%s: %d, wanted %t", step.does, c.Interests[poll.ConsumerPoll], c.Wanted())
		}
	}
	c := k.read()
	same(t, "identity", []string{c.AccountID, c.CalendarID, c.OwnerID, c.Key}, []string{
		account, calendar, "gm", poll.CalendarKey(account, calendar),
	})
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
	c := k.write(func(c calendars.Calendar) []store.Update { return c.Link(request(now), "gm", "google1") })
	same(t, "pending", c.SyncPending, true)
	k.write(func(c calendars.Calendar) []store.Update { return c.Link(request(now), "gm", "google1") })
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Link(request(now), "gm", "google2") })
	same(t, "ids", c.LegacyEventIDs, []string{"google1", "google2"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Exchange(request(now), "google1") })
	same(t, "ids after an exchange", c.LegacyEventIDs, []string{"google2"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Unlink("google2") })
	same(t, "ids after an unlink", c.LegacyEventIDs, []string(nil))
}

func TestDeferredEvents_StayUntilSettledOrUnlinked(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.write(link)
	c := k.write(func(calendars.Calendar) []store.Update {
		return []store.Update{
			calendars.Defer("e2", calendars.DeferredRace, now), calendars.Defer("e1", calendars.DeferredFailed, now),
			calendars.Defer("e3", calendars.DeferredCommand, now),
		}
	})
	same(t, "deferred, sorted", c.DeferredEvents(), []string{"e1", "e2", "e3"})
	same(t, "why", c.Deferred("e2"), calendars.Deferral{At: now, Why: calendars.DeferredRace})
	c = k.write(func(calendars.Calendar) []store.Update { return []store.Update{calendars.Settle("e1")} })
	same(t, "after one is settled", c.DeferredEvents(), []string{"e2", "e3"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Unlink("e2") })
	same(t, "after one is unlinked", c.DeferredEvents(), []string{"e3"})
	c = k.write(func(c calendars.Calendar) []store.Update { return c.Exchange(request(now), "e3") })
	same(t, "after one took another's place", len(c.DeferredEvents()), 0)
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
	same(t, "due", k.due(now), 1)
	k.claim(now)
	same(t, "due after the claim", k.due(now), 0)
	same(t, "leased", list(calendars.Leased(t.Context(), k.documents, now)), 1)
	same(t, "leased when the lease is over", list(calendars.Leased(t.Context(), k.documents, now.Add(calendars.Lease))), 0)
	k.write(func(c calendars.Calendar) []store.Update { return c.Abandon(now) })
	same(t, "due after it was given back", k.due(now), 1)
	same(t, "leased after it was given back", list(calendars.Leased(t.Context(), k.documents, now)), 0)
	followed, _, err := calendars.Followed(t.Context(), k.documents, store.Paging{Limit: 10})
	same(t, "followed", list(followed, err), 1)
	same(t, "of their owner", list(calendars.OfOwner(t.Context(), k.documents, "gm")), 1)
	same(t, "of somebody else", list(calendars.OfOwner(t.Context(), k.documents, "ana")), 0)
	k.write(func(c calendars.Calendar) []store.Update { return c.Unlink("e1") })
	followed, _, err = calendars.Followed(t.Context(), k.documents, store.Paging{Limit: 10})
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
		k.write(succeeded(at, "token", 1))
	}
	same(t, "the first, which follows none", sweep(now), int64(0))
	same(t, "one without a sync since", sweep(now.Add(time.Hour)), int64(0))
	syncAt(now.Add(2 * time.Hour))
	same(t, "one with a sync since", sweep(now.Add(3*time.Hour)), int64(1))
	syncAt(now.Add(4 * time.Hour))
	same(t, "another", sweep(now.Add(5*time.Hour)), int64(2))
	syncAt(now.Add(6 * time.Hour))
	k.write(func(c calendars.Calendar) []store.Update {
		return c.Failed(now.Add(7*time.Hour), "unavailable", time.Time{})
	})
	same(t, "one while syncs fail", sweep(now.Add(8*time.Hour)), int64(0))
}

// What was wrong with a calendar that nothing followed was never taken off it, and
// says nothing of a poll that follows it from now on.
func TestLink_OfAnUnfollowedCalendar_ClearsItsFailure(t *testing.T) {
	t.Parallel()
	failed := calendars.Calendar{Key: "k", FailedSince: time.Unix(1, 0), LastError: calendars.ReasonRevoked, LinkedAt: time.Unix(1, 0)}
	forgets := func(c calendars.Calendar) bool {
		return slices.ContainsFunc(c.Link(request(time.Unix(2, 0)), "gm", ""), func(u store.Update) bool {
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
		c.SyncAt = now
		if _, fence, again := c.Claim(now, gap); fence == 0 {
			t.Errorf("%s: again at %s", name, again)
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
