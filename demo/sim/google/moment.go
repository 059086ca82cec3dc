package google

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones are the same on machines that have none installed
)

// moment is a start or end: an instant with the zone it was given in, or the
// date of an all-day event.
type moment struct {
	Instant time.Time `json:"instant,omitzero"`
	Zone    string    `json:"zone,omitempty"`
	Date    string    `json:"date,omitempty"`
}

const (
	dateLayout  = time.DateOnly
	localLayout = "2006-01-02T15:04:05" // a fraction is read too
)

// parseMoment reads the EventDateTime of a request. A dateTime without an
// offset needs a timeZone; with one the timeZone is only kept. Fractions of a
// second are cut, as in Google's answers.
func parseMoment(which string, given map[string]any, calendarZone string) (moment, error) {
	text := func(name string) string {
		value, _ := given[name].(string)
		return value
	}
	date, dateTime, zone := text("date"), text("dateTime"), text("timeZone")
	switch {
	case date == "" && dateTime == "":
		return moment{}, required("Missing " + which + " time.")
	case date != "" && dateTime != "":
		return moment{}, invalid("Invalid %s time: give either date or dateTime, and null for the other.", which)
	case date != "":
		if _, err := time.Parse(dateLayout, date); err != nil {
			return moment{}, invalid("Invalid value for: %s.date", which)
		}
		return moment{Date: date}, nil
	}
	if zone != "" {
		if _, err := loadZone(zone); err != nil {
			return moment{}, invalid("Invalid time zone definition for %s time.", which)
		}
	}
	if at, err := time.Parse(time.RFC3339, strings.ToUpper(dateTime)); err == nil {
		if zone == "" {
			zone = calendarZone
		}
		return moment{Instant: at.UTC().Truncate(time.Second), Zone: zone}, nil
	}
	if zone == "" {
		if _, err := time.Parse(localLayout, dateTime); err == nil {
			return moment{}, missingZone(which)
		}
		return moment{}, invalid("Invalid value for: %s.dateTime", which)
	}
	loc, err := loadZone(zone)
	if err != nil {
		return moment{}, err
	}
	shown, err := time.Parse(localLayout, dateTime)
	if err != nil {
		return moment{}, invalid("Invalid value for: %s.dateTime", which)
	}
	return moment{Instant: atWall(shown, loc).Truncate(time.Second), Zone: zone}, nil
}

func missingZone(which string) error {
	return required("Missing time zone definition for " + which + " time.")
}

// atWall is the instant at which clocks in a zone show a time, given as if in
// UTC: the first one where they show it twice, and by the offset of before where
// they skip it (RFC 5545, 3.3.5).
func atWall(shown time.Time, zone *time.Location) time.Time {
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before := offset(shown.Add(-24 * time.Hour))
	first := shown.Add(-before)
	after := offset(first)
	if second := shown.Add(-after); after != before && offset(second) == after {
		return second
	}
	return first
}

// checkRange refuses what cannot be an event's start and end.
func checkRange(start, end moment) error {
	switch {
	case start.allDay() != end.allDay():
		return invalid("Start and end times must either both be date or both be dateTime.")
	case start.allDay() && end.Date < start.Date, end.Instant.Before(start.Instant):
		return newError(400, "timeRangeEmpty", "The specified time range is empty.")
	}
	return nil
}

func (m moment) allDay() bool { return m.Date != "" }

// in is the instant that the moment means to someone in a zone: an all-day
// event begins at midnight there.
func (m moment) in(zone *time.Location) time.Time {
	if !m.allDay() {
		return m.Instant
	}
	// Date was checked when it was stored.
	at, _ := time.ParseInLocation(dateLayout, m.Date, zone)
	return at
}

// render is the EventDateTime of an answer: the offset is that of the zone.
func (m moment) render(zone *time.Location) object {
	if m.allDay() {
		return object{{"date", m.Date}}
	}
	return object{{"dateTime", m.Instant.In(zone).Format(time.RFC3339)}, {"timeZone", m.Zone}}
}

// generic is the moment as a request would give it, for a patch to merge into.
func (m moment) generic() map[string]any {
	switch {
	case m.allDay():
		return map[string]any{"date": m.Date}
	case m.Instant.IsZero():
		return map[string]any{}
	default:
		return map[string]any{"dateTime": m.Instant.Format(time.RFC3339), "timeZone": m.Zone}
	}
}

// zones caches what time.LoadLocation reads from files at each call.
var zones sync.Map

// loadZone finds an IANA zone. The machine's own ("Local") is none.
func loadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if name == "" || name == "Local" {
		return nil, errors.New("name an IANA time zone such as Europe/Zurich")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("name an IANA time zone such as Europe/Zurich: %w", err)
	}
	zones.Store(name, zone)
	return zone, nil
}
