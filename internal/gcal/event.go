package gcal

import (
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/rules"
)

// Event is what a calendar shows of an event.
type Event struct {
	ID string
	// ETag changes with every change of the event; PatchTimes takes it.
	ETag string
	// Summary and Description are empty in answers of List.
	Summary     string
	Description string
	// EventState is Gone if the status is cancelled, Series if the event recurs, Unreadable if
	// its times cannot be read, else Present.
	EventState rules.EventState
	// Malformed marks an Unreadable event of whose identity, times or version a field has
	// another JSON type than Google documents: the event itself may be fine. The other fields
	// were readable. Any other such field is unknown, and the event is as readable as without.
	Malformed bool
	// Fingerprint is the event's time, for Present only.
	Fingerprint rules.Fingerprint
	// Updated is when the event last changed; zero if the answer omits it, as it may for
	// deleted events.
	Updated time.Time
	// InstanceOf is the id of the series that this is an instance of, or "". An instance
	// has its own id and is never the linked event.
	InstanceOf string
	// Private holds the private extended properties, which only the program that created
	// the event reads. It may be nil.
	Private map[string]string
	// Organizer is the address of the calendar that owns the event; Organized reports
	// whether that is the calendar asked, rather than a guest's. Answers without Details
	// lack them.
	Organizer string
	Organized bool
	// Details are set by List with a mask above Times, Get, GuestList, PatchGuests, Instance,
	// InsertContent and PatchContent, and nil otherwise.
	Details *Details
}

// NewEvent is an event to be created.
type NewEvent struct {
	// ID has 5 to 1024 characters of a-v and 0-9. It is unique in the calendar for ever,
	// deleted events included.
	ID          string
	Summary     string
	Description string
	// End is exclusive.
	Start, End time.Time
	// AllDay takes the dates of Start and End in UTC, as rules.Fingerprint does.
	AllDay bool
	// TimeZone is the IANA zone to show it in; "" means the calendar's. All-day events
	// have none.
	TimeZone string
	// Attendees are the guests' e-mail addresses.
	Attendees []string
	Private   map[string]string
}

func fromClient(item *calendar.Event) *wireEvent {
	shown := &wireEvent{
		ID: item.Id, ETag: item.Etag, Status: item.Status, Updated: item.Updated, Recurrence: item.Recurrence,
		Start: timeFromClient(item.Start), End: timeFromClient(item.End), Original: timeFromClient(item.OriginalStartTime),
		InstanceOf: item.RecurringEventId, ICalUID: item.ICalUID, Summary: item.Summary, Description: item.Description,
		Location: item.Location, Visibility: item.Visibility, Transparency: item.Transparency, Kind: item.EventType,
	}
	for _, attendee := range item.Attendees {
		if attendee != nil {
			shown.Attendees = append(shown.Attendees, wireAttendee{Self: attendee.Self, Response: attendee.ResponseStatus})
		}
	}
	if item.Organizer != nil {
		shown.Organizer.Email, shown.Organizer.Self = item.Organizer.Email, item.Organizer.Self
	}
	if item.ExtendedProperties != nil {
		shown.Extended.Private = item.ExtendedProperties.Private
	}
	return shown
}

// event interprets an event. zone is the calendar's, for times without offset and zone of
// their own; "" if unknown.
func (e *wireEvent) event(zone string) Event {
	event := Event{
		ID: e.ID, ETag: e.ETag, Summary: e.Summary, Description: e.Description, EventState: rules.Present,
		InstanceOf: e.InstanceOf, Private: e.Extended.Private, Organizer: e.Organizer.Email, Organized: e.Organizer.Self,
	}
	if updated, err := time.Parse(time.RFC3339Nano, e.Updated); err == nil {
		event.Updated = updated.UTC()
	}
	switch {
	case e.Status == "cancelled":
		event.EventState = rules.Gone // it may have nothing but its id
	case e.malformed:
		event.EventState, event.Malformed = rules.Unreadable, true
	case len(e.Recurrence) > 0:
		event.EventState = rules.Series
	default:
		fingerprint, ok := readTimes(e.Start, e.End, zone)
		if !ok {
			event.EventState = rules.Unreadable
		}
		event.Fingerprint = fingerprint
	}
	return event
}

func (e NewEvent) encode() *calendar.Event {
	at := rules.Timed(e.Start, e.End)
	at.AllDay = e.AllDay
	event := &calendar.Event{Id: e.ID, Summary: e.Summary, Description: e.Description}
	event.Start, event.End = writeTimes(at, e.TimeZone)
	for _, email := range e.Attendees {
		event.Attendees = append(event.Attendees, &calendar.EventAttendee{Email: email})
	}
	if len(e.Private) > 0 {
		event.ExtendedProperties = &calendar.EventExtendedProperties{Private: e.Private}
	}
	return event
}
