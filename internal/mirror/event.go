// Package mirror holds the documents of mirroring: a person's canonical events, the
// policies that say which calendars know about which, and the mirrors that result.
package mirror

import (
	"strings"
	"time"

	"questscheduler/internal/recurrence"
)

// Consumer is the name under which mirroring follows calendars (calendars.Calendar.Interests).
const Consumer = "mirrors"

// Source says where a canonical event comes from.
type Source string

// The sources, as stored and as the API shows them.
const (
	SourceProvider Source = "provider" // a person made it in their calendar
	SourceAPI      Source = "api"      // made over REST, in a calendar of the person's
	SourcePoll     Source = "poll"     // the session of a finalised poll
	SourceGroup    Source = "group"    // an event of a group; it has no origin in any calendar
)

// KindCopy is the Kind of a copy of a mirror in another calendar, such as an invitation to
// one, and of a mirror that another installation made. It blocks time and is listed, and is
// never mirrored: otherwise two installations copy each other's copies without end.
const KindCopy = "copy"

// OrganizerOf identifies an organizer by address, in whatever case, without keeping it; "" for
// no address.
func OrganizerOf(address string) string {
	if address == "" {
		return ""
	}
	return hash(strings.ToLower(address))
}

// Event is a document of canonicalEvents: one event of one calendar of one person, or an
// event of a group. A series is one event, and each of its exceptions is another.
type Event struct {
	// ID is "evt_" and a ULID.
	ID string
	// OwnerID is the person whose calendar has it; of a group's event, its author.
	OwnerID string
	// AccountID, CalendarID and EventID are the origin; empty for SourceGroup.
	AccountID  string
	CalendarID string
	EventID    string
	// ICalUID is the same for a meeting in every calendar that shows it, and for a series
	// and its exceptions. A group's event has its own id here.
	ICalUID     string
	Title       string
	Description string
	Location    string
	Start, End  recurrence.Moment
	// Status is "confirmed", "tentative" or "cancelled". A cancelled event is kept while it
	// has mirrors, and a cancelled exception as long as its series.
	Status string
	// Visibility is "default", "public", "private" or "confidential".
	Visibility string
	// Transparency is "opaque" or "transparent".
	Transparency string
	// Kind is Google's eventType; "default" for ordinary events; KindCopy.
	Kind string
	// Organizer identifies the address of the organizer (OrganizerOf); "" if unknown.
	Organizer string
	// Declined reports whether the owner declined it.
	Declined bool
	// Recurrence are the RRULE, RDATE and EXDATE lines of a series; empty for others.
	Recurrence []string
	// SeriesID is the origin event id of the series that this is an exception of, and
	// OriginalStart the start that it would have by the rule; empty for others.
	SeriesID      string
	OriginalStart recurrence.Moment
	// ETag and Updated are Google's, of the origin as last observed.
	ETag    string
	Updated time.Time
	// Version counts the changes of what the API shows, from 1.
	Version int64
	// CopyOf are the ids of the events that this one may be another program's copy of, the earliest
	// first: it answers the mirror of the last, which answered that of the one before (plan.CopyOf).
	// Empty for exceptions.
	CopyOf []string
	// DuplicateOf are the same for an event with a mirror's marks, as a person makes it by hand:
	// the events whose mirrors were duplicated in turn.
	DuplicateOf []string
	// HoldsBack reports that an event has this one in CopyOf or DuplicateOf and may have no mirrors
	// therefore, so that it must be planned again after this one changed.
	HoldsBack bool
	Source    Source
	// PollID is set for SourcePoll, GroupID for SourceGroup and for the session of a poll
	// that its group shares.
	PollID  string
	GroupID string
	// From and Until bound the event for queries: the start of the first occurrence and the
	// end of the last. An endless series ends in the year 9999.
	From, Until time.Time
	// PlanAt is when time alone next changes which mirrors it should have, such as when it
	// comes within the window; zero for never.
	PlanAt time.Time
	// PlanTrace correlates the planning with the change that set PlanAt; "" for time alone.
	PlanTrace string
	CreatedAt time.Time
	UpdatedAt time.Time
}
