package rules

import (
	"errors"
	"strings"
	"time"
)

// Fingerprint is the time of an event or slot, the only part of an event that decides
// anything. It is compared as integers and stored as text, so offsets make no difference.
type Fingerprint struct {
	// Start and End are Unix milliseconds; for an all-day event the UTC midnights of its
	// dates, End exclusive.
	Start, End int64
	AllDay     bool
}

const instantLayout = "2006-01-02T15:04:05.000Z"

// Instant formats an instant as shared documents have it.
func Instant(at time.Time) string { return at.UTC().Format(instantLayout) }

var errFingerprint = errors.New("a fingerprint is start|end|allDay")

// Timed is the fingerprint of two instants, truncated to milliseconds.
func Timed(start, end time.Time) Fingerprint {
	return Fingerprint{Start: start.UnixMilli(), End: end.UnixMilli()}
}

// Days is the fingerprint of an all-day event, given its dates (2006-01-02), end
// exclusive.
func Days(startDate, endDate string) (Fingerprint, error) {
	start, err := time.Parse(time.DateOnly, startDate)
	if err != nil {
		return Fingerprint{}, err
	}
	end, err := time.Parse(time.DateOnly, endDate)
	if err != nil {
		return Fingerprint{}, err
	}
	return Fingerprint{Start: start.UnixMilli(), End: end.UnixMilli(), AllDay: true}, nil
}

// IsZero reports whether the fingerprint was never set.
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
	layout, flag := instantLayout, "false"
	if f.AllDay {
		layout, flag = time.DateOnly, "true"
	}
	return f.StartTime().Format(layout) + "|" + f.EndTime().Format(layout) + "|" + flag
}

// ParseFingerprint reads what String writes. Instants may have any offset and precision,
// within the years 0 to 9999 UTC, which String can write.
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

// parseInstant reads an instant, rejecting years that do not have four digits in UTC.
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
