package plan

import (
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
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
	// the cancelled instance. For exceptions alone.
	Cancel Op = "cancel"
	// Delete: delete the event if EventID is not "", then call Deleted.
	Delete Op = "delete"
)

// Next is what the writer has to do for a mirror whose Due has come.
func Next(m mirror.Mirror) Op { panic("unwritten") }

// Ready reports whether the mirror of an exception can be written: the event of its
// series' mirror is as wanted. series is nil if it does not exist. Other mirrors are
// always ready. For one that is not, set Due later and count no failure.
func Ready(m mirror.Mirror, series *mirror.Mirror) bool { panic("unwritten") }

// Begin names the event before it is first written: calendarID is the calendar that
// m.Target means, eventID mirror.EventID of the generation or, for an exception, the id of
// the instance. Commit it before the insert, so that no event exists without its mapping.
func Begin(m mirror.Mirror, calendarID, eventID string) mirror.Mirror { panic("unwritten") }

// Written is the mirror after a write that Google took. wrote is the mirror's Wanted as
// read before the write; if another has come since, the mirror stays PENDING and due.
func Written(m mirror.Mirror, wrote string, answer gcal.Event, now time.Time) mirror.Mirror {
	panic("unwritten")
}

// Deleted is the mirror after its event was deleted, or was found to be gone, by the
// writer. If keep is false its document must be deleted; else it is PENDING with the next
// generation, or COVERED.
func Deleted(m mirror.Mirror, now time.Time) (next mirror.Mirror, keep bool) { panic("unwritten") }

// NextGeneration is the mirror whose event id is used up (an insert answered duplicate and
// the event is cancelled, or a patch found it gone): PENDING, with no event.
func NextGeneration(m mirror.Mirror, now time.Time) mirror.Mirror { panic("unwritten") }

// FailedWrite is the mirror after a failed call. Rate limits and used-up quotas wait and
// count no failure; a revoked grant waits, without Due, for Plan after relinking; the fifth
// failure makes it ERROR, which is due again a day later.
func FailedWrite(m mirror.Mirror, err error, now time.Time) mirror.Mirror { panic("unwritten") }
