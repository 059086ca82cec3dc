package rules

import (
	"strconv"
	"time"

	"questscheduler/fault"
)

// Span is a start and an exclusive end as a person enters them; days are midnights UTC.
type Span struct {
	Start, End time.Time
	// StartField and EndField name the two in errors.
	StartField, EndField string
	// Longest is how long it may be; zero: any length.
	Longest time.Duration
}

// Check refuses a span that no calendar or store can keep, is too long, or does not end after
// its start. Invalid, with the field and the rule.
func (s Span) Check() error {
	switch {
	case !InYears(s.Start):
		return fault.Field(s.StartField, ruleYears)
	case !InYears(s.End):
		return fault.Field(s.EndField, ruleYears)
	case !s.Start.Before(s.End):
		return fault.Field(s.EndField, "must be after "+s.StartField+"; of whole days it is the day after the last one")
	case s.Longest > 0 && s.End.Sub(s.Start) > s.Longest:
		return fault.Field(s.EndField, "must be at most "+strconv.Itoa(int(s.Longest/(24*time.Hour)))+" days after "+s.StartField)
	}
	return nil
}

const (
	firstYear, lastYear = 1971, 9000

	ruleYears = "must lie between the years 1971 and 9000"
)

// InYears reports whether a time is within what every calendar and store keeps.
func InYears(at time.Time) bool {
	year := at.UTC().Year()
	return year >= firstYear && year <= lastYear
}
