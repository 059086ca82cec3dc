package feed

import (
	"math"
	"net/url"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// sessionOf is the entry at a time of a poll whose winning slot is slot.
func sessionOf(p poll.Poll, slot poll.Slot, appURL string, now time.Time) Session {
	session := Session{
		PollID: p.ID, Title: p.Title, Description: p.Description,
		Start: slot.Start, End: slot.End, AllDay: slot.AllDay,
		Cancelled: p.Status == rules.Cancelled, Sequence: int(min(p.Sequence(now)+1, math.MaxInt32)), Changed: changedAt(p),
	}
	if appURL != "" {
		session.URL = strings.TrimSuffix(appURL, "/") + "/scheduler/" + url.PathEscape(p.ID)
	}
	return session
}

// tentative is the session as the feed of a person who is only named shows it: nothing that a
// stranger wrote but the title. Its sequence is less, so that it grows when the person consents, which
// is no change of the poll.
func (s Session) tentative() Session {
	s.Tentative, s.Description = true, ""
	s.Sequence--
	return s
}

// changedAt is the last stored time at which the poll changed.
func changedAt(p poll.Poll) time.Time {
	last := p.CreatedAt
	for _, at := range []time.Time{p.UpdatedAt, p.Sync.Recorded.At} {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// cancelledAt is when a cancelled poll was cancelled. The web app may leave the status alone to
// say so.
func cancelledAt(p poll.Poll) time.Time {
	switch {
	case p.Cancelled != nil && !p.Cancelled.At.IsZero():
		return p.Cancelled.At
	case p.Sync.Cancelled != nil && !p.Sync.Cancelled.At.IsZero():
		return p.Sync.Cancelled.At
	default:
		return changedAt(p)
	}
}
