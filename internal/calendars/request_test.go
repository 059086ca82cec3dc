package calendars_test

import (
	"testing"

	"questscheduler/internal/calendars"
)

func TestRequestFetch_LeavesHeldEventsAlone(t *testing.T) {
	t.Parallel()
	for reason, asks := range map[string]bool{
		"": true, calendars.DeferredFailed: true, calendars.DeferredCommand: true, calendars.DeferredRace: true,
		calendars.DeferredHeld: false, calendars.DeferredConfirmed: false,
	} {
		calendar := calendars.Calendar{Deferred: map[string]string{}}
		if reason != "" {
			calendar.Deferred["e"] = reason
		}
		if got := len(calendar.RequestFetch(request(now), "e")) > len(calendars.RequestSync(request(now))); got != asks {
			t.Errorf("waiting for %q: asked for = %v, want %v", reason, got, asks)
		}
	}
}

func TestSettled_KeepsNewRequests(t *testing.T) {
	t.Parallel()
	began := calendars.Calendar{Deferred: map[string]string{"e": calendars.DeferredCommand, "f": calendars.DeferredFailed}}
	now := calendars.Calendar{Deferred: map[string]string{"e": calendars.DeferredHeld, "f": calendars.DeferredFailed}}
	if got := now.Settled(began, []string{"e", "f"}); len(got) != 1 || got[0].Path.String() != "deferredEvents.f" {
		t.Errorf("settled %v, want f alone", got)
	}
	now.SyncPending = true // something was asked for since the sync began
	if got := now.Settled(began, []string{"f"}); len(got) != 0 {
		t.Errorf("settled %v although a sync is pending", got)
	}
}

// Pushes come as long as anything changes, also by our own writes: a listing that they repeated
// would be repeated for as long.
func TestProgressed_APushSince_KeepsNoListing(t *testing.T) {
	t.Parallel()
	at := now.Add(-1)
	for trigger, stays := range map[string]bool{"": false, calendars.TriggerPush: false, "follow": true} {
		began := calendars.Calendar{
			Interests: map[string]int64{"mirrors": 1}, Deferred: map[string]string{"e": calendars.DeferredFailed},
			Backlogs: map[string]calendars.Backlog{"mirrors": {Relist: at}},
		}
		ended := began
		ended.SyncPending, ended.SyncCause = trigger != "", trigger
		updates, _ := ended.Progressed(began, "mirrors", calendars.Progress{Relisted: true}, now)
		if kept := len(updates) == 0; kept != stays {
			t.Errorf("requested by %q: the listing stays = %v, want %v", trigger, kept, stays)
		}
		if kept := len(ended.Settled(began, []string{"e"})) == 0; kept != stays {
			t.Errorf("requested by %q: the fetch stays = %v, want %v", trigger, kept, stays)
		}
	}
}
