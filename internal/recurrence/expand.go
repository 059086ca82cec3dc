// Package recurrence says when a recurring event occurs: it reads the lists of RRULE,
// EXDATE and RDATE lines (RFC 5545) that Google Calendar keeps, with bounds on the work
// that a rule may cause.
package recurrence

import (
	"slices"
	"time"

	"questscheduler/fault"
)

// CodeNotExpandable is the code of errors about a series whose occurrences cannot be
// worked out: what it occupies is unknown, and never nothing.
const CodeNotExpandable = "series_not_expandable"

// Bounds of the work for one series.
const (
	// mostSteps is how many starts of a rule are generated at most: over ten years of an
	// hourly one. Those well before the range are not generated, unless the rule counts them
	// or its months or years differ in length.
	mostSteps = 100_000
	// mostToEnd is how many starts are generated to find the last one: daily ones of 27 years.
	// Each listing of a calendar may ask for the ends of all its series.
	mostToEnd = 10_000
	// mostYears is how long after its start a series is expanded at most.
	mostYears = 200
)

// Series is an event with its recurrence: the start and end of its first occurrence and
// Google's lines. Without lines it is a single event.
type Series struct {
	Start, End Moment
	Lines      []string
}

// Occurrence is one occurrence of a series.
type Occurrence struct {
	// Original is the start by the series' rule, which identifies the occurrence: its
	// exception has it as original start.
	Original Moment
	// Start and End are instants; all-day occurrences begin and end when dates begin in
	// the calendar's zone.
	Start, End time.Time
}

// Range is the time [From, To) in a calendar of a time zone.
type Range struct {
	Zone     *time.Location
	From, To time.Time
}

// Expand lists the occurrences that overlap the range, by start, including those that
// began before it. One without length overlaps if it begins in the range. Times of a series
// are precise to the second.
//
// Wall times are kept in the start's own zone, and instants last equally long in each
// occurrence; all-day occurrences are dates, which begin in the calendar's zone. The
// start of the series is an occurrence even if its rule omits it, and does not count
// towards COUNT then: Google shows it so. An UNTIL that is a date includes the whole day.
//
// An error with CodeNotExpandable means that the occurrences are unknown: a line or zone
// that cannot be read or is not supported, a rule finer than hours, more occurrences than
// limit, or a range too far from the series' start.
func Expand(s Series, in Range, limit int) ([]Occurrence, error) {
	var found []Occurrence
	starts := mostSteps
	err := Walk(s, in, &starts, func(o Occurrence) bool {
		found = append(found, o)
		return len(found) <= limit
	})
	if err != nil {
		return nil, err
	}
	// A rule's order is that of wall times; two of them around a gap may be one instant.
	slices.SortFunc(found, func(a, b Occurrence) int { return a.Start.Compare(b.Start) })
	return slices.CompactFunc(found, func(a, b Occurrence) bool { return a.Start.Equal(b.Start) }), nil
}

// Walk calls visit with each occurrence that Expand lists, without an order, and perhaps
// twice with one that a change of clocks moved onto another. It keeps none of them. starts
// is how many starts of rules may still be generated, for several series in sum; Walk
// subtracts those of this one. Errors are those of Expand: the occurrences are unknown, and
// not only those that were not visited, if visit returns false or no starts are left.
func Walk(s Series, in Range, starts *int, visit func(Occurrence) bool) error {
	p, err := read(s)
	if err != nil {
		return err
	}
	if in.Zone == nil {
		return refuse("the calendar's time zone is unknown", nil)
	}
	if len(s.Lines) > 0 && in.To.After(p.first.AddDate(mostYears, 0, 0)) {
		return refuse("the range is too far from the start of the series", nil)
	}
	if err := p.skipTo(in.From); err != nil {
		return err
	}
	complete := p.each(in.To, starts, func(at time.Time) bool {
		o := p.occurrence(at, in.Zone)
		overlaps := o.Start.Before(in.To) && (o.End.After(in.From) || !o.Start.Before(in.From))
		return !overlaps || visit(o)
	})
	if !complete {
		return refuse("the series has too many occurrences", nil)
	}
	return nil
}

// End is the end of the last occurrence, in UTC for all-day series; the zero time if every
// occurrence is excluded. endless: there is no last one, or it is more than 200 years away, or
// more than mostToEnd occurrences must be generated to find it. Errors are those of Expand.
func End(s Series) (last time.Time, endless bool, err error) {
	p, err := read(s)
	if err != nil {
		return time.Time{}, false, err
	}
	if p.rule != nil && p.rule.OrigOptions.Count == 0 && (p.until.IsZero() || p.until.After(p.first.AddDate(mostYears, 0, 0))) {
		return time.Time{}, true, nil
	}
	if lastYear := p.until.AddDate(-1, 0, 0); !p.until.IsZero() { // most rules occur in the year before their end
		if err := p.skipTo(lastYear); err != nil {
			return time.Time{}, false, err
		}
		if last, complete := p.last(); complete && last.After(lastYear) {
			return last, false, nil
		}
		p, err = read(s)
		if err != nil {
			return time.Time{}, false, err
		}
	}
	last, complete := p.last()
	return last, !complete, nil
}

// last is the end of the last occurrence; the zero time with false if that is too far.
func (p *pattern) last() (last time.Time, complete bool) {
	starts := mostToEnd
	complete = p.each(p.until, &starts, func(at time.Time) bool {
		if end := p.occurrence(at, time.UTC).End; end.After(last) {
			last = end
		}
		return true
	})
	if !complete {
		return time.Time{}, false
	}
	return last, true
}

// each calls visit with every start that is not excluded and not after before (zero: any),
// and may call it with later ones. It subtracts the starts that it generates from starts. It
// returns false if visit does, if starts were too few, or if there are more than mostSteps.
func (p *pattern) each(before time.Time, starts *int, visit func(at time.Time) bool) bool {
	*starts -= len(p.dates)
	if *starts < 0 {
		return false
	}
	for _, at := range p.dates {
		if !p.excluded[at.Unix()] && !visit(at) {
			return false
		}
	}
	if p.rule == nil {
		return true
	}
	if !p.until.IsZero() && (before.IsZero() || p.until.Before(before)) {
		before = p.until
	}
	if !before.IsZero() { // a day more, since dates begin earlier in the east
		p.rule.Until(later(wallOf(before, p.zone).AddDate(0, 0, 1), p.cycles))
	}
	next := p.rule.Iterator()
	for range mostSteps {
		*starts--
		if *starts < 0 {
			return false
		}
		wall, ok := next()
		if !ok {
			return true
		}
		at := AtWall(later(wall, -p.cycles), p.zone)
		if !p.until.IsZero() && at.After(p.until) {
			return true
		}
		if !p.excluded[at.Unix()] && !at.Equal(p.dates[0]) && !visit(at) {
			return false
		}
	}
	return false
}

// occurrence is the occurrence with a start that each visits.
func (p *pattern) occurrence(at time.Time, zone *time.Location) Occurrence {
	if !p.allDay {
		return Occurrence{Original: Moment{Time: at, Zone: p.name}, Start: at, End: at.Add(p.length)}
	}
	return Occurrence{
		Original: Moment{Date: at.Format(time.DateOnly)},
		Start:    AtWall(at, zone), End: AtWall(at.AddDate(0, 0, p.days), zone),
	}
}

// refuse is an error with CodeNotExpandable; err is its cause or nil.
func refuse(message string, err error) error {
	return &fault.Error{Kind: fault.Invalid, Code: CodeNotExpandable, Message: message, Err: err}
}
