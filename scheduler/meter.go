package scheduler

import (
	"time"

	"questscheduler/rules"
)

// The events of this package, as its Meter counts them.
type (
	// Transition says that the calendar changed a poll.
	Transition struct{ Action rules.Action }
	// Behind says that a transition was applied Late after the calendar itself changed (the
	// event's `updated`, which Google need not give for a deleted event).
	Behind struct {
		Action rules.Action
		Late   time.Duration
	}
	// Commanded says that a person's command changed a poll.
	Commanded struct{ Command rules.Command }
	// SyncError says that a poll began to show an error of its sync.
	SyncError struct{ Code rules.ErrorCode }
	// Repaired says that a poll that was edited directly was repaired.
	Repaired struct{ Repair rules.Repair }
)

// meterApplied counts the outcome of an observation. An observation by a command is
// never late: the person has just changed the event.
func (s *Service) meterApplied(result Applied, observed ObservedEvent) {
	action := result.Decision.Action
	s.Meter.Count(Transition{action})
	if action == rules.Warn {
		s.Meter.Count(SyncError{result.Decision.Error})
	}
	moves := action == rules.Cancel || action == rules.Reschedule || action == rules.RescheduleAgain ||
		action == rules.Restore || action == rules.Revive
	if moves && !observed.Own && !observed.Confirmed && !observed.Updated.IsZero() {
		s.Meter.Count(Behind{action, s.Now().Sub(observed.Updated)})
	}
}
