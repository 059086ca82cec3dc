package google

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"questscheduler/demo/sim/control"
)

// Malformed is a stored event that answers show with other fields than it has:
// of a type that the API's description does not give them, or not at all.
type Malformed struct {
	// Calendar is the calendar's id, not "primary".
	Calendar string `json:"calendar"`
	Event    string `json:"event"`
	// Fields are shown as they are here in the place of the event's own, and
	// pass through the caller's fields mask. null leaves a field out. No fields
	// at all: the event is shown as it is again.
	Fields map[string]json.RawMessage `json:"fields"`
}

// Malform has events.get, events.list and events.instances show an event as m
// says, until another Malform of that event or ClearMalformed. The event itself
// does not change: a listing from a sync token has it once it changes next.
// Like a fault it lives in memory alone. An error names what is wrong with m.
func (s *Server) Malform(m Malformed) error {
	fields := map[string]json.RawMessage{}
	for _, name := range sortedKeys(m.Fields) {
		var compact bytes.Buffer
		if _, known := eventShape[name]; !known {
			return fmt.Errorf("fields: an event has no field %q", name)
		}
		if err := json.Compact(&compact, m.Fields[name]); err != nil {
			return fmt.Errorf("fields: %s is no JSON: %w", name, err)
		}
		fields[name] = compact.Bytes()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cal := s.world.calendars[m.Calendar]
	if cal == nil || cal.events[m.Event] == nil {
		return errors.New("calendar, event: no such event is stored; give the calendar's id")
	}
	// Answers are rendered without the lock: what they hold is never changed.
	events := maps.Clone(s.malformed[m.Calendar])
	if events == nil {
		events = map[string]malformedFields{}
	}
	events[m.Event] = fields
	if len(fields) == 0 {
		delete(events, m.Event)
	}
	s.malformed[m.Calendar] = events
	return nil
}

// Malformed are the events that are shown so now, by calendar and event.
func (s *Server) Malformed() []Malformed {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Malformed{}
	for _, calendarID := range sortedKeys(s.malformed) {
		for _, eventID := range sortedKeys(s.malformed[calendarID]) {
			list = append(list, Malformed{calendarID, eventID, maps.Clone(s.malformed[calendarID][eventID])})
		}
	}
	return list
}

// ClearMalformed has every event shown as it is.
func (s *Server) ClearMalformed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.malformed)
}

// malformedFields are the fields of one event, by name.
type malformedFields map[string]json.RawMessage

// of is what is shown of a field in the place of value; nil: nothing.
func (m malformedFields) of(name string, value any) any {
	wrong, ok := m[name]
	switch {
	case !ok:
		return value
	case string(wrong) == "null":
		return nil
	}
	return wrong
}

// over is a whole object with the fields in it.
func (m malformedFields) over(o object) object {
	if len(m) == 0 {
		return o
	}
	shown := object{}
	for _, f := range eventFields {
		var value any
		if at := slices.IndexFunc(o, func(one field) bool { return one.name == f.name }); at >= 0 {
			value = o[at].value
		}
		value = m.of(f.name, value)
		if value != nil {
			shown = append(shown, field{f.name, value})
		}
	}
	return shown
}

// simMalform is POST /_sim/malformed {"calendar": "…", "event": "…", "fields":
// {"recurrence": "weekly", "updated": null}}.
func (s *Server) simMalform(w http.ResponseWriter, r *http.Request) {
	var m Malformed
	if !control.Decode(w, r, &m) {
		return
	}
	if err := s.Malform(m); err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	s.simMalformed(w, r)
}

// simMalformed is GET /_sim/malformed.
func (s *Server) simMalformed(w http.ResponseWriter, _ *http.Request) {
	control.Answer(w, http.StatusOK, map[string]any{"malformed": s.Malformed()})
}

// simClearMalformed is DELETE /_sim/malformed.
func (s *Server) simClearMalformed(w http.ResponseWriter, r *http.Request) {
	s.ClearMalformed()
	s.simMalformed(w, r)
}
