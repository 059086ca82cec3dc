package google

import (
	"iter"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// rule is an RRULE (RFC 5545).
type rule struct {
	option rrule.ROption
	// beyond: it says more than the simulator can expand, such as several times a day.
	beyond bool
}

const (
	// maxInstances is how many instances of a series are expanded at most where nothing
	// says until when; maxUntil else.
	maxInstances = 730
	maxUntil     = 20_000
	// maxInterval bounds the steps of a rule.
	maxInterval = 10_000
)

// parseRule reads what stands behind "RRULE:". UNTIL without a zone is one of
// the event's own; a day as UNTIL is the whole day.
func parseRule(text string, zone *time.Location) (rule, bool) {
	text = strings.ToUpper(text)
	if strings.ContainsAny(text, "\r\n:") {
		return rule{}, false
	}
	option, err := rrule.StrToROptionInLocation(text, zone)
	if err != nil || option.Count < 0 || option.Interval < 0 || option.Count > 0 && !option.Until.IsZero() {
		return rule{}, false
	}
	for part := range strings.SplitSeq(text, ";") {
		if part == "COUNT=0" || part == "INTERVAL=0" { // which the library takes as not given
			return rule{}, false
		}
		if value, ok := strings.CutPrefix(part, "UNTIL="); ok {
			until, isDate, good := parseStamp(value, zone)
			if !good {
				return rule{}, false
			}
			if isDate {
				until = until.AddDate(0, 0, 1).Add(-time.Second)
			}
			option.Until = until
		}
	}
	if _, err := rrule.NewRRule(*option); err != nil {
		return rule{}, false
	}
	return rule{*option, option.Freq > rrule.DAILY || option.Interval > maxInterval}, true
}

// starts are the local times at which the rule has the series take place, up to a
// time; zero: the first maxInstances.
func (r rule) starts(first, until time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		most := maxInstances
		if !until.IsZero() {
			most = maxUntil
		}
		option := r.option
		option.Dtstart = first
		expanded, err := rrule.NewRRule(option)
		if err != nil {
			return // parseRule has tried it
		}
		next := expanded.Iterator()
		for range most {
			at, more := next()
			if !more || !until.IsZero() && at.After(until) || !yield(at) {
				return
			}
		}
	}
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
