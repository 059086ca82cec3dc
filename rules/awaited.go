package rules

import "time"

// AwaitFor is how long to await the event whose deletion cancelled its poll. Google keeps
// deleted events in the bin for about as long.
const AwaitFor = 30 * 24 * time.Hour

// awaits reports whether the observation is of the poll's awaited event, and not
// outdated.
func (s situation) awaits() bool {
	p := s.poll
	open := p.Status == Cancelled || p.Status == Finalized && p.Link.Event == ""
	return open && p.Awaited.Event != "" && s.observed.Link == p.Awaited && !s.now.After(p.AwaitedUntil) && !s.older()
}

// older reports whether the observation is older than the one last applied. A deletion is
// final however old.
func (s situation) older() bool {
	return s.observed.EventState != Gone && Older(s.observed.Updated, s.poll.AppliedUpdated)
}

// revived is the situation with the poll linked again as before the cancellation.
func (s situation) revived() situation {
	p := s.poll
	p.Status, p.Link, p.Awaited, p.AwaitedUntil = Finalized, p.Awaited, Link{}, time.Time{}
	p.State, p.Error = Recovered(p), ""
	s.poll = p
	return s
}
