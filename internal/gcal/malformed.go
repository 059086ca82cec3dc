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

// UnmarshalJSONFrom marks an event with a field of the wrong type, or one that is no
// object, as malformed; that is no error, and its other fields are read.
func (e *wireEvent) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if from.PeekKind() != '{' {
		e.malformed = true
		return from.SkipValue()
	}
	depth := from.StackDepth() + 1
	err := json.UnmarshalDecode(from, (*plainEvent)(e))
	if !wrongType(err) {
		return err
	}
	e.malformed = true
	for {
		if err := skipTo(from, depth); err != nil {
			return err
		}
		name, err := from.ReadToken()
		if err != nil || name.Kind() == '}' {
			return err
		}
		if err := e.readField(from, name.String()); err != nil && !wrongType(err) {
			return err
		}
	}
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
