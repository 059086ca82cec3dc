package google

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// event is one version of an event in one calendar. It is never changed once
// it is stored.
type event struct {
	Calendar string `json:"calendar"`
	ID       string `json:"id"`
	// Ordinal is the event's place among the calendar's events as they were
	// created.
	Ordinal int   `json:"ordinal"`
	Version int64 `json:"version"`
	// Organizer is the calendar that the event belongs to; in every other it
	// is a guest's copy.
	Organizer string    `json:"organizer"`
	Creator   string    `json:"creator"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	// Cancelled: a tombstone. The fields stay but are shown to nobody.
	Cancelled bool `json:"cancelled,omitempty"`
	// Moved: a tombstone that events.move left behind.
	Moved bool   `json:"moved,omitempty"`
	Start moment `json:"start"`
	End   moment `json:"end"`
	// Series and Original are set in an instance of a series: the id of the
	// series, and when the instance would take place by its recurrence.
	Series   string `json:"series,omitempty"`
	Original moment `json:"original,omitzero"`
	// Fields are those that are neither named above nor made from them, in
	// compact JSON.
	Fields map[string]json.RawMessage `json:"fields"`
}

// instantLayout is that of created and updated.
const instantLayout = "2006-01-02T15:04:05.000Z"

func (e *event) isCopy() bool { return e.Organizer != e.Calendar }

// vanished reports whether an event was deleted so long ago that it is no longer
// visible. Its id stays taken. An instance is visible as long as its series.
func (c *calendar) vanished(e *event, visibleSince time.Time) bool {
	return e.Cancelled && !e.Updated.After(visibleSince) && !c.lives(e.Series)
}

// lives says whether there is a live event of that id.
func (c *calendar) lives(id string) bool {
	e := c.events[id]
	return e != nil && !e.Cancelled
}

// recurring says whether the event is a series.
func (e *event) recurring() bool { return len(e.Fields["recurrence"]) > 0 }

// etag differs for each version, in the form of Google's ETags.
func (e *event) etag() string {
	return `"` + strconv.FormatInt(3_500_000_000_000_000+2*e.Version, 10) + `"`
}

// text is a field that holds a string; "" where it is not there.
func (e *event) text(name string) string {
	var s string
	if raw, ok := e.Fields[name]; ok {
		// A field of another type was refused when the event was written.
		_ = json.Unmarshal(raw, &s)
	}
	return s
}

// view is how an event is shown to one caller.
type view struct {
	zone         *time.Location // of the offsets
	maxAttendees int            // 0: all
	mask         mask
	role         Role                       // of the caller
	malformed    map[string]malformedFields // by event
}

// hiddenShape is what a role that does not see an event whole sees of it.
var hiddenShape = map[string]bool{
	"kind": true, "etag": true, "id": true, "status": true, "updated": true, "start": true, "end": true,
	"recurringEventId": true, "originalStartTime": true, "transparency": true, "visibility": true, "iCalUID": true, "eventType": true,
}

// render is the resource as an answer shows it. Of a deleted event only what
// is guaranteed is shown.
func (e *event) render(v view) (object, error) {
	o := make(object, 0, len(eventFields))
	if e.Cancelled {
		o = append(o, field{"kind", "calendar#event"}, field{"etag", e.etag()}, field{"id", e.ID}, field{"status", "cancelled"})
		if e.Series != "" {
			o = append(o, field{"recurringEventId", e.Series}, field{"originalStartTime", e.Original.render(v.zone)})
		}
		return v.mask.apply(v.malformed[e.ID].over(o))
	}
	whole := v.role.sees(e)
	for _, f := range eventFields {
		inner, wanted := v.mask.inner(f.name)
		if !wanted || !whole && !hiddenShape[f.name] {
			continue
		}
		value := e.value(f, v)
		if f.name == "visibility" && !whole {
			value = "private"
		}
		value = v.malformed[e.ID].of(f.name, value)
		if value == nil {
			continue
		}
		value, err := inner.applyValue(value)
		if err != nil {
			return nil, err
		}
		o = append(o, field{f.name, value})
	}
	return o, nil
}

// value is one field's value, nil where the event does not have it.
func (e *event) value(f eventField, v view) any {
	if f.access == computed {
		return e.computed(f.name, v)
	}
	raw, ok := e.Fields[f.name]
	switch {
	case f.name == "attendees" && ok && e.omits(v.maxAttendees):
		return e.ownEntry()
	case f.name == "attendeesOmitted" && e.omits(v.maxAttendees):
		return true
	case !ok:
		return nil
	}
	return raw
}

func (e *event) computed(name string, v view) any {
	switch name {
	case "kind":
		return "calendar#event"
	case "etag":
		return e.etag()
	case "id":
		return e.ID
	case "htmlLink":
		eid := base64.RawURLEncoding.EncodeToString([]byte(e.ID + " " + e.Calendar))
		return "https://www.google.com/calendar/event?eid=" + url.QueryEscape(eid)
	case "created":
		return e.Created.UTC().Format(instantLayout)
	case "updated":
		return e.Updated.UTC().Format(instantLayout)
	case "creator":
		return e.person(e.Creator)
	case "organizer":
		return e.person(e.Organizer)
	case "recurringEventId":
		return textOrNil(e.Series)
	case "originalStartTime":
		if e.Series != "" {
			return e.Original.render(v.zone)
		}
	case "start":
		return e.Start.render(v.zone)
	case "end":
		return e.End.render(v.zone)
	}
	return nil
}

func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// person is a creator or organizer; self says that it is the one whose
// calendar this is.
func (e *event) person(email string) object {
	o := object{{"email", email}}
	if fold(email) == fold(e.Calendar) {
		o = append(o, field{"self", true})
	}
	return o
}
