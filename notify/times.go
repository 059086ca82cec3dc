package notify

import (
	"fmt"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Layouts of times as people read them in the app.
const (
	dayLayout    = "Monday, 2 January 2006"
	momentLayout = "Monday, 2 January 2006, 15:04"
)

// inAppTime is the start of a session in the poll's time zone, which it names, or
// in UTC if the poll has none that is known. An all-day session is its dates.
func inAppTime(at rules.Fingerprint, zone string) string {
	switch {
	case at.IsZero():
		return unknownTime
	case at.AllDay:
		return days(at)
	}
	location, err := poll.Zone(zone)
	if err != nil {
		location = time.UTC
	}
	return at.StartTime().In(location).Format(momentLayout) + " (" + location.String() + ")"
}

// discordTime is the start of a session as each reader's own clock shows it;
// an all-day session is its dates.
func discordTime(at rules.Fingerprint) string {
	switch {
	case at.IsZero():
		return unknownTime
	case at.AllDay:
		return days(at)
	}
	return timeTag(at.StartTime())
}

// timeTag is Discord's markup for a moment in full.
func timeTag(at time.Time) string { return fmt.Sprintf("<t:%d:F>", at.Unix()) }

// days are the dates of an all-day session; its end is exclusive.
func days(at rules.Fingerprint) string {
	first, last := at.StartTime(), at.EndTime().AddDate(0, 0, -1)
	if !last.After(first) {
		return first.Format(dayLayout)
	}
	return first.Format(dayLayout) + " – " + last.Format(dayLayout)
}
