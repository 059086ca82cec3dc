package scheduler

import (
	"time"

	"questscheduler/rules"
)

// Meter counts what happens here, after the commit. An implementation must not block or fail.
type Meter interface {
	// Transition: what the calendar says changed a poll.
	Transition(action rules.Action)
	// Behind: how long after the calendar's change (the event's `updated`, if Google gives it)
	// a transition was applied.
	Behind(action rules.Action, late time.Duration)
	// Commanded: a person's command changed a poll.
	Commanded(command rules.Command)
	// SyncError: a poll shows an error of its sync that it did not show before.
	SyncError(code rules.ErrorCode)
	// Mended: a poll that was written directly was set right.
	Mended(mending rules.Mending)
}

// unmetered is the Meter of who counts nothing.
type unmetered struct{}

func (unmetered) Transition(rules.Action)            {}
func (unmetered) Behind(rules.Action, time.Duration) {}
func (unmetered) Commanded(rules.Command)            {}
func (unmetered) SyncError(rules.ErrorCode)          {}
func (unmetered) Mended(rules.Mending)               {}

func (s *Service) meter() Meter {
	if s.Meter == nil {
		return unmetered{}
	}
	return s.Meter
}

// meterApplied counts what an observation came to. What a command saw is not
// late: the person just changed the event by it.
func (s *Service) meterApplied(result Applied, observed Observed) {
	action := result.Decision.Action
	s.meter().Transition(action)
	if action == rules.Warn {
		s.meter().SyncError(result.Decision.Error)
	}
	moves := action == rules.Cancel || action == rules.Reschedule || action == rules.RescheduleAgain || action == rules.Restore || action == rules.Revive
	if moves && !observed.Own && !observed.Confirmed && !observed.Updated.IsZero() {
		s.meter().Behind(action, s.Now().Sub(observed.Updated))
	}
}
