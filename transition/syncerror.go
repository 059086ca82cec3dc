package transition

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// errorMessages are for the creator; each says what to do next.
var errorMessages = map[rules.ErrorCode]string{
	rules.TokenExpired:     "Calendar sync paused. Re-link your calendar in Settings to resume.",
	rules.CalendarUnlinked: "The calendar of this session is no longer linked. Link it in Settings to resume the sync.",
	rules.CalendarLost: "The calendar of this session is gone or no longer shared. Share it with your account again, " +
		"or finalise the poll anew in another calendar.",
	rules.WatchFailed: "Changes in the calendar may show here with a delay of some hours. You need not do anything; " +
		"it is tried again.",
	rules.SyncFailed: "The calendar event could not be read. It is tried again; if this stays, open the event in " +
		"your calendar and check it.",
	rules.MassCancellationHeld: "Many events of this calendar are gone at once. Confirm on the sync page that the sessions are " +
		"cancelled, or restore the events.",
	rules.RecurringUnsupported: "The calendar event became a recurring one, which is not followed. Make it a single event " +
		"again, or finalise the poll anew.",
	rules.UnreadableEvent: "The calendar event has no time that can be read. Give it a start and an end again, or " +
		"finalise the poll anew.",
}

func syncError(code rules.ErrorCode, at time.Time) *poll.SyncError {
	return &poll.SyncError{At: at, Code: code, Message: errorMessages[code]}
}

// SetError shows on the poll that its sync fails. Its status stays, and so does a reschedule.
func (s *Step) SetError(code rules.ErrorCode) {
	p := s.Poll
	p.UpdatedAt = s.Now
	s.checked(p, rules.Warn, string(code))
}

// ClearError takes the error off the poll. What is wrong with the event itself may
// have had to stand back, so the event is fetched individually.
func (s *Step) ClearError(code rules.ErrorCode) {
	if s.Entry != nil {
		s.Ask(s.Entry.EventID)
	}
	p := s.Poll
	p.UpdatedAt = s.Now
	s.checked(p, rules.Clear, string(code)+" is over")
}

// showHeld writes on a poll that follows its event again, after the entry of that,
// that the event's cancellation is held.
func (s *Step) showHeld() { s.checked(*s.After, rules.Warn, string(rules.MassCancellationHeld)) }

func (s *Step) checked(p poll.Poll, action rules.Action, reason string) {
	entry := s.entry()
	entry.EventID, entry.CalendarID, entry.Before, entry.After = p.GoogleEventID, p.GoogleCalendarID, p.Sync.Applied, p.Sync.Applied
	entry.Decision, entry.Reason = action, reason
	s.record(SyncChecked(p, entry), entry, s.Winning, false)
}
