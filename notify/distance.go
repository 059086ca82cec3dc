package notify

import (
	"cmp"
	"time"

	"questscheduler/rules"
)

const dayLength = 24 * time.Hour

// DistanceTexts are the words for how far a session was moved. {much} is a duration
// or a number of days, {far} an amount with Later or Earlier.
type DistanceTexts struct {
	Minutes, Hours, Days, Weeks        Forms
	HoursMinutes                       string // {hours} and {minutes}
	Moment                             string // a duration below a minute
	Later, Earlier, Longer, Shorter    string // of {much}
	SameDay, NextDay, DayBefore        string // after {far}, of less than a day
	SameTime, LaterInDay, EarlierInDay string // after {far}, of whole days; the last two have {much}
	AllDay, Timed                      string // what became of a session
	Also, AndLength                    string // join {one} part and the {other}
}

// change is how one time differs from another, as calendar and wall clock of one
// zone show it.
type change struct {
	old, new rules.Fingerprint
	days     int           // between the dates of the starts
	start    time.Duration // between the starts, if both are timed
	longer   time.Duration // whole days if both are all day; 0 if only one is
}

// between compares two times of a session. Across a change of the clocks the
// distance is what they show: from 19:00 to 19:00 is whole days.
func between(old, now rules.Fingerprint, zone *time.Location) change {
	c := change{old: old, new: now, days: int(dateOf(now, zone).Sub(dateOf(old, zone)) / dayLength)}
	switch {
	case old.AllDay && now.AllDay:
		c.longer = now.EndTime().Sub(now.StartTime()) - old.EndTime().Sub(old.StartTime())
	case !old.AllDay && !now.AllDay:
		c.start = shift(old.StartTime(), now.StartTime(), zone)
		c.longer = shift(old.EndTime(), now.EndTime(), zone) - c.start
	}
	return c
}

// lengthDiffers reports whether only the ends show all of the change: both times
// are known and timed, and differ in length.
func (c change) lengthDiffers() bool {
	return !c.old.IsZero() && !c.new.IsZero() && !c.old.AllDay && !c.new.AllDay && c.longer != 0
}

// shift is how far a wall clock is put on between two instants. In the hour that
// comes twice when clocks go back, a wall clock can stand still or go backwards:
// then it is the time that passes.
func shift(from, to time.Time, zone *time.Location) time.Duration {
	shown, passed := wallClock(to, zone).Sub(wallClock(from, zone)), to.Sub(from)
	if cmp.Compare(shown, 0) != cmp.Compare(passed, 0) {
		return passed
	}
	return shown
}

// wallClock is the instant at which a clock in UTC shows what one in the zone shows
// at at.
func wallClock(at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// dateOf is the date of a session's start, as midnight in UTC. The dates of an
// all-day session are the same in every zone.
func dateOf(at rules.Fingerprint, zone *time.Location) time.Time {
	start := at.StartTime()
	if !at.AllDay {
		start = wallClock(start, zone)
	}
	return start.Truncate(dayLength)
}

// distance puts a change into words; "" for none, or if a time is not known.
func (l *Language) distance(c change) string {
	switch {
	case c.old.IsZero() || c.new.IsZero() || c.old == c.new:
		return ""
	case c.new.AllDay && !c.old.AllDay:
		return join(l.Distance.Also, l.dayDistance(c.days), l.Distance.AllDay)
	case c.old.AllDay && !c.new.AllDay:
		return join(l.Distance.Also, l.dayDistance(c.days), l.Distance.Timed)
	case c.new.AllDay:
		length := l.direction(l.dayCount(int(c.longer/dayLength)), c.longer, l.Distance.Longer, l.Distance.Shorter)
		return join(l.Distance.AndLength, l.dayDistance(c.days), length)
	default:
		length := l.direction(l.duration(c.longer), c.longer, l.Distance.Longer, l.Distance.Shorter)
		return join(l.Distance.AndLength, l.startDistance(c), length)
	}
}

// startDistance is how far the start of a timed session was moved.
func (l *Language) startDistance(c change) string {
	far := l.direction(l.duration(c.start), c.start, l.Distance.Later, l.Distance.Earlier)
	clock := c.start - time.Duration(c.days)*dayLength // the change of the time of day
	switch {
	case c.start == 0:
		return ""
	case c.days == 0:
		return fill(l.Distance.SameDay, "{far}", far)
	case clock == 0:
		return fill(l.Distance.SameTime, "{far}", l.dayDistance(c.days))
	case c.start.Abs() < dayLength && c.start > 0:
		return fill(l.Distance.NextDay, "{far}", far)
	case c.start.Abs() < dayLength:
		return fill(l.Distance.DayBefore, "{far}", far)
	case clock > 0:
		return fill(l.Distance.LaterInDay, "{far}", l.dayDistance(c.days), "{much}", l.duration(clock))
	default:
		return fill(l.Distance.EarlierInDay, "{far}", l.dayDistance(c.days), "{much}", l.duration(clock))
	}
}

func (l *Language) dayDistance(days int) string {
	return l.direction(l.dayCount(days), time.Duration(days), l.Distance.Later, l.Distance.Earlier)
}

// direction says which way an amount goes; "" for an amount of 0.
func (*Language) direction(much string, amount time.Duration, more, less string) string {
	switch cmp.Compare(amount, 0) {
	case 1:
		return fill(more, "{much}", much)
	case -1:
		return fill(less, "{much}", much)
	default:
		return ""
	}
}

func (l *Language) dayCount(days int) string {
	days = max(days, -days)
	if days > 0 && days%7 == 0 {
		return l.count(l.Distance.Weeks, days/7)
	}
	return l.count(l.Distance.Days, days)
}

func (l *Language) duration(d time.Duration) string {
	d = d.Abs()
	hours, minutes := int(d/time.Hour), int(d%time.Hour/time.Minute)
	switch {
	case hours == 0 && minutes == 0:
		return l.Distance.Moment
	case minutes == 0:
		return l.count(l.Distance.Hours, hours)
	case hours == 0:
		return l.count(l.Distance.Minutes, minutes)
	default:
		return fill(l.Distance.HoursMinutes, "{hours}", l.count(l.Distance.Hours, hours), "{minutes}", l.count(l.Distance.Minutes, minutes))
	}
}

// join joins two parts, of which either may be empty.
func join(text, one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return fill(text, "{one}", one, "{other}", other)
}
