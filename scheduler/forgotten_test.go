package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// A sweep reads no more of a poll of which this is true.
func TestForgotten_SaysOnlyWhatPollAndSlotTell(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	played := rules.Timed(now.AddDate(0, 0, -40), now.AddDate(0, 0, -40).Add(4*time.Hour))
	lately := rules.Timed(now.AddDate(0, 0, -20), now.AddDate(0, 0, -20).Add(4*time.Hour))
	for name, row := range map[string]struct {
		change func(p *poll.Poll)
		slot   rules.Fingerprint
		want   bool
	}{
		"a session long past": {want: true},
		"its slot is later":   {slot: lately},
		"its event was later": {change: func(p *poll.Poll) { p.Sync.Applied = lately }},
		"no event, and its slot is later": {slot: lately, change: func(p *poll.Poll) {
			p.GoogleEventID, p.Sync.Recorded.EventID = "", ""
		}},
		"no state of a sync":       {change: func(p *poll.Poll) { p.Sync = poll.Sync{} }},
		"it awaits its event":      {change: func(p *poll.Poll) { p.Sync.Awaited = &poll.Awaited{} }},
		"another slot wins":        {change: func(p *poll.Poll) { p.WinningSlotID = "other" }},
		"a mark of a cancellation": {change: func(p *poll.Poll) { p.HasCancelledAt = true }},
		"a move to a time that was over then": {change: func(p *poll.Poll) {
			p.Sync.Rescheduled = &poll.Rescheduled{MovedAt: now.AddDate(0, 0, -35)}
		}},
	} {
		p := poll.Poll{
			ID: "poll", Status: rules.Finalized, WinningSlotID: "slot", GoogleEventID: "event", FinalizedAt: now.AddDate(0, 0, -50),
			Sync: poll.Sync{
				State: rules.StateOK, Applied: played, Baseline: played,
				Recorded: poll.Recorded{At: now.AddDate(0, 0, -50), Status: rules.Finalized, WinningSlotID: "slot", EventID: "event"},
			},
		}
		if row.change != nil {
			row.change(&p)
		}
		slot := played
		if !row.slot.IsZero() {
			slot = row.slot
		}
		if got := scheduler.Forgotten(p, poll.SlotAt("slot", slot), now); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
