package google

import (
	"iter"
	"strconv"
	"strings"
	"time"
)

// rule is an RRULE (RFC 5545), as far as the simulator can expand it: by day,
// week, month or year, with INTERVAL, COUNT, UNTIL, and BYDAY of weeks and days.
type rule struct {
	freq     string
	interval int
	count    int       // 0: without an end
	until    time.Time // zero: without an end
	days     map[time.Weekday]bool
	// beyond: it says more than the simulator can expand.
	beyond bool
}

// lastYear is the last that a date can be written in.
const lastYear = 9999

// maxInstances is how many instances of a series are expanded at most.
const maxInstances = 730

var weekdays = map[string]time.Weekday{
	"SU": time.Sunday, "MO": time.Monday, "TU": time.Tuesday, "WE": time.Wednesday,
	"TH": time.Thursday, "FR": time.Friday, "SA": time.Saturday,
}

// parseRule reads what stands behind "RRULE:". UNTIL without a zone is one of
// the event's own.
func parseRule(text string, zone *time.Location) (rule, bool) {
	r := rule{interval: 1, days: map[time.Weekday]bool{}}
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || !r.take(strings.ToUpper(name), strings.ToUpper(value), zone) {
			return r, false
		}
	}
	return r, r.freq != "" && (r.count == 0 || r.until.IsZero())
}

func (r *rule) take(name, value string, zone *time.Location) (ok bool) {
	var err error
	switch name {
	case "FREQ":
		r.freq = value
		r.beyond = r.beyond || value == "HOURLY" || value == "MINUTELY" || value == "SECONDLY"
		return r.beyond || value == "DAILY" || value == "WEEKLY" || value == "MONTHLY" || value == "YEARLY"
	case "INTERVAL":
		r.interval, err = strconv.Atoi(value)
		return err == nil && r.interval > 0
	case "COUNT":
		r.count, err = strconv.Atoi(value)
		return err == nil && r.count > 0
	case "UNTIL":
		var isDate bool
		r.until, isDate, ok = parseStamp(value, zone)
		if isDate {
			r.until = r.until.AddDate(0, 0, 1).Add(-time.Second) // the whole day
		}
		return ok
	case "BYDAY":
		for day := range strings.SplitSeq(value, ",") {
			weekday, plain := weekdays[day]
			r.days[weekday] = true
			r.beyond = r.beyond || !plain // such as 2TU
		}
		return true
	case "WKST":
		return true
	default:
		r.beyond = true
		return strings.HasPrefix(name, "BY")
	}
}

// starts are the local times at which the rule has the series take place, the
// first included, at most maxInstances.
func (r rule) starts(first time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		given := 0
		for candidate := range r.candidates(first) {
			if candidate.Before(first) {
				continue
			}
			if !r.until.IsZero() && candidate.After(r.until) || r.count > 0 && given >= r.count || given >= maxInstances {
				return
			}
			given++
			if !yield(candidate) {
				return
			}
		}
	}
}

// candidates go on for maxInstances steps of the rule and then end.
func (r rule) candidates(first time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for step := range maxInstances * 7 {
			n := step * r.interval
			var batch []time.Time
			switch r.freq {
			case "DAILY":
				batch = r.onDays(first.AddDate(0, 0, n), 1)
			case "WEEKLY":
				batch = r.week(first, n)
			case "MONTHLY":
				batch = sameDay(first, first.Year(), int(first.Month())+n)
			case "YEARLY":
				batch = sameDay(first, first.Year()+n, int(first.Month()))
			}
			for _, at := range batch {
				if at.Year() > lastYear || !yield(at) {
					return
				}
			}
		}
	}
}

// onDays are those of n days that BYDAY names, all where it names none.
func (r rule) onDays(from time.Time, n int) []time.Time {
	var list []time.Time
	for day := range n {
		at := from.AddDate(0, 0, day)
		if len(r.days) == 0 || r.days[at.Weekday()] {
			list = append(list, at)
		}
	}
	return list
}

// week are the days in the n-th week from the first, which begins on Monday.
func (r rule) week(first time.Time, n int) []time.Time {
	if len(r.days) == 0 {
		return []time.Time{first.AddDate(0, 0, 7*n)}
	}
	monday := first.AddDate(0, 0, -(int(first.Weekday())+6)%7)
	return r.onDays(monday.AddDate(0, 0, 7*n), 7)
}

// sameDay is first's day and time in another month; none where that month does
// not have the day.
func sameDay(first time.Time, year, month int) []time.Time {
	at := time.Date(year, time.Month(month), first.Day(), first.Hour(), first.Minute(), first.Second(), 0, first.Location())
	if at.Day() != first.Day() {
		return nil
	}
	return []time.Time{at}
}

// parseStamp reads an instant or date of RFC 5545.
func parseStamp(text string, zone *time.Location) (at time.Time, isDate, ok bool) {
	if at, err := time.Parse(stampLayout, text); err == nil {
		return at, false, true
	}
	if at, err := time.ParseInLocation("20060102T150405", text, zone); err == nil {
		return at, false, true
	}
	at, err := time.ParseInLocation(dateStampLayout, text, zone)
	return at, true, err == nil
}

const (
	stampLayout     = "20060102T150405Z"
	dateStampLayout = "20060102"
)
