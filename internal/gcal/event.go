package gcal

import (
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/rules"
)

// Event is an event as a calendar shows it: what decides, and what names it.
type Event struct {
	ID string
	// ETag changes with every change of the event; PatchTimes takes it.
	ETag string
	// Summary and Description are the title and text. Listings leave them
	// out: they decide nothing.
	Summary     string
	Description string
	// Seen is Gone where the status is cancelled, Series where the event
	// recurs, Unreadable where its times cannot be read, else Present.
	Seen rules.Seen
	// Malformed tells of an Unreadable event that a field has another JSON type
	// than Google documents: the event may be well, and its answer is not. What
	// else is here was readable.
	Malformed bool
	// Fingerprint is the time of the event, for Present alone.
	Fingerprint rules.Fingerprint
	// Updated is when the event was last changed; zero where the answer does
	// not tell, as it need not for deleted events.
	Updated time.Time
	// InstanceOf is the id of the series that this is an instance of, or "".
	// An instance has an id of its own and is never the linked single event.
	InstanceOf string
	// Private are the private extended properties: marks that only the
	// program that made the event reads. It may be nil.
	Private map[string]string
	// Organizer is the e-mail address of the calendar that the event belongs to,
	// and Organized tells that it is the calendar that answers: a guest's copy
	// belongs to another. Get alone gives them.
	Organizer string
	Organized bool
}

// NewEvent is an event to be made.
type NewEvent struct {
	// ID is the event's id: 5 to 1024 characters of a-v and 0-9, unique in the
	// calendar for ever, deleted events included.
	ID          string
	Summary     string
	Description string
	// Start and End are the event's time, End exclusive.
	Start, End time.Time
	// AllDay makes an event of whole days: the dates of Start and End in UTC,
	// as rules.Fingerprint has them.
	AllDay bool
	// TimeZone is the IANA zone that the event is shown in; "": the
	// calendar's. All-day events have none.
	TimeZone string
	// Attendees are the guests' e-mail addresses.
	Attendees []string
	// Private are the private extended properties.
	Private map[string]string
	// SendUpdates says which guests Google tells; "": the client's setting.
	SendUpdates SendUpdates
}

// shownBy is what Google's client read of an event.
func shownBy(item *calendar.Event) *shownEvent {
	shown := &shownEvent{
		ID: item.Id, ETag: item.Etag, Status: item.Status, Updated: item.Updated, Start: item.Start, End: item.End,
		Recurrence: item.Recurrence, InstanceOf: item.RecurringEventId,
	}
	if item.ExtendedProperties != nil {
		shown.Extended.Private = item.ExtendedProperties.Private
	}
	return shown
}

// event reads what an event means. zone is the calendar's, for times that come
// without offset and zone of their own; "" where it is not known.
func (e *shownEvent) event(zone string) Event {
	event := Event{ID: e.ID, ETag: e.ETag, Seen: rules.Present, InstanceOf: e.InstanceOf, Private: e.Extended.Private}
	if updated, err := time.Parse(time.RFC3339Nano, e.Updated); err == nil {
		event.Updated = updated.UTC()
	}
	switch {
	case e.Status == "cancelled":
		event.Seen = rules.Gone // it may have nothing but its id
	case e.malformed:
		event.Seen, event.Malformed = rules.Unreadable, true
	case len(e.Recurrence) > 0:
		event.Seen = rules.Series
	default:
		fingerprint, ok := readTimes(e.Start, e.End, zone)
		if !ok {
			event.Seen = rules.Unreadable
		}
		event.Fingerprint = fingerprint
	}
	return event
}

// encode writes the event as Google takes it.
func (e NewEvent) encode() *calendar.Event {
	event := &calendar.Event{
		Id: e.ID, Summary: e.Summary, Description: e.Description,
		Start: writeInstant(e.Start, e.TimeZone), End: writeInstant(e.End, e.TimeZone),
	}
	if e.AllDay {
		event.Start, event.End = writeDate(e.Start), writeDate(e.End)
	}
	for _, email := range e.Attendees {
		event.Attendees = append(event.Attendees, &calendar.EventAttendee{Email: email})
	}
	if len(e.Private) > 0 {
		event.ExtendedProperties = &calendar.EventExtendedProperties{Private: e.Private}
	}
	return event
}
