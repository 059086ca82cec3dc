package recurrence

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones are read the same on machines without a zone database

	rrule "github.com/teambition/rrule-go"
)

// Bounds of what is read.
const (
	maxLines    = 64 << 10 // bytes of all lines
	maxRule     = 512      // bytes of a rule
	maxInterval = 10_000
)

// pattern is a series that was read. The start of an all-day occurrence is the midnight of
// its date in UTC.
type pattern struct {
	allDay bool
	name   string         // of the start's zone, as given
	zone   *time.Location // the same; UTC if all-day, or if there are no lines
	first  time.Time      // the wall time of the start
	length time.Duration  // of an occurrence
	days   int            // the same, if all-day
	// dates are the start of the series and the RDATEs.
	dates    []time.Time
	excluded map[int64]bool // EXDATEs, in Unix seconds
	// until is the last start that the rule may have; zero: any.
	until time.Time
	// rule generates wall times as if in UTC, which leaves no question of DST to the
	// library, and cycles of 400 years later.
	rule   *rrule.RRule
	option rrule.ROption
	cycles int
}

// later moves a wall time by cycles of the Gregorian calendar, which repeats itself with
// its weekdays every 400 years. The library stops at the year 9999 only: a rule that never
// fits (30 February) would keep it busy for 8,000 years, and for under 600 so.
func later(wall time.Time, cycles int) time.Time { return wall.AddDate(400*cycles, 0, 0) }

func read(s Series) (*pattern, error) {
	p := &pattern{allDay: s.Start.AllDay(), name: s.Start.Zone, zone: time.UTC, excluded: map[int64]bool{}}
	start, end := s.Start.Instant(time.UTC), s.End.Instant(time.UTC)
	if start.IsZero() || end.Before(start) || p.allDay != s.End.AllDay() {
		return nil, refuse("the event's start and end cannot be read", nil)
	}
	p.days, p.length = int((end.Unix()-start.Unix())/(24*60*60)), end.Sub(start)
	p.dates = []time.Time{start}
	if len(s.Lines) == 0 {
		return p, nil
	}
	if !p.allDay {
		var err error
		p.zone, err = location(p.name)
		if err != nil {
			return nil, err
		}
	}
	p.dates[0] = start.Truncate(time.Second) // as the library does
	p.first = wallOf(start, p.zone)
	p.cycles = max(0, (9999-mostYears-p.first.Year())/400)
	size := 0
	for _, line := range s.Lines {
		size += len(line)
		if size > maxLines {
			return nil, refuse("the recurrence is too long", nil)
		}
		if err := p.add(line); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *pattern) add(line string) error {
	head, value, _ := strings.Cut(strings.TrimSpace(line), ":")
	name, parameters, _ := strings.Cut(head, ";")
	switch strings.ToUpper(name) {
	case "RRULE":
		return p.addRule(strings.ToUpper(value))
	case "RDATE", "EXDATE":
		return p.addDates(strings.EqualFold(name, "EXDATE"), parameters, value)
	default: // EXRULE, which RFC 5545 no longer has, or none of a recurrence
		return refuse("the recurrence has a line that is not supported", nil)
	}
}

// addDates adds RDATEs or EXDATEs. Google writes them as the start is, dates or times;
// others, and periods, are refused.
func (p *pattern) addDates(exclude bool, parameters, value string) error {
	zone := p.zone
	for parameter := range strings.SplitSeq(parameters, ";") {
		key, name, _ := strings.Cut(parameter, "=")
		if !p.allDay && strings.EqualFold(key, "TZID") {
			var err error
			zone, err = location(name)
			if err != nil {
				return err
			}
		}
	}
	for text := range strings.SplitSeq(value, ",") {
		at, isDate, err := parseValue(text, zone)
		if err != nil {
			return err
		}
		if isDate != p.allDay {
			return refuse("the recurrence mixes dates and times", nil)
		}
		if exclude {
			p.excluded[at.Unix()] = true
		} else {
			p.dates = append(p.dates, at)
		}
	}
	return nil
}

func (p *pattern) addRule(text string) error {
	if p.rule != nil || len(text) > maxRule {
		return refuse("the recurrence has several rules, or one that is too long", nil)
	}
	option, err := rrule.StrToROption(text)
	if err != nil {
		return refuse("the recurrence rule cannot be read", err)
	}
	if why := p.unsupported(option); why != "" {
		return refuse(why, nil)
	}
	for part := range strings.SplitSeq(text, ";") {
		if name, value, _ := strings.Cut(part, "="); (name == "INTERVAL" || name == "COUNT") && !isPositive(value) {
			return refuse("the interval and count of a rule are at least 1", nil) // the library takes 0 as not given
		}
		if value, ok := strings.CutPrefix(part, "UNTIL="); ok {
			until, isDate, err := parseValue(value, p.zone)
			if err != nil {
				return err
			}
			if isDate {
				until = AtWall(wallOf(until, p.zone).AddDate(0, 0, 1), p.zone).Add(-time.Second)
			}
			p.until = until
		}
	}
	option.Dtstart, option.Until = later(p.first, p.cycles), time.Time{}
	p.option = *option
	return p.generate()
}

func (p *pattern) generate() (err error) {
	p.rule, err = rrule.NewRRule(p.option)
	if err != nil {
		return refuse("the recurrence rule cannot be read", err)
	}
	return nil
}

// skipTo has a rule that does not count its starts, and whose steps all last equally long,
// begin shortly before those that may overlap a range from an instant on.
func (p *pattern) skipTo(from time.Time) error {
	step := time.Duration(max(1, p.option.Interval)) * time.Hour
	switch p.option.Freq {
	case rrule.WEEKLY:
		step *= 7 * 24
	case rrule.DAILY:
		step *= 24
	case rrule.HOURLY:
	default:
		return nil
	}
	longest := p.length + 48*time.Hour // dates begin within a day of UTC's
	steps := int64(wallOf(from, p.zone).Add(-longest).Sub(p.first) / step)
	if p.rule == nil || p.option.Count > 0 || steps <= 0 {
		return nil
	}
	p.option.Dtstart = later(p.first.Add(time.Duration(steps)*step), p.cycles)
	return p.generate()
}

// isPositive reports whether a number is at least 1.
func isPositive(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0
}

// location loads an IANA zone. The zone of this machine is none.
func location(name string) (*time.Location, error) {
	name = strings.Trim(name, `"`)
	if name == "" || name == "Local" {
		return nil, refuse("the time zone is unknown", nil)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, refuse("the time zone is unknown", err)
	}
	return zone, nil
}

// parseValue reads a date, a time in UTC, or a wall time in zone. A date is its midnight in
// zone.
func parseValue(text string, zone *time.Location) (at time.Time, isDate bool, err error) {
	isDate = len(text) == len("20060102")
	layout, wall := "20060102T150405", true
	switch {
	case isDate:
		layout = "20060102"
	case strings.HasSuffix(text, "Z"):
		layout, wall = "20060102T150405Z", false
	}
	at, err = time.Parse(layout, text)
	if err != nil || at.IsZero() {
		return time.Time{}, false, refuse("a time of the recurrence cannot be read", err)
	}
	if wall {
		at = AtWall(at, zone)
	}
	return at, isDate, nil
}
