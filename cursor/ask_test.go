package cursor_test

import (
	"testing"

	"questscheduler/cursor"
)

func TestAsk_LeavesWhatWaitsForAPersonsWord(t *testing.T) {
	t.Parallel()
	for reason, asks := range map[string]bool{
		"": true, cursor.PendingFailed: true, cursor.PendingCommand: true, cursor.PendingRace: true,
		cursor.PendingHeld: false, cursor.PendingConfirmed: false,
	} {
		calendar := cursor.Calendar{Pending: map[string]string{}}
		if reason != "" {
			calendar.Pending["e"] = reason
		}
		if got := len(calendar.Ask("e")) > len(cursor.Owe()); got != asks {
			t.Errorf("waiting for %q: asked for = %v, want %v", reason, got, asks)
		}
	}
}

func TestSettled_KeepsWhatWasAskedForAnew(t *testing.T) {
	t.Parallel()
	began := cursor.Calendar{Pending: map[string]string{"e": cursor.PendingCommand, "f": cursor.PendingFailed}}
	now := cursor.Calendar{Pending: map[string]string{"e": cursor.PendingHeld, "f": cursor.PendingFailed}}
	if got := now.Settled(began, []string{"e", "f"}); len(got) != 1 || got[0].Path.String() != "pendingLooks.f" {
		t.Errorf("settled %v, want f alone", got)
	}
	now.LookDue = true // something was asked for since the look began
	if got := now.Settled(began, []string{"f"}); len(got) != 0 {
		t.Errorf("settled %v although a look is owed", got)
	}
}
