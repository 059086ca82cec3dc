package gcal

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// UnmarshalJSONFrom is read for one event.
func (e *wireEvent) UnmarshalJSONFrom(from *jsontext.Decoder) error { return e.read(from, &texts{}) }

// read reads an event, field by field, so that one of an undocumented JSON type spoils
// neither the page nor the event's other fields: it is unknown, or the event is malformed.
// So is one that is no object. Neither is an error.
func (e *wireEvent) read(from *jsontext.Decoder, shared *texts) error {
	if from.PeekKind() != '{' {
		e.malformed = true
		return from.SkipValue()
	}
	defer shared.settle()
	depth := from.StackDepth() + 1
	return eachMember(from, func(name jsontext.Value) error {
		field := fieldOf(name)
		if field == nil {
			return from.SkipValue()
		}
		err := field.read(e, from, shared)
		if !wrongType(err) {
			return err
		}
		shared.settle()
		e.unread(field)
		return skipTo(from, depth)
	})
}

// fieldOf is the field of a name in quotes, under any spelling that encoding/json accepts;
// nil if there is none.
func fieldOf(name jsontext.Value) *wireField {
	for i := range wireFields {
		if field := &wireFields[i]; string(name[1:len(name)-1]) == field.name {
			return field
		}
	}
	for i := range wireFields {
		if field := &wireFields[i]; isSpelling(name, field.name) {
			return field
		}
	}
	return nil
}

// unread makes a field of the wrong type unknown, or the event malformed.
func (e *wireEvent) unread(field *wireField) {
	if field.forget == nil {
		e.malformed = true
		return
	}
	field.forget(e)
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
