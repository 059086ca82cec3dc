package gcal

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// plainEvent is a wireEvent without its own decoding. An event is first decoded whole;
// only after a field of an undocumented JSON type is the rest read field by field, so
// that such a field spoils neither the page nor the event's other fields.
type plainEvent wireEvent

// optionalFields are those without which an event can be read, each with what makes it
// unknown. Without any other, it is not known which event it is, when, or of which version.
var optionalFields = map[string]func(e *wireEvent){
	"summary":     func(e *wireEvent) { e.Summary = "" },
	"description": func(e *wireEvent) { e.Description = "" },
	"location":    func(e *wireEvent) { e.Location = "" },
	// What may be private shows nobody its title, and what may be free takes its time.
	"visibility":   func(e *wireEvent) { e.Visibility = "private" },
	"transparency": func(e *wireEvent) { e.Transparency = "" },
	"eventType":    func(e *wireEvent) { e.Kind = "" },
	// Guests of whom one cannot be read are written back by nobody.
	"attendees":        func(e *wireEvent) { e.Attendees, e.guestsUnknown = nil, true },
	"attendeesOmitted": func(e *wireEvent) { e.guestsUnknown = true },
	"guestsCanModify":  func(e *wireEvent) { e.GuestsMayEdit = false },
}

// unread makes a field of the wrong type unknown, or the event malformed.
func (e *wireEvent) unread(name string) {
	for field, forget := range optionalFields {
		if strings.EqualFold(field, name) {
			forget(e)
			return
		}
	}
	e.malformed = true
}

// UnmarshalJSONFrom reads an event with fields of the wrong type, which is no error: they
// are unknown, or the event is malformed. So is one that is no object.
func (e *wireEvent) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if from.PeekKind() != '{' {
		e.malformed = true
		return from.SkipValue()
	}
	depth := from.StackDepth() + 1
	err := json.UnmarshalDecode(from, (*plainEvent)(e))
	wrong, is := errors.AsType[*json.SemanticError](err)
	if !is {
		return err
	}
	e.unread(fieldOf(wrong.JSONPointer, depth))
	for {
		if err := skipTo(from, depth); err != nil {
			return err
		}
		name, err := from.ReadToken()
		if err != nil || name.Kind() == '}' {
			return err
		}
		field := name.String()
		if err := e.readField(from, field); wrongType(err) {
			e.unread(field)
		} else if err != nil {
			return err
		}
	}
}

// fieldOf is the name of the event's field that a pointer into the answer leads through, if
// the event's fields are at a depth; "" if it leads to none.
func fieldOf(pointer jsontext.Pointer, depth int) (name string) {
	for token := range pointer.Tokens() {
		depth--
		if depth == 0 {
			return token
		}
	}
	return ""
}

// readField reads a field under any spelling that the struct's own decoding accepts.
func (e *wireEvent) readField(from *jsontext.Decoder, name string) error {
	for _, field := range []struct {
		name string
		into any
	}{
		{"id", &e.ID}, {"etag", &e.ETag}, {"status", &e.Status}, {"updated", &e.Updated}, {"start", &e.Start}, {"end", &e.End},
		{"recurrence", &e.Recurrence}, {"recurringEventId", &e.InstanceOf}, {"extendedProperties", &e.Extended},
		{"summary", &e.Summary}, {"description", &e.Description}, {"location", &e.Location}, {"iCalUID", &e.ICalUID},
		{"originalStartTime", &e.Original}, {"visibility", &e.Visibility}, {"transparency", &e.Transparency},
		{"eventType", &e.Kind}, {"attendees", &e.Attendees}, {"organizer", &e.Organizer}, {"attendeesOmitted", &e.Omitted},
		{"guestsCanModify", &e.GuestsMayEdit},
	} {
		if strings.EqualFold(field.name, name) {
			return json.UnmarshalDecode(from, field.into)
		}
	}
	return from.SkipValue()
}

// readEvent reads an answer about one event, which must be an object.
func readEvent(from io.Reader) (*wireEvent, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	if jsontext.Value(body).Kind() != '{' {
		return nil, errUnreadable
	}
	var shown *wireEvent
	if err := readable(json.Unmarshal(body, &shown, asEncodingJSON)); err != nil {
		return nil, err
	}
	return shown, nil
}

// skipTo skips to the end of the value in which a wrong type was found.
func skipTo(from *jsontext.Decoder, depth int) error {
	for from.StackDepth() > depth {
		if _, err := from.ReadToken(); err != nil {
			return err
		}
	}
	return nil
}

// wrongType reports whether the JSON is valid but does not fit the Go type.
func wrongType(err error) bool {
	_, wrong := errors.AsType[*json.SemanticError](err)
	return wrong
}
