package rules

import "time"

// How long after its end a session is past, so that its event no longer decides anything, and
// when it is forgotten.
const (
	PastAfter   = 24 * time.Hour
	ForgetAfter = 30 * 24 * time.Hour
)

// Over reports whether a poll's session ended longer than d before now.
func (p Poll) Over(now time.Time, d time.Duration) bool {
	end, known := p.Ends()
	return known && end.Before(now.Add(-d))
}

// Ends is when a poll's session ends: the end of the time applied last, but not before
// the poll was finalised. If that time was already over when applied (an event dragged
// into the past), the baseline, the slot from before the reschedule and the last timely
// move count. known is false if the poll has no time.
func (p Poll) Ends() (end time.Time, known bool) {
	end = p.FinalizedAt
	for _, counts := range p.sessionTimes() {
		if counts.IsZero() {
			continue
		}
		known = true
		if counts.EndTime().After(end) {
			end = counts.EndTime()
		}
	}
	return end, known
}

// sessionTimes are the times whose latest end ends the session.
func (p Poll) sessionTimes() []Fingerprint {
	switch {
	case p.AppliedLate():
		return []Fingerprint{p.Baseline, p.Original, p.Timely}
	case p.Rescheduled && !p.Applied.IsZero():
		return []Fingerprint{p.Applied}
	default: // the event may have been made shorter than its slot
		return []Fingerprint{p.Applied, p.Baseline, p.Winning}
	}
}

// AppliedLate reports whether the calendar's time was already over when applied. Only
// then does Ends need Original.
func (p Poll) AppliedLate() bool {
	return p.Rescheduled && !p.Applied.IsZero() && !p.Applied.EndTime().After(p.MovedAt)
}

// pastFor reports whether the session ended longer than d ago, so that the observation
// decides nothing. A person's command always counts.
func (s situation) pastFor(d time.Duration) bool {
	return !s.observed.Asked && s.poll.Over(s.now, d) && !s.movedInTime(d)
}

// movedInTime reports whether the event was moved, while the session still counted, to a
// time that is not over: an outage delayed the observation, and people expect the new
// time. The first observation of an event from before this backend always counts, having
// no `updated` to compare.
func (s situation) movedInTime(d time.Duration) bool {
	at := s.observed.Fingerprint
	if s.observed.EventState != Present || at.IsZero() || at.EndTime().Before(s.now.Add(-d)) {
		return false
	}
	return s.poll.Applied.IsZero() || !s.observed.Updated.IsZero() && !s.poll.Over(s.observed.Updated, d)
}
