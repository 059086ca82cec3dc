package plan

import (
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
)

// Verdict is what an observation of a mirror's event means.
type Verdict string

// The verdicts.
const (
	// Ignored: it says nothing about the mirror, such as one of another generation, one older
	// than the last write, or one of a mirror that is left alone.
	Ignored Verdict = "ignored"
	// Echo: the event is as we wrote it, or as it was last observed.
	Echo Verdict = "echo"
	// Drift: a person changed it; it is reverted.
	Drift Verdict = "drift"
	// GaveUp: a person changed it after three reverts within a day; it is CONTESTED.
	GaveUp Verdict = "contested"
	// Recreated: a person deleted it for the first time within a day.
	Recreated Verdict = "recreated"
	// LeftDeleted: a person deleted it again within a day; it is SUPPRESSED.
	LeftDeleted Verdict = "suppressed"
)

// Observed is the mirror after an observation of its event; a confirmed absence is an
// event of state rules.Gone. The document must be written if it differs from m. If m is
// the mirror of a series and its Generation changed, Plan again in the same transaction.
func Observed(m mirror.Mirror, shown gcal.Event, now time.Time) (next mirror.Mirror, verdict Verdict) {
	panic("unwritten")
}

// ObservedInstance is for an instance whose id no mirror has: shown.InstanceOf is the event
// of series, a mirror of of.Mirrors. If the mirror of an exception is meant, that one is
// returned, with the instance's id and the observation applied. Else a person changed or
// deleted one occurrence of the series, which has no document: the event of the series is
// replaced by its next generation, and Plan must follow in the same transaction.
func ObservedInstance(of Situation, series mirror.Mirror, shown gcal.Event) (next mirror.Mirror, verdict Verdict) {
	panic("unwritten")
}
