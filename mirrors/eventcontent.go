package mirrors

import (
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// NewEvent is an event to be made.
type NewEvent struct {
	AccountID string
	// CalendarID is "" for the account's primary calendar.
	CalendarID  string
	Title       string
	Description string
	Location    string
	Start, End  time.Time
	// TimeZone is an IANA zone; "" is UTC.
	TimeZone string
	// AllDay takes the days of Start and End: the dates of midnights UTC, else those in TimeZone.
	AllDay       bool
	Recurrence   []string
	Transparency string
	Visibility   string
}

// Change changes an event; nil fields stay. Start and End come together.
type Change struct {
	Title, Description, Location *string
	Start, End                   *time.Time
	TimeZone                     *string
	AllDay                       *bool
	// Demand is given the event as its person was shown it last, and what it returns refuses
	// the change; so does an event that its calendar shows otherwise. nil demands nothing.
	Demand func(Shown) error
}

func (n NewEvent) content() (gcal.Content, error) {
	start, end, err := moments(n.Start, n.End, n.TimeZone, n.AllDay)
	if err != nil {
		return gcal.Content{}, err
	}
	if len(n.Recurrence) > 0 {
		if _, _, err := recurrence.End(recurrence.Series{Start: start, End: end, Lines: n.Recurrence}); err != nil {
			return gcal.Content{}, fault.Field("recurrence", "must be RRULE, RDATE and EXDATE lines of RFC 5545")
		}
	}
	return gcal.Content{
		Summary: n.Title, Description: n.Description, Location: n.Location, Start: start, End: end,
		Recurrence: n.Recurrence, Transparency: n.Transparency, Visibility: n.Visibility, KeepsReminders: true,
	}, nil
}

// contentOf is what a change of an event may change, and what stays.
func contentOf(shown gcal.Details) gcal.Content {
	return gcal.Content{
		Summary: shown.Summary, Description: shown.Description, Location: shown.Location, Start: shown.Start, End: shown.End,
		Recurrence: shown.Recurrence, Transparency: shown.Transparency, Visibility: shown.Visibility, Status: shown.Status, KeepsReminders: true,
	}
}

// over is the content of an event after a change.
func (c Change) over(was gcal.Content) (gcal.Content, error) {
	content := was
	set(&content.Summary, c.Title)
	set(&content.Description, c.Description)
	set(&content.Location, c.Location)
	if c.Start == nil && c.End == nil && c.TimeZone == nil && c.AllDay == nil {
		return content, nil
	}
	if c.Start == nil || c.End == nil {
		return gcal.Content{}, fault.Field("start_ts", "must come together with end_ts, also to change timezone or all_day")
	}
	zone, allDay := was.Start.Zone, was.Start.AllDay()
	set(&zone, c.TimeZone)
	set(&allDay, c.AllDay)
	var err error
	content.Start, content.End, err = moments(*c.Start, *c.End, zone, allDay)
	if c.TimeZone == nil && !allDay && was.End.Zone != "" {
		content.End.Zone = was.End.Zone // a flight ends in another zone
	}
	if err == nil && allDay != was.Start.AllDay() && len(was.Recurrence) > 0 {
		if _, _, unreadable := recurrence.End(recurrence.Series{
			Start: content.Start, End: content.End, Lines: was.Recurrence,
		}); unreadable != nil {
			err = fault.Field("all_day", "cannot change for this series, whose rules name days or times")
		}
	}
	return content, err
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// moments checks a start and an end as routes take them.
func moments(start, end time.Time, zone string, allDay bool) (from, to recurrence.Moment, err error) {
	location, err := poll.Zone(zone)
	if err != nil {
		return from, to, err
	}
	from, to = recurrence.Moment{Time: start.UTC(), Zone: location.String()}, recurrence.Moment{Time: end.UTC(), Zone: location.String()}
	if allDay {
		from, to = recurrence.Moment{Date: wholeDay(start, location)}, recurrence.Moment{Date: wholeDay(end, location)}
	}
	span := rules.Span{Start: from.Instant(time.UTC), End: to.Instant(time.UTC), StartField: "start_ts", EndField: "end_ts"}
	return from, to, span.Check()
}

// wholeDay is the date that an instant stands for: midnight UTC for a date as answers have it,
// any other time for the day in the zone.
func wholeDay(at time.Time, zone *time.Location) string {
	if at.Equal(at.UTC().Truncate(24 * time.Hour)) {
		zone = time.UTC
	}
	return at.In(zone).Format(time.DateOnly)
}
