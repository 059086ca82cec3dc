package availability

import (
	"time"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

// Kinds of events (Google's eventType) that occupy nobody.
const (
	KindWorkingLocation = "workingLocation"
	KindBirthday        = "birthday"
)

// BusyEvent is what decides when a calendar's owner is busy. Tentative events and invitations
// without an answer occupy like others.
type BusyEvent struct {
	// Start and End are those of the event, or of the first occurrence of a series. A
	// cancelled event needs none.
	Start, End recurrence.Moment
	// Lines are Google's recurrence lines; none: a single event.
	Lines []string
	// Exceptions are the changed and cancelled occurrences of the series. Each takes the
	// place of the occurrence at its Original, and decides for itself whether it occupies.
	// An exception with another Original is an event like any other.
	Exceptions []BusyEvent
	// Original is the start that an exception had by the series' rule.
	Original recurrence.Moment
	// Cancelled: the event was deleted; of a series, with its exceptions.
	Cancelled bool
	// Transparent: its owner marked it as free.
	Transparent bool
	// Declined: the calendar's owner declined the invitation.
	Declined bool
	// Kind is Google's eventType.
	Kind string
}

func (e BusyEvent) occupies() bool {
	return !e.Cancelled && !e.Transparent && !e.Declined && e.Kind != KindWorkingLocation && e.Kind != KindBirthday
}

// Busy returns the times of [from, to) at which the events of one calendar occupy its
// owner. zone is the calendar's: all-day events last from midnight to midnight in it. From
// its start on, an event that cannot be expanded (recurrence.CodeNotExpandable) makes the
// range unknown. More than an answer may hold makes all of it unknown: with over 20,000
// separate intervals or 500,000 starts of series, what is busy is not complete. An empty
// range and an unknown zone are fault.Invalid.
func Busy(events []BusyEvent, zone *time.Location, from, to time.Time) (Times, error) {
	times, _, err := busyWithin(events, zone, Interval{Start: from, End: to}, &bound{intervals: mostIntervals, starts: mostStarts})
	return times, err
}

// busyWithin is Busy with a bound, from which it subtracts what it used. full reports that
// it was exceeded.
func busyWithin(events []BusyEvent, zone *time.Location, within Interval, left *bound) (times Times, full bool, err error) {
	if zone == nil || !within.Start.Before(within.End) {
		return Times{}, false, fault.New(fault.Invalid, "availability needs a time zone and a range that ends after its start")
	}
	most := max(0, left.intervals) // one that is negative was exceeded by another calendar
	c := calendar{zone: zone, within: within, busy: union{most: most}, unknown: union{most: most}, starts: &left.starts}
	for _, event := range events {
		if err := c.add(event); err != nil {
			return Times{}, false, err
		}
		if c.isFull() {
			break
		}
	}
	times = Times{Busy: c.busy.join(), Unknown: c.unknown.join()}
	left.intervals -= len(times.Busy) + len(times.Unknown)
	full = c.isFull() || left.intervals < 0
	if full {
		times.Busy = times.Busy[:min(len(times.Busy), most)]
		times.Unknown = []Interval{within}
	}
	return times, full, nil
}

// calendar collects the times of one calendar.
type calendar struct {
	zone          *time.Location
	within        Interval
	busy, unknown union
	starts        *int
}

// isFull reports that a bound was exceeded.
func (c *calendar) isFull() bool { return c.busy.full || c.unknown.full || *c.starts < 0 }

func (c *calendar) add(event BusyEvent) error {
	if event.Cancelled || c.isFull() {
		return nil
	}
	var replaced map[start]bool
	if len(event.Exceptions) > 0 {
		replaced = make(map[start]bool, len(event.Exceptions))
	}
	for _, exception := range event.Exceptions {
		replaced[startOf(exception.Original)] = true
		if err := c.add(exception); err != nil {
			return err
		}
	}
	if !event.occupies() {
		return nil
	}
	series := recurrence.Series{Start: event.Start, End: event.End, Lines: event.Lines}
	within := recurrence.Range{Zone: c.zone, From: c.within.Start, To: c.within.End}
	err := recurrence.Walk(series, within, c.starts, func(o recurrence.Occurrence) bool {
		return replaced[startOf(o.Original)] || c.busy.add(c.clip(Interval{Start: o.Start, End: o.End}))
	})
	if fault.CodeOf(err) == recurrence.CodeNotExpandable {
		c.unknown.add(c.clip(Interval{Start: event.Start.Instant(c.zone), End: c.within.End}))
		return nil
	}
	return err
}

// start identifies an occurrence: equal moments have the same.
type start struct {
	date string
	at   int64 // microseconds
}

func startOf(m recurrence.Moment) start {
	if m.AllDay() {
		return start{date: m.Date}
	}
	return start{at: m.Time.UnixMicro()}
}

// clip is the part of an interval that is within the range.
func (c *calendar) clip(i Interval) Interval {
	if i.Start.Before(c.within.Start) {
		i.Start = c.within.Start
	}
	if i.End.After(c.within.End) {
		i.End = c.within.End
	}
	return i
}
