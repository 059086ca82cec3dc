package gcal

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	calendar "google.golang.org/api/calendar/v3"
)

// wireEvent holds the fields that the masks of calls request. A field of another JSON type
// than Google documents fails no answer: it is unknown, or the event is malformed
// (malformed.go).
type wireEvent struct {
	ID, ETag, Status, Updated string
	Start, End                wireTime
	Recurrence                []string
	InstanceOf                string
	Extended                  struct {
		Private map[string]string `json:"private"`
	}

	// Of the following, Times requests none.
	Summary, Description, Location string
	ICalUID                        string
	Original                       wireTime
	Visibility, Transparency, Kind string
	Attendees                      []wireAttendee
	// Omitted reports that there are more attendees.
	Omitted, GuestsMayEdit bool
	Organizer              struct {
		Email string `json:"email"`
		Self  bool   `json:"self"`
	}

	malformed, guestsUnknown bool
}

// wireTime is a time of an event; its zero value is one that the answer does not show.
type wireTime struct{ Date, DateTime, TimeZone string }

type wireAttendee struct {
	Self      bool   `json:"self"`
	Response  string `json:"responseStatus"`
	Email     string `json:"email"`
	Resource  bool   `json:"resource"`
	Optional  bool   `json:"optional"`
	Organizer bool   `json:"organizer"`
}

func timeFromClient(t *calendar.EventDateTime) wireTime {
	if t == nil {
		return wireTime{}
	}
	return wireTime{t.Date, t.DateTime, t.TimeZone}
}

// wireField is a field of an event in Google's answers.
type wireField struct {
	name string
	read readField
	// forget makes the field unknown. It is nil for fields without which it is not known
	// which event it is, when, or of which version.
	forget func(e *wireEvent)
}

// readField reads the next value into a field. Strings may be set no earlier than by
// texts.settle.
type readField func(e *wireEvent, from *jsontext.Decoder, shared *texts) error

// wireFields are the fields of wireEvent. The most frequent ones come first.
var wireFields = []wireField{
	{"etag", short(func(e *wireEvent) *string { return &e.ETag }), nil},
	{"id", short(func(e *wireEvent) *string { return &e.ID }), nil},
	{"status", short(func(e *wireEvent) *string { return &e.Status }), nil},
	{"updated", short(func(e *wireEvent) *string { return &e.Updated }), nil},
	{"start", moment(func(e *wireEvent) *wireTime { return &e.Start }), nil},
	{"end", moment(func(e *wireEvent) *wireTime { return &e.End }), nil},
	{"recurrence", other(func(e *wireEvent) any { return &e.Recurrence }), nil},
	{"recurringEventId", short(func(e *wireEvent) *string { return &e.InstanceOf }), nil},
	{"extendedProperties", other(func(e *wireEvent) any { return &e.Extended }), nil},
	{"iCalUID", short(func(e *wireEvent) *string { return &e.ICalUID }), nil},
	{"originalStartTime", moment(func(e *wireEvent) *wireTime { return &e.Original }), nil},
	{"organizer", other(func(e *wireEvent) any { return &e.Organizer }), nil},
	{"summary", other(func(e *wireEvent) any { return &e.Summary }), func(e *wireEvent) { e.Summary = "" }},
	{"description", other(func(e *wireEvent) any { return &e.Description }), func(e *wireEvent) { e.Description = "" }},
	{"location", other(func(e *wireEvent) any { return &e.Location }), func(e *wireEvent) { e.Location = "" }},
	// What may be private shows nobody its title, and what may be free takes its time.
	{"visibility", short(func(e *wireEvent) *string { return &e.Visibility }), func(e *wireEvent) { e.Visibility = "private" }},
	{"transparency", short(func(e *wireEvent) *string { return &e.Transparency }), func(e *wireEvent) { e.Transparency = "" }},
	{"eventType", short(func(e *wireEvent) *string { return &e.Kind }), func(e *wireEvent) { e.Kind = "" }},
	// Guests of whom one cannot be read are written back by nobody.
	{"attendees", other(func(e *wireEvent) any { return &e.Attendees }), func(e *wireEvent) { e.Attendees, e.guestsUnknown = nil, true }},
	{"attendeesOmitted", other(func(e *wireEvent) any { return &e.Omitted }), func(e *wireEvent) { e.guestsUnknown = true }},
	{"guestsCanModify", other(func(e *wireEvent) any { return &e.GuestsMayEdit }), func(e *wireEvent) { e.GuestsMayEdit = false }},
}

// short reads a string of few characters, which shares its memory with the event's others.
func short(of func(e *wireEvent) *string) readField {
	return func(e *wireEvent, from *jsontext.Decoder, shared *texts) error { return shared.read(from, of(e)) }
}

func moment(of func(e *wireEvent) *wireTime) readField {
	return func(e *wireEvent, from *jsontext.Decoder, shared *texts) error { return of(e).read(from, shared) }
}

// other reads what is long or rare.
func other(of func(e *wireEvent) any) readField {
	return func(e *wireEvent, from *jsontext.Decoder, _ *texts) error { return json.UnmarshalDecode(from, of(e)) }
}

// read reads a time into what an earlier field of the same name showed.
func (t *wireTime) read(from *jsontext.Decoder, shared *texts) error {
	switch from.PeekKind() {
	case '{':
		return eachMember(from, func(name jsontext.Value) error {
			if into := t.field(name); into != nil {
				return shared.read(from, into)
			}
			return from.SkipValue()
		})
	case 'n':
		shared.settle()
		*t = wireTime{}
		return from.SkipValue()
	default:
		if _, err := from.ReadToken(); err != nil {
			return err
		}
		return &json.SemanticError{}
	}
}

func (t *wireTime) field(name jsontext.Value) *string {
	switch string(name) {
	case `"dateTime"`:
		return &t.DateTime
	case `"timeZone"`:
		return &t.TimeZone
	case `"date"`:
		return &t.Date
	}
	switch {
	case isSpelling(name, "dateTime"):
		return &t.DateTime
	case isSpelling(name, "timeZone"):
		return &t.TimeZone
	case isSpelling(name, "date"):
		return &t.Date
	}
	return nil
}
