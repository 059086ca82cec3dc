package availability

import (
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/recurrence"
)

// Kinds of events (Google's eventType) that occupy nobody.
const (
	KindWorkingLocation = "workingLocation"
	KindBirthday        = "birthday"
)

// mostOccurrences is how many occurrences of a series are expanded in a range: a year of
// an hourly one.
const mostOccurrences = 10_000

// Event is what decides when a calendar's owner is busy. Tentative events and invitations
// without an answer occupy like others.
type Event struct {
	// Start and End are those of the event, or of the first occurrence of a series. A
	// cancelled event needs none.
	Start, End recurrence.Moment
	// Lines are Google's recurrence lines; none: a single event.
	Lines []string
	// Exceptions are the changed and cancelled occurrences of the series. Each takes the
	// place of the occurrence at its Original, and decides for itself whether it occupies.
	// An exception with another Original is an event like any other.
	Exceptions []Event
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

func (e Event) occupies() bool {
	return !e.Cancelled && !e.Transparent && !e.Declined && e.Kind != KindWorkingLocation && e.Kind != KindBirthday
}

// Busy returns the times of [from, to) at which the events of one calendar occupy its
// owner. zone is the calendar's: all-day events last from midnight to midnight in it. From
// its start on, an event that cannot be expanded (recurrence.CodeNotExpandable) makes the
// range unknown. An empty range and an unknown zone are fault.Invalid.
func Busy(events []Event, zone *time.Location, from, to time.Time) (Times, error) {
	if zone == nil || !from.Before(to) {
		return Times{}, fault.New(fault.Invalid, "availability needs a time zone and a range that ends after its start")
	}
	c := calendar{zone: zone, within: Interval{Start: from, End: to}}
	for _, event := range events {
		if err := c.add(event); err != nil {
			return Times{}, err
		}
	}
	return Join(c.times), nil
}

// calendar collects the times of one calendar.
type calendar struct {
	zone   *time.Location
	within Interval
	times  Times
}

func (c *calendar) add(event Event) error {
	if event.Cancelled {
		return nil
	}
	replaced := make(map[string]bool, len(event.Exceptions))
	for _, exception := range event.Exceptions {
		replaced[exception.Original.String()] = true
		if err := c.add(exception); err != nil {
			return err
		}
	}
	if !event.occupies() {
		return nil
	}
	series := recurrence.Series{Start: event.Start, End: event.End, Lines: event.Lines}
	occurrences, err := recurrence.Expand(series, c.zone, c.within.Start, c.within.End, mostOccurrences)
	switch {
	case fault.CodeOf(err) == recurrence.CodeNotExpandable:
		c.times.Unknown = append(c.times.Unknown, c.clip(Interval{Start: event.Start.Instant(c.zone), End: c.within.End}))
	case err != nil:
		return err
	}
	for _, o := range occurrences {
		if !replaced[o.Original.String()] {
			c.times.Busy = append(c.times.Busy, c.clip(Interval{Start: o.Start, End: o.End}))
		}
	}
	return nil
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
