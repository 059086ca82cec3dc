package gcal

import (
	"cmp"
	"slices"

	"questscheduler/internal/recurrence"
)

// Details are what other consumers than polls read of an event. Of a deleted event Google
// shows little more than its id; of a malformed one (Event.Malformed) any field may be
// missing.
type Details struct {
	ICalUID     string
	Summary     string
	Description string
	Location    string
	// Status is "confirmed", "tentative" or "cancelled"; "confirmed" if absent.
	Status string
	// Start and End are zero unless both can be read and are in order.
	Start, End recurrence.Moment
	// Recurrence are the RRULE, RDATE and EXDATE lines of a series.
	Recurrence []string
	// Original is the start that an instance has by its series' rule; zero for other events.
	Original recurrence.Moment
	// Visibility and Transparency are "default" and "opaque" if absent, "private" and "opaque"
	// if they cannot be read.
	Visibility   string
	Transparency string
	// Kind is the eventType; "default" if absent.
	Kind string
	// Response is the account's own answer to an invitation, such as "declined"; "" if it
	// is not among the guests, or they cannot be read.
	Response string
	// Organized reports whether the calendar asked is the organizer's, rather than a guest's.
	Organized bool
	// Guests are all guests, in Google's order, in answers of Get, GuestList, PatchGuests and
	// List WithGuests; nil in others.
	Guests []Guest
	// GuestsOmitted reports that Google cut the list, or that it cannot be read: it must not be
	// written back.
	GuestsOmitted bool
	// GuestsMayEdit reports that every guest may change the event.
	GuestsMayEdit bool
}

// Guest is a guest of an event.
type Guest struct {
	// Address is the e-mail address as Google shows it; "" if it shows none.
	Address string
	// Response is the answer to the invitation, such as "needsAction" or "declined".
	Response string
	// Resource marks a room or another thing that is booked.
	Resource bool
	// Optional marks a guest who need not come, in answers of GuestList and PatchGuests alone.
	Optional bool
	// Organizer marks the organizer, Self the calendar asked.
	Organizer, Self bool
}

// details interprets what an event shows beside its state, for a mask that shows details.
// zone is the calendar's.
func (e *wireEvent) details(mask Mask, zone string) *Details {
	details := &Details{
		ICalUID: e.ICalUID, Summary: e.Summary, Description: e.Description, Location: e.Location,
		Status: cmp.Or(e.Status, "confirmed"), Recurrence: e.Recurrence, Original: readMoment(e.Original, zone),
		Visibility: cmp.Or(e.Visibility, "default"), Transparency: cmp.Or(e.Transparency, "opaque"),
		Kind: cmp.Or(e.Kind, "default"), Organized: e.Organizer.Self,
	}
	if _, ok := readTimes(e.Start, e.End, zone); ok {
		details.Start, details.End = readMoment(e.Start, zone), readMoment(e.End, zone)
	}
	if own := slices.IndexFunc(e.Attendees, func(a wireAttendee) bool { return a.Self }); own >= 0 {
		details.Response = e.Attendees[own].Response
	}
	if mask == WithGuests {
		details.GuestsOmitted, details.GuestsMayEdit = e.Omitted || e.guestsUnknown, e.GuestsMayEdit
		for _, guest := range e.Attendees {
			details.Guests = append(details.Guests, Guest{
				Address: guest.Email, Response: guest.Response, Resource: guest.Resource, Optional: guest.Optional,
				Organizer: guest.Organizer, Self: guest.Self,
			})
		}
	}
	return details
}

// zoneless reports whether a time of the event has no zone of its own.
func (e *wireEvent) zoneless() bool {
	return !e.malformed && slices.ContainsFunc([]wireTime{e.Start, e.End, e.Original}, func(t wireTime) bool {
		return t.DateTime != "" && t.TimeZone == ""
	})
}
