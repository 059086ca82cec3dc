package calendars_test

import (
	"testing"

	"questscheduler/internal/calendars"
)

func TestAsk_LeavesWhatWaitsForAPersonsWord(t *testing.T) {
	t.Parallel()
	for reason, asks := range map[string]bool{
		"": true, calendars.PendingFailed: true, calendars.PendingCommand: true, calendars.PendingRace: true,
		calendars.PendingHeld: false, calendars.PendingConfirmed: false,
	} {
		calendar := calendars.Calendar{Pending: map[string]string{}}
		if reason != "" {
			calendar.Pending["e"] = reason
		}
		if got := len(calendar.Ask("e")) > len(calendars.Owe()); got != asks {
			t.Errorf("waiting for %q: asked for = %v, want %v", reason, got, asks)
		}
	}
}

func TestSettled_KeepsWhatWasAskedForAnew(t *testing.T) {
	t.Parallel()
	began := calendars.Calendar{Pending: map[string]string{"e": calendars.PendingCommand, "f": calendars.PendingFailed}}
	now := calendars.Calendar{Pending: map[string]string{"e": calendars.PendingHeld, "f": calendars.PendingFailed}}
	if got := now.Settled(began, []string{"e", "f"}); len(got) != 1 || got[0].Path.String() != "pendingLooks.f" {
		t.Errorf("settled %v, want f alone", got)
	}
	now.LookDue = true // something was asked for since the look began
	if got := now.Settled(began, []string{"f"}); len(got) != 0 {
		t.Errorf("settled %v although a look is owed", got)
	}
}
