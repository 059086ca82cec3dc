package scheduler

import (
	"time"

	"questscheduler/rules"
)

// Meter is told what the figures of this package are made of. An implementation
// holds nothing up, and does nothing that could fail. It is told after the commit, so
// never of what was taken back.
type Meter interface {
	// Transition: what the calendar says changed a poll.
	Transition(action rules.Action)
	// Behind: a transition was applied so long after the calendar itself
	// changed (the event's `updated`, which Google need not give of a deleted
	// one).
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
func (s *Service) meterApplied(result Applied, seen Observed) {
	action := result.Decision.Action
	s.meter().Transition(action)
	if action == rules.Warn {
		s.meter().SyncError(result.Decision.Error)
	}
	moves := action == rules.Cancel || action == rules.Reschedule || action == rules.RescheduleAgain || action == rules.Restore || action == rules.Revive
	if moves && !seen.Own && !seen.Confirmed && !seen.Updated.IsZero() {
		s.meter().Behind(action, s.Now().Sub(seen.Updated))
	}
}
