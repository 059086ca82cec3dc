package gcal

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	calendar "google.golang.org/api/calendar/v3"
)

// theirPage and theirEvent are a page as encoding/json reads it, with each field of an
// event on its own.
type theirPage struct {
	NextPage string        `json:"nextPageToken"`
	NextSync string        `json:"nextSyncToken"`
	Role     string        `json:"accessRole"`
	Zone     string        `json:"timeZone"`
	Items    []*theirEvent `json:"items"`
}

type theirEvent struct {
	wireEvent
	start, end, original *calendar.EventDateTime
	// wrong are the fields of wireEvent that make the event malformed. Readers differ in
	// what they make of a value of a wrong type.
	wrong []string
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *theirEvent) UnmarshalJSON(body []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		e.malformed = true
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		text, _ := name.(string)
		if err := e.readField(text, value); err != nil {
			return err
		}
	}
	return nil
}

// readField reads a field and notes one of the wrong type, which is no error.
func (e *theirEvent) readField(name string, value []byte) error {
	for _, field := range []struct {
		name   string
		into   any
		forget func()
		called string // by wireEvent
	}{
		{"id", &e.ID, nil, "ID"},
		{"etag", &e.ETag, nil, "ETag"},
		{"status", &e.Status, nil, "Status"},
		{"updated", &e.Updated, nil, "Updated"},
		{"start", &e.start, nil, "Start"},
		{"end", &e.end, nil, "End"},
		{"originalStartTime", &e.original, nil, "Original"},
		{"recurrence", &e.Recurrence, nil, "Recurrence"},
		{"recurringEventId", &e.InstanceOf, nil, "InstanceOf"},
		{"extendedProperties", &e.Extended, nil, "Extended"},
		{"iCalUID", &e.ICalUID, nil, "ICalUID"},
		{"organizer", &e.Organizer, nil, "Organizer"},
		{"summary", &e.Summary, func() { e.Summary = "" }, ""},
		{"description", &e.Description, func() { e.Description = "" }, ""},
		{"location", &e.Location, func() { e.Location = "" }, ""},
		{"visibility", &e.Visibility, func() { e.Visibility = "private" }, ""},
		{"transparency", &e.Transparency, func() { e.Transparency = "" }, ""},
		{"eventType", &e.Kind, func() { e.Kind = "" }, ""},
		{"attendees", &e.Attendees, func() { e.Attendees, e.guestsUnknown = nil, true }, ""},
		{"attendeesOmitted", &e.Omitted, func() { e.guestsUnknown = true }, ""},
		{"guestsCanModify", &e.GuestsMayEdit, func() { e.GuestsMayEdit = false }, ""},
	} {
		if !strings.EqualFold(field.name, name) {
			continue
		}
		err := json.Unmarshal(value, field.into)
		if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); !wrong {
			return err
		}
		if field.forget != nil {
			field.forget()
			return nil
		}
		e.malformed, e.wrong = true, append(e.wrong, field.called)
	}
	return nil
}

// page is what they read, as ours, of which it takes what is not compared.
func (p *theirPage) page(ours *listed) *listed {
	if p == nil {
		return nil
	}
	page := &listed{NextPage: p.NextPage, NextSync: p.NextSync, Role: p.Role, Zone: p.Zone}
	if p.Items != nil {
		page.Items = make(wireEvents, len(p.Items))
	}
	for i, item := range p.Items {
		if item == nil {
			continue
		}
		event := item.wireEvent
		event.Start, event.End, event.Original = timeFromClient(item.start), timeFromClient(item.end), timeFromClient(item.original)
		if ours != nil && i < len(ours.Items) && ours.Items[i] != nil {
			for _, name := range item.wrong {
				reflect.ValueOf(&event).Elem().FieldByName(name).Set(reflect.ValueOf(ours.Items[i]).Elem().FieldByName(name))
			}
		}
		page.Items[i] = &event
	}
	return page
}
