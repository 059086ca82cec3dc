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
	if got := now.Settled(began, []string{"e", "f"}); len(got) != 1 || got[0].Path.String() != "pendingLooks.f" {
		t.Errorf("settled %v, want f alone", got)
	}
	now.SyncPending = true // something was asked for since the sync began
	if got := now.Settled(began, []string{"f"}); len(got) != 0 {
		t.Errorf("settled %v although a sync is pending", got)
	}
}
