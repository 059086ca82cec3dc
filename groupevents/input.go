package groupevents

import (
	"cmp"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// MaxLength is how long an event may be.
const MaxLength = 366 * 24 * time.Hour

// Input is what a person says of an event.
type Input struct {
	Title string
	// Start and End are days ("2026-03-10"), of which the end is exclusive, or times in RFC
	// 3339 with an offset.
	Start, End string
	// Timezone is the IANA zone in which times are shown; "" for none. Days have none.
	Timezone    string
	Location    string
	Description string
}

// Edit is a change of an event; nil leaves a field as it is.
type Edit struct {
	Title, Start, End, Timezone, Location, Description *string
}

// inputOf is what would have made an event as it is.
func inputOf(e mirror.Event) Input {
	return Input{
		Title: e.Title, Start: Text(e.Start), End: Text(e.End), Timezone: e.Start.Zone, Location: e.Location, Description: e.Description,
	}
}

// Text is a moment as Input takes it: a day, or the time in its zone (UTC if it has none).
func Text(m recurrence.Moment) string {
	if m.AllDay() {
		return m.Date
	}
	zone, err := poll.Zone(m.Zone)
	if err != nil {
		zone = time.UTC // removed from the zones that this machine knows
	}
	return m.Time.In(zone).Format(time.RFC3339)
}

func (e Edit) applyTo(in Input) Input {
	set := func(field *string, value *string) {
		if value != nil {
			*field = *value
		}
	}
	set(&in.Title, e.Title)
	set(&in.Start, e.Start)
	set(&in.End, e.End)
	set(&in.Location, e.Location)
	set(&in.Description, e.Description)
	if e.Timezone == nil && isDay(in.Start) {
		in.Timezone = ""
	}
	set(&in.Timezone, e.Timezone)
	return in
}

// fill writes the input into an event. Invalid: it names the field and its rule.
func (in Input) fill(e *mirror.Event) error {
	title, err := rules.Line("title", in.Title, rules.MaxTitle)
	if err == nil {
		err = cmp.Or(rules.CheckText("location", in.Location, rules.MaxLocation),
			rules.CheckText("description", in.Description, rules.MaxDescription))
	}
	if err != nil {
		return err
	}
	start, end, err := in.span()
	if err != nil {
		return err
	}
	e.Title, e.Location, e.Description, e.Start, e.End = title, in.Location, in.Description, start, end
	e.From, e.Until = start.Instant(time.UTC), end.Instant(time.UTC) // a day begins at midnight UTC
	return nil
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// span reads the two ends.
func (in Input) span() (start, end recurrence.Moment, err error) {
	start, err = in.moment("start", in.Start)
	if err != nil {
		return start, end, err
	}
	end, err = in.moment("end", in.End)
	if err != nil {
		return start, end, err
	}
	switch {
	case start.AllDay() != end.AllDay():
		return start, end, fault.Field("end", "must be a day if start is one, and a time with an offset if start is one")
	case start.AllDay() && in.Timezone != "":
		return start, end, fault.Field("timezone", "must be left out if start and end are days")
	}
	span := rules.Span{Start: start.Instant(time.UTC), End: end.Instant(time.UTC), StartField: "start", EndField: "end", Longest: MaxLength}
	return start, end, span.Check()
}

func (in Input) moment(field, text string) (recurrence.Moment, error) {
	if isDay(text) {
		return recurrence.Moment{Date: text}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return recurrence.Moment{}, fault.Field(
			field, "must be a day such as 2026-03-10, or a time with an offset such as 2026-03-10T19:00:00+01:00",
		)
	}
	if _, err := poll.Zone(in.Timezone); err != nil {
		return recurrence.Moment{}, err
	}
	return recurrence.Moment{Time: at.UTC().Truncate(time.Second), Zone: in.Timezone}, nil
}

// sameText reports whether two events show the same.
func sameText(a, b mirror.Event) bool {
	return a.Title == b.Title && a.Location == b.Location && a.Description == b.Description &&
		sameMoment(a.Start, b.Start) && sameMoment(a.End, b.End) && a.Status == b.Status
}

func sameMoment(a, b recurrence.Moment) bool {
	return a.Date == b.Date && a.Zone == b.Zone && a.Time.Equal(b.Time)
}
