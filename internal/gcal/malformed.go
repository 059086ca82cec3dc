package gcal

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A field of an event that has another JSON type than Google documents says
// nothing of the other events of its page, and little of the event's other
// fields. So an event is read as the struct that it is, which costs what it
// costs, and only behind such a field is it read field by field.

// plainEvent is a shownEvent that is read as any struct is.
type plainEvent shownEvent

// UnmarshalJSONFrom reads an event. One that has a field of a wrong type, or is
// no object, is malformed: that is no error, and its other fields are read.
func (e *shownEvent) UnmarshalJSONFrom(from *jsontext.Decoder) error {
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
		if err := leave(from, depth); err != nil {
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

// readField reads the value of a field, under any spelling that the struct's own
// decoding takes.
func (e *shownEvent) readField(from *jsontext.Decoder, name string) error {
	for _, field := range []struct {
		name string
		into any
	}{
		{"id", &e.ID}, {"etag", &e.ETag}, {"status", &e.Status}, {"updated", &e.Updated}, {"start", &e.Start}, {"end", &e.End},
		{"recurrence", &e.Recurrence}, {"recurringEventId", &e.InstanceOf}, {"extendedProperties", &e.Extended},
	} {
		if strings.EqualFold(field.name, name) {
			return json.UnmarshalDecode(from, field.into)
		}
	}
	return from.SkipValue()
}

// eventWords are what answers about one event hold beside, and listings leave out.
type eventWords struct {
	Summary     string `json:"summary"`
	Description string `json:"description"`
	Organizer   struct {
		Email string `json:"email"`
		Self  bool   `json:"self"`
	} `json:"organizer"`
}

// readEvent reads an answer about one event, which is an object: anything else
// is none.
func readEvent(from io.Reader) (*shownEvent, eventWords, error) {
	var shown *shownEvent
	var words eventWords
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, words, err
	}
	if jsontext.Value(body).Kind() != '{' {
		return nil, words, errUnreadable
	}
	if err := readable(json.Unmarshal(body, &shown, asEncodingJSON)); err != nil {
		return nil, words, err
	}
	err = json.Unmarshal(body, &words, asEncodingJSON)
	if wrongType(err) { // whose event it is may be what cannot be read
		shown.malformed, err = true, nil
	}
	return shown, words, readable(err)
}

// leave reads to the end of what the decoder stands in below depth: it stays
// where a value turned out to be of a wrong type.
func leave(from *jsontext.Decoder, depth int) error {
	for from.StackDepth() > depth {
		if _, err := from.ReadToken(); err != nil {
			return err
		}
	}
	return nil
}

// wrongType tells that JSON was read well, and is none of the Go type's.
func wrongType(err error) bool {
	_, wrong := errors.AsType[*json.SemanticError](err)
	return wrong
}
