package calendars_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// deferred is a calendar with events that are deferred for polls, by id and reason.
func deferred(reasons map[string]string) calendars.Calendar {
	c := calendars.Calendar{Backlogs: map[string]calendars.Backlog{poll.ConsumerPoll: {Deferred: map[string]calendars.Deferral{}}}}
	for eventID, why := range reasons {
		c.Backlogs[poll.ConsumerPoll].Deferred[eventID] = calendars.Deferral{At: now.Add(-time.Hour), Why: why}
	}
	return c
}

func TestRequestFetch_LeavesHeldEventsAlone(t *testing.T) {
	t.Parallel()
	for reason, asks := range map[string]bool{
		"": true, calendars.DeferredFailed: true, calendars.DeferredCommand: true, calendars.DeferredRace: true,
		calendars.DeferredHeld: false, calendars.DeferredConfirmed: false,
	} {
		calendar := deferred(map[string]string{"e": reason})
		if got := len(calendar.RequestFetch(request(now), "e")) > len(calendars.RequestSync(request(now))); got != asks {
			t.Errorf("waiting for %q: asked for = %v, want %v", reason, got, asks)
		}
	}
}

func TestProgressed_KeepsNewRequests(t *testing.T) {
	t.Parallel()
	began := deferred(map[string]string{"e": calendars.DeferredCommand, "f": calendars.DeferredFailed, "g": calendars.DeferredCommand})
	ended := deferred(map[string]string{"e": calendars.DeferredHeld, "f": calendars.DeferredFailed})
	ended.Backlogs[poll.ConsumerPoll].Deferred["g"] = calendars.Deferral{At: now, Why: calendars.DeferredCommand}
	settled := calendars.Progress{Settled: []string{"e", "f", "g"}}
	if got, _ := ended.Progressed(began, poll.ConsumerPoll, settled, now); len(got) != 1 || got[0].Path.String() != "deferred.poll.f" {
		t.Errorf("settled %v, want f alone", got)
	}
	ended.SyncPending = true // something was asked for since the sync began
	if got, _ := ended.Progressed(began, poll.ConsumerPoll, settled, now); len(got) != 0 {
		t.Errorf("settled %v although a sync is pending", got)
	}
}

// What was requested and fails counts as failing from then on, since when it waits; what awaits a
// person, or was requested again during the run, keeps its reason.
func TestProgressed_RequestedEventThatFails_CountsAsFailing(t *testing.T) {
	t.Parallel()
	reasons := map[string]string{}
	for _, why := range []string{
		calendars.DeferredFailed, calendars.DeferredRace, calendars.DeferredCommand, calendars.DeferredMoved, calendars.DeferredMissing,
		calendars.DeferredConfirmed,
	} {
		reasons[why] = why
	}
	reasons["again"] = calendars.DeferredCommand
	began, ended := deferred(reasons), deferred(reasons)
	ended.Backlogs[poll.ConsumerPoll].Deferred["again"] = calendars.Deferral{At: now, Why: calendars.DeferredCommand}
	failed := slices.Sorted(maps.Keys(reasons))
	updates, left := ended.Progressed(began, poll.ConsumerPoll, calendars.Progress{Deferred: failed, Failed: failed}, now)
	for was, is := range map[string]string{
		calendars.DeferredFailed: calendars.DeferredFailed, calendars.DeferredRace: calendars.DeferredFailed,
		calendars.DeferredCommand: calendars.DeferredFailed, calendars.DeferredMoved: calendars.DeferredFailed,
		calendars.DeferredMissing: calendars.DeferredMissing, calendars.DeferredConfirmed: calendars.DeferredConfirmed,
		"again": calendars.DeferredCommand,
	} {
		if got := left.Deferred[was]; got.Why != is || was != "again" && !got.At.Equal(now.Add(-time.Hour)) {
			t.Errorf("%s: waits as %+v, want %s", was, got, is)
		}
	}
	if len(updates) != 3 {
		t.Errorf("it writes %v, want the three that changed", updates)
	}
}

// What is held awaits a person, whatever a run sees of it, and stays when the others do not fit.
func TestProgressed_KeepsWhatIsHeld(t *testing.T) {
	t.Parallel()
	c := deferred(map[string]string{
		"held": calendars.DeferredHeld, "confirmed": calendars.DeferredConfirmed, "failed": calendars.DeferredFailed,
	})
	if got, left := c.Progressed(
		c, poll.ConsumerPoll, calendars.Progress{Settled: []string{"held"}}, now,
	); len(got) != 0 || len(left.Deferred) != 3 {
		t.Errorf("applied: %v, left %v", got, left)
	}
	got, left := c.Progressed(c, poll.ConsumerPoll, calendars.Progress{Overflow: true}, now)
	if _, isHeld := left.Deferred["held"]; !isHeld || len(left.Deferred) != 2 || !left.Relist.Equal(now) {
		t.Errorf("where others are left out: %v, left %v", got, left)
	}
}

