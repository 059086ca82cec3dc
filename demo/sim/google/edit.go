package google

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"

	gcal "google.golang.org/api/calendar/v3"
)

// maxBody is far above any event.
const maxBody = 1 << 20

// readEvent reads the Event of a request. Fields of the wrong type are
// refused by the official client's own types; unknown fields are passed over,
// as Google does.
func readEvent(r *http.Request) (map[string]any, error) {
	text, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var typed gcal.Event
	if err := json.Unmarshal(text, &typed); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return nil, invalid("Invalid value for: %s", wrong.Field)
		}
		return nil, newError(http.StatusBadRequest, "parseError", "Parse Error")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var body map[string]any
	if err := dec.Decode(&body); err != nil || body == nil {
		return nil, newError(http.StatusBadRequest, "parseError", "Parse Error")
	}
	return body, nil
}

func readBody(r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, newError(http.StatusBadRequest, "parseError", "Parse Error")
	case len(text) > maxBody:
		return nil, newError(http.StatusRequestEntityTooLarge, "uploadTooLarge", "Request Too Large")
	case len(bytes.TrimSpace(text)) == 0:
		return nil, required("Required")
	}
	return text, nil
}

// edit is the event that a write makes of the one before, without version and
// times. replace is update's way: what the body does not name is gone; else it
// is merged field by field. It changes nothing of before.
func edit(before *event, body map[string]any, replace bool, calendarZone string) (*event, error) {
	after := *before
	after.Fields = maps.Clone(before.Fields)
	isNew := before.Version == 0
	for _, f := range eventFields {
		value, named := body[f.name]
		switch {
		case f.name == "eventType" && named && !isNew && value != before.text("eventType"):
			return nil, invalid("Event type cannot be changed.")
		case f.access != writable && !(f.access == atInsert && isNew):
		case f.name == "attendees" || f.name == "sequence" || f.name == "status":
			// each has rules of its own, below
		case named:
			if err := after.merge(f.name, value, replace); err != nil {
				return nil, err
			}
		case replace:
			delete(after.Fields, f.name)
		}
	}
	if before.Series != "" && after.recurring() {
		return nil, invalid("Cannot turn an instance of a recurring event into a recurring event itself.")
	}
	if err := after.checkProperties(); err != nil {
		return nil, err
	}
	if err := after.editTimes(before, body, replace, calendarZone); err != nil {
		return nil, err
	}
	if after.recurring() {
		if _, err := after.series(); err != nil {
			return nil, err
		}
	}
	if err := after.editAttendees(before, body, replace); err != nil {
		return nil, err
	}
	if err := after.editStatus(body, replace); err != nil {
		return nil, err
	}
	return &after, after.editSequence(before, body)
}

// merge puts a value in the place of a field, objects field by field; null
// removes.
func (e *event) merge(name string, value any, replace bool) error {
	var old any
	if raw, ok := e.Fields[name]; ok && !replace {
		if err := json.Unmarshal(raw, &old); err != nil {
			return err
		}
	}
	merged := mergeValue(old, value)
	if list, isList := merged.([]any); merged == nil || isList && len(list) == 0 {
		delete(e.Fields, name)
		return nil
	}
	raw, err := json.Marshal(merged)
	if err != nil {
		return err
	}
	e.Fields[name] = raw
	return nil
}

// mergeValue is RFC 7396, which is how Google's patch merges: null removes,
// objects merge, all else is replaced.
func mergeValue(old, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := old.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for name, value := range fields {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = mergeValue(merged[name], value)
		}
	}
	return merged
}

// editTimes takes start and end. A timed series must name the zones in which it
// recurs; what is stored has one, so a patch that says nothing of it keeps it.
func (e *event) editTimes(before *event, body map[string]any, replace bool, calendarZone string) error {
	for _, side := range []struct {
		name string
		at   *moment
		was  moment
	}{{"start", &e.Start, before.Start}, {"end", &e.End, before.End}} {
		given, named := body[side.name]
		if !named && !replace {
			continue
		}
		var old any = map[string]any{}
		if !replace {
			old = side.was.generic()
		}
		merged, _ := mergeValue(old, given).(map[string]any)
		var err error
		*side.at, err = parseMoment(side.name, merged, calendarZone)
		if err != nil {
			return err
		}
		if zone, _ := merged["timeZone"].(string); zone == "" && e.recurring() && !side.at.allDay() {
			return missingZone(side.name)
		}
	}
	return checkRange(e.Start, e.End)
}

// editAttendees takes the list whole, or with attendeesOmitted the entries
// that are given, which is how a guest answers without knowing the others. A guest
// who is shown no other answers so too.
func (e *event) editAttendees(before *event, body map[string]any, replace bool) error {
	given, named := body["attendees"]
	old := before.attendees()
	switch {
	case !named && !replace:
		return nil
	case given == nil:
		return e.setAttendees(nil)
	}
	partial := body["attendeesOmitted"] == true || before.hidesGuests()
	var kept []attendee
	if partial {
		kept = old
	}
	list, err := readAttendees(given, kept)
	if err != nil {
		return err
	}
	if partial {
		for i, a := range old {
			if given := find(list, a.email()); given != nil {
				old[i] = mergeValue(map[string]any(a), map[string]any(given)).(map[string]any)
			}
		}
		list = old
	}
	return e.setAttendees(list)
}

func (e *event) editStatus(body map[string]any, replace bool) error {
	given, named := body["status"]
	if named && given != nil {
		switch given {
		case "confirmed", "tentative":
			return e.merge("status", given, true)
		case "cancelled":
			e.Cancelled = true
			return nil
		}
		return invalid("Invalid value for: status")
	}
	if named || replace || e.Fields["status"] == nil {
		return e.merge("status", "confirmed", true)
	}
	return nil
}

// editSequence grows the sequence when the event moves, and takes a higher one
// from the request. A lower one is refused: it was read before another write.
func (e *event) editSequence(before *event, body map[string]any) error {
	var old, given int64
	if raw, ok := before.Fields["sequence"]; ok {
		if err := json.Unmarshal(raw, &old); err != nil {
			return err
		}
	}
	if number, ok := body["sequence"].(json.Number); ok {
		var err error
		given, err = number.Int64()
		if err != nil || given < old {
			return invalid("Invalid sequence value. The specified sequence number is below the current sequence" +
				" number of the resource. Re-fetch the resource and use its sequence number on the following request.")
		}
	}
	moved := before.Version != 0 && (e.Start != before.Start || e.End != before.End ||
		!bytes.Equal(e.Fields["recurrence"], before.Fields["recurrence"]))
	if moved {
		old++
	}
	return e.merge("sequence", max(old, given), true)
}
