package feed

import (
	"math"
	"net/url"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// sessionOf is the entry of a poll whose winning slot is slot.
func sessionOf(p poll.Poll, slot poll.Slot, appURL string) Session {
	session := Session{
		PollID: p.ID, Title: p.Title, Description: p.Description,
		Start: slot.Start, End: slot.End, AllDay: slot.AllDay,
		Cancelled: p.Status == rules.Cancelled, Sequence: sequence(p), Changed: changedAt(p),
	}
	if appURL != "" {
		session.URL = strings.TrimSuffix(appURL, "/") + "/scheduler/" + url.PathEscape(p.ID)
	}
	return session
}

// tentative is the session as the feed of a person who is only named shows it: nothing that a
// stranger wrote but the title.
func (s Session) tentative() Session {
	s.Tentative, s.Description = true, ""
	return s
}

// sequenceBegin is before the first poll, so that sequences are small.
var sequenceBegin = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// sequence is the SEQUENCE of a poll's session. No count of a poll grows with moves, but its last
// journal entry is always later than the one before, whatever the clock says: the sequence is
// that time in seconds, plus the generation, which grows with finalisations and cancellations
// within a second. Moves come from syncs of the calendar, at most one a second. The seconds fit
// the 32 bits of RFC 5545 until 2088.
func sequence(p poll.Poll) int {
	at := p.Sync.Recorded.At
	if at.IsZero() { // the journal does not know the poll yet
		at = changedAt(p)
	}
	return int(min(max(0, at.Unix()-sequenceBegin.Unix()+p.Sync.Generation), math.MaxInt32))
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
