package plan

import (
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
)

// Waits after failures: 5, 20, 80 and 320 seconds, then a day.
const (
	mostAttempts = 5
	firstWait    = 5 * time.Second
	waitForQuota = time.Minute
	day          = 24 * time.Hour
)

// Op is what the writer has to do for a mirror.
type Op string

// The operations.
const (
	Nothing Op = "nothing"
	// Write: insert the event, or patch it if ETag is not ""; for an exception (SeriesMirrorID
	// is set) find the instance and patch it.
	Write Op = "write"
	// Cancel: find the instance of the series' mirror and delete it, then call Written with
	// the cancelled instance. If there is none, call Written with an event of state
	// rules.Gone alone. For exceptions alone.
	Cancel Op = "cancel"
	// Delete: delete the event if EventID is not "", then call Deleted.
	Delete Op = "delete"
)

// Next is what the writer has to do for a mirror whose Due has come.
func Next(m mirror.Mirror) Op {
	switch m.State {
	case mirror.Pending, mirror.Deleting, mirror.Failed:
	default:
		return Nothing
	}
	switch {
	case deletes(m):
		return Delete
	case shownBy(m.Wanted) == wantsCancelled:
		return Cancel
	}
	return Write
}

// Ready reports whether the mirror of an exception can be written: the event of its
// series' mirror is as wanted. series is nil if it does not exist. Other mirrors are
// always ready. For one that is not, set Due later and count no failure.
func Ready(m mirror.Mirror, series *mirror.Mirror) bool {
	return m.SeriesMirrorID == "" || deletes(m) ||
		series != nil && series.EventID != "" && (series.State == mirror.Active || series.State == mirror.Contested)
}

// Begin names the event before it is first written: calendarID is the calendar that
// m.Target means, eventID mirror.EventID of the generation or, for an exception, the id of
// the instance. Commit it before the insert, so that no event exists without its mapping.
func Begin(m mirror.Mirror, calendarID, eventID string) mirror.Mirror {
	m.TargetCalendarID, m.EventID = calendarID, eventID
	return m
}

// Written is the mirror after a write that Google took. wrote is the mirror's Wanted as
// read before the write; if another has come since, or the event was observed as Early, the
// mirror stays PENDING and due: the next write finds by the etag what became of the event. m is
// the document as it is then; it must have the same Generation and EventID still, or none.
func Written(m mirror.Mirror, wrote string, answer gcal.Event, now time.Time) mirror.Mirror {
	overtaken := isOvertaken(m, answer)
	m.EventID, m.ETag, m.AnsweredAt = answer.ID, answer.ETag, answer.Updated
	m.Written, m.Answered, m.LastWrite, m.UpdatedAt = wrote, observedHash(answer), now, now
	switch {
	case m.State != mirror.Pending && m.State != mirror.Failed || deletes(m):
		return m // another decision has come since
	case m.Wanted == wrote && !overtaken:
		m.State, m.Due = mirror.Active, time.Time{}
	default:
		m.State, m.Due = mirror.Pending, now
	}
	m.Attempts, m.LastError = 0, ""
	return m
}

// Deleted is the mirror after its event was deleted, or was found to be gone, by the
// writer. m is the document as it is then; it must have the same EventID still. If keep is
// false its document must be deleted; else it is PENDING with the next generation, or COVERED.
func Deleted(m mirror.Mirror, now time.Time) (next mirror.Mirror, keep bool) {
	if m.Wanted == wantsNothing {
		return m, false
	}
	next = NextGeneration(m, now)
	if m.Wanted == wantsCovered {
		next.State, next.Due, next.SeriesMirrorID = mirror.Covered, time.Time{}, ""
	}
	return next, true
}

// NextGeneration is the mirror whose event id is used up (an insert answered duplicate and
// the event is cancelled, or a patch found it gone): PENDING, with no event.
func NextGeneration(m mirror.Mirror, now time.Time) mirror.Mirror {
	m = forget(m)
	m.Generation++
	m.State, m.Due, m.Attempts, m.LastError, m.UpdatedAt = mirror.Pending, now, 0, "", now
	return m
}

// FailedWrite is the mirror after a failed call. Rate limits and used-up quotas wait and
// count no failure; a revoked grant waits, without Due, for Plan after relinking; the fifth
// failure makes it ERROR, which is due again a day later, as does the first one by which Google
// refuses the call for good (Forbidden, Invalid, Provider).
func FailedWrite(m mirror.Mirror, err error, now time.Time) mirror.Mirror {
	m.UpdatedAt = now
	switch fault.KindOf(err) {
	case fault.Revoked:
		m.Due = time.Time{}
	case fault.RateLimited, fault.Exhausted:
		m.Due = now.Add(max(fault.RetryAfter(err), waitForQuota))
	default:
		m.Attempts++
		m.Due = now.Add(firstWait << (2 * (min(m.Attempts, mostAttempts) - 1)))
		if m.Attempts >= mostAttempts || refusedForGood(err) {
			if m.State != mirror.Failed {
				m.FailedSince = now
			}
			m.State, m.Due = mirror.Failed, now.Add(day)
		}
	}
	m.LastError = fault.MessageOf(err, "the calendar could not be written")
	return m
}

// refusedForGood reports whether the same call would be refused again, until a person changes
// something at Google.
func refusedForGood(err error) bool {
	switch fault.KindOf(err) {
	case fault.Forbidden, fault.Invalid, fault.Provider:
		return true
	default:
		return false
	}
}
