package rules

import "time"

// How long after its end a session is past, so that its event decides nothing
// any more, and after which it is forgotten.
const (
	PastAfter   = 24 * time.Hour
	ForgetAfter = 30 * 24 * time.Hour
)

// Over tells whether a poll's session ended longer than d before now.
func (p Poll) Over(now time.Time, d time.Duration) bool {
	end, known := p.Ends()
	return known && end.Before(now.Add(-d))
}

// Ends is when a poll's session ends: the end of the time applied last, but not
// before the poll was finalised. An event that is dragged into the past ends
// nothing: where the applied time was over when it was applied, the baseline, the
// slot from before the reschedule and the last timely move count. known is false where the poll has no
// time at all.
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

// sessionTimes are the times of which the latest ends the session.
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

// AppliedLate tells whether the calendar's time was over already when it was
// applied. Ends needs Original only then.
func (p Poll) AppliedLate() bool {
	return p.Rescheduled && !p.Applied.IsZero() && !p.Applied.EndTime().After(p.MovedAt)
}

// pastFor tells whether the session ended longer than d ago, so that the
// observation decides nothing. A person's command counts at any time.
func (s situation) pastFor(d time.Duration) bool {
	return !s.seen.Asked && s.poll.Over(s.now, d) && !s.movedInTime(d)
}

// movedInTime tells whether the event was moved to a time that is not over while
// the session still counted: an outage delayed the observation, and people wait
// for the new time. An event linked before this backend has no `updated` to
// compare with: where it stands now is the first that is known of it.
func (s situation) movedInTime(d time.Duration) bool {
	at := s.seen.Fingerprint
	if s.seen.Seen != Present || at.IsZero() || at.EndTime().Before(s.now.Add(-d)) {
		return false
	}
	return s.poll.Applied.IsZero() || !s.seen.Updated.IsZero() && !s.poll.Over(s.seen.Updated, d)
}
