package google

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// filter says which events a listing shows.
type filter struct {
	zone             *time.Location
	timeMin, timeMax time.Time
	updatedMin       time.Time
	text             string
	iCalUID          string
	types            []string
	private, shared  []property
}

// property is a constraint on an extended property.
type property struct{ name, value string }

// tooLongAgo is how far back updatedMin may lie.
const tooLongAgo = 28 * 24 * time.Hour

func readFilter(q *query, zone *time.Location) filter {
	f := filter{
		zone:       zone,
		timeMin:    q.instant("timeMin"),
		timeMax:    q.instant("timeMax"),
		updatedMin: q.instant("updatedMin"),
		text:       strings.ToLower(q.values.Get("q")),
		iCalUID:    q.values.Get("iCalUID"),
		types:      q.values["eventTypes"],
		private:    q.properties("privateExtendedProperty"),
		shared:     q.properties("sharedExtendedProperty"),
	}
	for _, name := range f.types {
		if !slices.Contains(eventTypes, name) {
			q.fail("eventTypes", "Invalid string value: '"+name+"'.")
		}
	}
	if !f.timeMin.IsZero() && !f.timeMax.IsZero() && !f.timeMax.After(f.timeMin) {
		q.fail("timeMax", "The specified time range is empty.")
	}
	return f
}

// properties reads name=value, as often as it is given.
func (q *query) properties(name string) []property {
	var list []property
	for _, text := range q.values[name] {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			q.fail(name, "Write a property constraint as name=value.")
			continue
		}
		list = append(list, property{key, value})
	}
	return list
}

func (f *filter) check(now time.Time) error {
	if !f.updatedMin.IsZero() && now.Sub(f.updatedMin) > tooLongAgo {
		return errTooLongAgo
	}
	return nil
}

// shows says whether a live event is among those asked for. A series counts as
// going on for ever.
func (f *filter) shows(e *event) bool {
	switch {
	case !f.timeMin.IsZero() && !e.End.in(f.zone).After(f.timeMin) && !e.recurring(),
		!f.timeMax.IsZero() && !e.Start.in(f.zone).Before(f.timeMax),
		!f.updatedMin.IsZero() && e.Updated.Before(f.updatedMin),
		f.iCalUID != "" && e.text("iCalUID") != f.iCalUID,
		len(f.types) > 0 && !slices.Contains(f.types, e.text("eventType")),
		f.text != "" && !f.inText(e):
		return false
	}
	return e.has("private", f.private) && e.has("shared", f.shared)
}

// inText searches the fields that Google's search covers: texts and attendees.
func (f *filter) inText(e *event) bool {
	words := []string{e.text("summary"), e.text("description"), e.text("location"), e.Organizer}
	for _, a := range e.attendees() {
		name, _ := a["displayName"].(string)
		words = append(words, a.email(), name)
	}
	return strings.Contains(strings.ToLower(strings.Join(words, "\n")), f.text)
}

// has says whether the event carries all the properties.
func (e *event) has(kind string, wanted []property) bool {
	if len(wanted) == 0 {
		return true
	}
	var properties map[string]map[string]string
	if raw, ok := e.Fields["extendedProperties"]; ok {
		if err := json.Unmarshal(raw, &properties); err != nil {
			return false
		}
	}
	return !slices.ContainsFunc(wanted, func(p property) bool { return properties[kind][p.name] != p.value })
}