// The wait grows with the age of the last of a backlog.
func TestBacklog_IsTriedAgain_AfterAsLongAsItWaited(t *testing.T) {
	t.Parallel()
	since := func(age time.Duration) calendars.Backlog {
		return calendars.Backlog{Deferred: map[string]calendars.Deferral{
			"e": {At: now.Add(-age), Why: calendars.DeferredFailed}, "older": {At: now.Add(-9 * time.Hour)},
			"held": {At: now, Why: calendars.DeferredHeld},
		}}
	}
	for name, c := range map[string]struct {
		backlog  calendars.Backlog
		recovers bool
		want     time.Duration
	}{
		"none":               {want: 0},
		"held alone":         {backlog: calendars.Backlog{Deferred: map[string]calendars.Deferral{"e": {At: now, Why: calendars.DeferredHeld}}}},
		"just now":           {backlog: since(0), want: time.Second},
		"ten seconds":        {backlog: since(10 * time.Second), want: 10 * time.Second},
		"a day":              {backlog: since(24 * time.Hour), want: time.Hour},
		"some was applied":   {backlog: since(0), recovers: true, want: time.Minute},
		"all must be listed": {backlog: calendars.Backlog{Relist: now}, want: time.Minute},
	} {
		if got := c.backlog.Retry(now, c.recovers); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Pushes come as long as anything changes, also by our own writes: a listing that they repeated
// would be repeated for as long.
func TestProgressed_APushSince_KeepsNoListing(t *testing.T) {
	t.Parallel()
	at := now.Add(-1)
	for trigger, stays := range map[string]bool{"": false, calendars.TriggerPush: false, "follow": true} {
		began := calendars.Calendar{
			Interests: map[string]int64{"mirrors": 1}, Backlogs: map[string]calendars.Backlog{"mirrors": {Relist: at}},
		}
		ended := began
		ended.SyncPending, ended.SyncCause = trigger != "", trigger
		updates, _ := ended.Progressed(began, "mirrors", calendars.Progress{Relisted: true}, now)
		if kept := len(updates) == 0; kept != stays {
			t.Errorf("requested by %q: the listing stays = %v, want %v", trigger, kept, stays)
		}
	}
}

// Each row is a calendar for which a run is planned in ten minutes, or not.
func TestPlanSync_LeavesAloneWhatIsDueOrRests(t *testing.T) {
	t.Parallel()
	at := now.Add(10 * time.Minute)
	wanted := map[string]int64{poll.ConsumerPoll: 1}
	for name, row := range map[string]struct {
		calendar calendars.Calendar
		plans    bool
	}{
		"idle":                       {calendars.Calendar{Interests: wanted}, true},
		"due later":                  {calendars.Calendar{Interests: wanted, SyncAt: at.Add(time.Second)}, true},
		"whose rest is over by then": {calendars.Calendar{Interests: wanted, PausedUntil: at}, true},
		"due then":                   {calendars.Calendar{Interests: wanted, SyncAt: at}, false},
		"asked for":                  {calendars.Calendar{Interests: wanted, SyncAt: at.Add(time.Hour), SyncPending: true}, false},
		"that rests":                 {calendars.Calendar{Interests: wanted, PausedUntil: at.Add(time.Second)}, false},
		"that fails":                 {calendars.Calendar{Interests: wanted, FailedSince: now}, false},
		"that nothing follows":       {calendars.Calendar{}, false},
	} {
		updates := row.calendar.PlanSync(calendars.Request{At: at, Trigger: "sweep", Trace: "trc"})
		if (len(updates) > 0) != row.plans {
			t.Errorf("a calendar %s: %v", name, updates)
		}
	}
}

// A planned run begins at its time and not before, with the plan's cause, and a push before it takes
// its place.
func TestPlanSync_BeginsAtItsTime(t *testing.T) {
	t.Parallel()
	k, at := open(t), now.Add(10*time.Minute)
	k.write(func(c calendars.Calendar) []store.Update { return c.Link(request(now), "gm", "") })
	k.write(func(c calendars.Calendar) []store.Update { return c.Skip() })
	planned := k.write(func(c calendars.Calendar) []store.Update {
		return c.PlanSync(calendars.Request{At: at, Trigger: "sweep", Trace: "trc"})
	})
	same(t, "cause and trace", planned.SyncCause+" "+planned.SyncTrace, "sweep trc")
	_, fence, again := planned.Claim(at.Add(-time.Second), gap)
	same(t, "before its time", []any{fence, again.Equal(at)}, []any{int64(0), true})
	_, fence, _ = planned.Claim(at, gap)
	same(t, "fence", fence, planned.Fence+1)
	k.write(func(calendars.Calendar) []store.Update { return calendars.RequestSync(request(now)) })
	k.write(func(c calendars.Calendar) []store.Update {
		updates, _, _ := c.Claim(now, gap)
		return updates
	})
	ended := k.write(func(c calendars.Calendar) []store.Update { return c.Succeeded(now, "token", 1, time.Time{}) })
	same(t, "planned after another run", ended.SyncAt.IsZero(), true)
}
