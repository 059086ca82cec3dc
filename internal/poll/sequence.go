package poll

import (
	"math"
	"time"
)

// sequenceBegin is before the first poll, so that sequences are small.
var sequenceBegin = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Sequence is the SEQUENCE (RFC 5545) of the poll's session in calendar feeds. It grows with each
// journal entry, with each edit of title or description through this server, and by one with a
// direct edit until that is repaired, whose entry makes it grow again. It fits 32 bits until 2088.
// now serves to ignore the time of an edit that is still to come: clients may write any.
func (p Poll) Sequence(now time.Time) int64 {
	sequence := max(p.Sync.Sequence, p.sequenceByTime(now))
	if p.EditedDirectly() {
		sequence++
	}
	return min(sequence, math.MaxInt32)
}

// sequenceByTime is the least sequence: the seconds since 2020 until the last entry, plus the
// generation. Feeds showed this number before changes were counted. A poll that the journal does
// not know has the time of its last edit.
func (p Poll) sequenceByTime(now time.Time) int64 {
	at := p.Sync.Recorded.At
	if at.IsZero() {
		at = p.CreatedAt
		if p.UpdatedAt.After(at) && !p.UpdatedAt.After(now) {
			at = p.UpdatedAt
		}
	}
	return max(0, at.Unix()-sequenceBegin.Unix()+p.Sync.Generation)
}

// Counted is the poll with a greater sequence than before, the poll from before a change.
func (p Poll) Counted(before Poll, now time.Time) Poll {
	p.Sync.Sequence = max(before.Sequence(now)+1, p.sequenceByTime(now))
	return p
}
