package gcal

import (
	"net/url"
	"strconv"

	"google.golang.org/api/googleapi"
)

// Mask says which fields of events a listing shows. A wider mask is the greater value and
// shows all that a narrower one does.
type Mask int

// The masks.
const (
	// Times shows what polls need: state and time.
	Times Mask = iota
	// WithDetails shows Event.Details but for the guests, and at most 250 events a page.
	WithDetails
	// WithGuests shows Event.Details with all guests, and at most 250 events a page.
	WithGuests
)

// Version numbers the parameters of listings with the mask, of which there is no other that
// has the number. A sync token is valid only for the parameters it was issued for: when
// changing any of them, give the mask a new number, above those of narrower masks, and
// stored tokens of another version are dropped as after a 410.
func (m Mask) Version() int64 { return int64(m) + 1 }

// timeFields are the fields that decide something for polls, detailFields those of Details
// without guests, and guestFields those of Details.
const (
	timeFields   googleapi.Field = "id,etag,status,updated,start,end,recurrence,recurringEventId,extendedProperties/private"
	moreFields   googleapi.Field = timeFields + ",iCalUID,summary,description,location,originalStartTime,visibility,transparency,eventType"
	detailFields googleapi.Field = moreFields + ",attendees(self,responseStatus),organizer(email,self)"
	guestFields  googleapi.Field = moreFields + ",attendees(email,responseStatus,resource,organizer,self)" + ofGuests
	// ofGuests are those beside the guests themselves.
	ofGuests googleapi.Field = ",attendeesOmitted,guestsCanModify,organizer(email,self)"
)

// pageFields surrounds the fields of a listing's events.
const pageFields = "nextPageToken,nextSyncToken,accessRole,timeZone,items"

// widePageSize is the most events on a page with details, which can be large.
const widePageSize = 250

// ownEntryOnly is the maxAttendees with which Google shows, of an event with more guests,
// only the calendar's own entry.
const ownEntryOnly = "1"

// fields are those of an event.
func (m Mask) fields() googleapi.Field {
	switch m {
	case WithGuests:
		return guestFields
	case WithDetails:
		return detailFields
	default:
		return timeFields
	}
}

// query are the parameters of a listing that has at most size events a page.
func (m Mask) query(size int) url.Values {
	if m > Times {
		size = min(size, widePageSize)
	}
	query := url.Values{
		"fields": {pageFields + "(" + string(m.fields()) + ")"}, "singleEvents": {"false"}, "maxResults": {strconv.Itoa(size)},
	}
	if m == WithDetails {
		query.Set("maxAttendees", ownEntryOnly)
	}
	return query
}
