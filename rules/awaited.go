package rules

import "time"

// AwaitFor is for how long an event is awaited whose deletion cancelled its poll:
// Google keeps deleted events in the bin for about as long.
const AwaitFor = 30 * 24 * time.Hour

// awaits tells whether the observation is of the event that the poll awaits, and
// not older than what is known of it.
func (s situation) awaits() bool {
	p := s.poll
	open := p.Status == Cancelled || p.Status == Finalized && p.Link.Event == ""
	return open && p.Awaited.Event != "" && s.seen.Link == p.Awaited && !s.now.After(p.AwaitedUntil) && !s.older()
}

// older tells whether the observation is older than the one applied last. A
// deletion is final however old.
func (s situation) older() bool {
	return s.seen.Seen != Gone && Older(s.seen.Updated, s.poll.AppliedUpdated)
}

// revived is the situation with the poll linked again, as it was before the
// cancellation.
func (s situation) revived() situation {
	p := s.poll
	p.Status, p.Link, p.Awaited, p.AwaitedUntil = Finalized, p.Awaited, Link{}, time.Time{}
	p.State, p.Error = Recovered(p), ""
	s.poll = p
	return s
}
