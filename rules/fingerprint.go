package rules

import (
	"errors"
	"strings"
	"time"
)

// Fingerprint is the time of an event or slot, and all of an event that
// decides anything. It is compared as integers and written as text.
// Two fingerprints of the same moments in different offsets are equal.
type Fingerprint struct {
	// Start and End are milliseconds since 1970 UTC; for an all-day event the
	// midnights UTC of its dates, End being exclusive.
	Start, End int64
	// AllDay tells an event of whole days from one of instants.
	AllDay bool
}

// Layouts of instants and dates in shared documents.
const (
	InstantLayout = "2006-01-02T15:04:05.000Z"
	DateLayout    = "2006-01-02"
)

var errFingerprint = errors.New("a fingerprint is start|end|allDay")

// Timed is the fingerprint of two instants, cut to milliseconds.
func Timed(start, end time.Time) Fingerprint {
	return Fingerprint{Start: start.UnixMilli(), End: end.UnixMilli()}
}

// Days is the fingerprint of an all-day event by its dates (2006-01-02), end
// exclusive. A date that cannot be read is an error.
func Days(startDate, endDate string) (Fingerprint, error) {
	start, err := time.Parse(DateLayout, startDate)
	if err != nil {
		return Fingerprint{}, err
	}
	end, err := time.Parse(DateLayout, endDate)
	if err != nil {
		return Fingerprint{}, err
	}
	return Fingerprint{Start: start.UnixMilli(), End: end.UnixMilli(), AllDay: true}, nil
}

// IsZero tells a fingerprint that was never set. (An event that starts and
// ends at the epoch is none that anybody plans.)
func (f Fingerprint) IsZero() bool { return f == Fingerprint{} }

// StartTime is the start in UTC.
func (f Fingerprint) StartTime() time.Time { return time.UnixMilli(f.Start).UTC() }

// EndTime is the end in UTC, exclusive for all-day events.
func (f Fingerprint) EndTime() time.Time { return time.UnixMilli(f.End).UTC() }

// String is startUtc|endUtc|allDayFlag: instants with milliseconds, or dates.
// The zero fingerprint is "".
func (f Fingerprint) String() string {
	if f.IsZero() {
		return ""
	}
	layout, flag := InstantLayout, "false"
	if f.AllDay {
		layout, flag = DateLayout, "true"
	}
	return f.StartTime().Format(layout) + "|" + f.EndTime().Format(layout) + "|" + flag
}

// ParseFingerprint reads what String writes. Instants may have any offset and
// any precision, within the years that String can write (0 to 9999 in UTC).
func ParseFingerprint(text string) (Fingerprint, error) {
	if text == "" {
		return Fingerprint{}, nil
	}
	from, rest, _ := strings.Cut(text, "|")
	to, allDay, _ := strings.Cut(rest, "|")
	switch allDay {
	case "true":
		days, err := Days(from, to)
		if err != nil {
			return Fingerprint{}, errFingerprint
		}
		return days, nil
	case "false":
		start, startErr := parseInstant(from)
		end, endErr := parseInstant(to)
		if startErr != nil || endErr != nil {
			return Fingerprint{}, errFingerprint
		}
		return Timed(start, end), nil
	default:
		return Fingerprint{}, errFingerprint
	}
}

// parseInstant reads an instant. An offset can carry one of the last years
// that four digits hold over into a year that they do not.
func parseInstant(text string) (time.Time, error) {
	instant, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, err
	}
	if year := instant.UTC().Year(); year < 0 || year > 9999 {
		return time.Time{}, errFingerprint
	}
	return instant, nil
}
