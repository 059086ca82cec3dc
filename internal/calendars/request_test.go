package calendars_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
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
