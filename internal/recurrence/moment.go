package recurrence

import (
	"time"

	"questscheduler/fault"
	"questscheduler/rules"
)

// Moment is a start, an end or an original start of an event: a date of an all-day event,
// or an instant. A Moment with a Date is a date, whatever its other fields hold.
type Moment struct {
	// Date is 2006-01-02 for an all-day event, else "". An end is exclusive.
	Date string
	// Time is the instant.
	Time time.Time
	// Zone is the instant's IANA zone, in which its series keeps its wall time; "": unknown.
	Zone string
}

// IsZero reports whether the moment was never set.
func (m Moment) IsZero() bool { return m.Date == "" && m.Time.IsZero() }

// AllDay reports whether the moment is a date.
func (m Moment) AllDay() bool { return m.Date != "" }

// Instant is when the moment is: of a date, when it begins in the zone, which must not be
// nil. Of a date that cannot be read it is the zero time.
func (m Moment) Instant(zone *time.Location) time.Time {
	if !m.AllDay() {
		return m.Time
	}
	date, err := time.Parse(time.DateOnly, m.Date)
	if err != nil {
		return time.Time{}
	}
	return AtWall(date, zone)
}

// Ends are the two ends of a fingerprint's time, of which instants are in a zone.
func Ends(at rules.Fingerprint, zone string) (start, end Moment) {
	if at.AllDay {
		return Moment{Date: at.StartTime().Format(time.DateOnly)}, Moment{Date: at.EndTime().Format(time.DateOnly)}
	}
	return Moment{Time: at.StartTime(), Zone: zone}, Moment{Time: at.EndTime(), Zone: zone}
}

// Equal reports whether both are the same date or the same instant. It does not compare
// zones.
func (m Moment) Equal(other Moment) bool {
	return m.Date == other.Date && (m.AllDay() || m.Time.Equal(other.Time))
}

// String is a stable key: equal moments, and no others, have the same. It is the date, or
// the instant by RFC 3339 in UTC, or "" for the zero Moment.
func (m Moment) String() string {
	if m.AllDay() || m.IsZero() {
		return m.Date
	}
	return m.Time.UTC().Format(time.RFC3339Nano)
}

// Parse reads what String writes; the zone is not part of it. Other texts are
// fault.Invalid.
func Parse(key string) (Moment, error) {
	if key == "" {
		return Moment{}, nil
	}
	if _, err := time.Parse(time.DateOnly, key); err == nil {
		return Moment{Date: key}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, key)
	if err != nil {
		return Moment{}, fault.Wrap(fault.Invalid, err, "a moment is a date or an instant by RFC 3339")
	}
	return Moment{Time: at.UTC()}, nil
}

// AtWall is the instant at which clocks in location show wall (given as if in UTC). Of a
// time shown twice it is the first; a skipped time lies as far after the gap as wall is
// into it, as RFC 5545 wants it. The standard library leaves both cases open.
func AtWall(wall time.Time, location *time.Location) time.Time {
	before, after := offsetAt(wall.Add(-24*time.Hour), location), offsetAt(wall.Add(24*time.Hour), location)
	first, second := wall.Add(-before), wall.Add(-after)
	if offsetAt(first, location) == before || offsetAt(second, location) != after {
		return first
	}
	return second
}

func offsetAt(at time.Time, location *time.Location) time.Duration {
	_, seconds := at.In(location).Zone()
	return time.Duration(seconds) * time.Second
}

// wallOf is what clocks in location show at an instant, as if in UTC, to the second.
func wallOf(at time.Time, location *time.Location) time.Time {
	return at.Add(offsetAt(at, location)).UTC().Truncate(time.Second)
}
