package attendees

import (
	"maps"
	"time"

	"questscheduler/internal/ids"
	"questscheduler/internal/recurrence"
)

// State says what became of an address at an event.
type State string

// The states, as stored.
const (
	// None is nothing. Only an exception's record holds it, in place of the series' entry.
	None        State = ""
	Adding      State = "adding"      // a patch that adds it was perhaps made
	Added       State = "added"       // it was observed after we added it
	Theirs      State = "theirs"      // a person invited it
	Removed     State = "removed"     // a person removed it; it is never added again
	Withdrawing State = "withdrawing" // a patch that takes our addition back was perhaps made
	Declined    State = "declined"    // it had declined when we took it back; it is never added again
)

// EventRecord is a document of attendeeEvents: an event, or an exception of a series, in all
// calendars that show it. Only the addresses of mapped people are kept of it.
type EventRecord struct {
	ID      string // RecordID of the following two
	ICalUID string
	// Original is the start that an exception has by its series' rule, as recurrence.Moment
	// writes it; "" for other events.
	Original string
	// SeriesID is the record of an exception's series, or of the first part of a series whose
	// later part this is; "" for other events.
	SeriesID string
	// Since is when an event of a SeriesID had last changed, by Google's clock, when its own
	// guests were first read; zero: they are not known yet. Inherited are the entries that it
	// inherited then, by address in lower case.
	Since     time.Time
	Inherited map[string]Entry
	// Copies are the calendars that show the event, by calendar key.
	Copies map[string]Copy
	// Entries are what became of addresses, by address in lower case.
	Entries map[string]Entry
	// Version counts the decisions; one that was made on an older version does not count.
	Version int64
	// Due is when the writer takes the event up; zero: nothing is pending. Trace correlates that
	// with what last made it due.
	Due   time.Time
	Trace string
	// Failures counts failed writes in a row, since FailedSince; Missing the last of them that
	// found no event, and nothing else.
	Failures, Missing int64
	FailedSince       time.Time
	Error             string // the last failure's sentence
	// EndsAt is when the event, or the last occurrence of a series, ends; zero: not known.
	EndsAt time.Time
	// History are the last changes, oldest first.
	History   []Change
	UpdatedAt time.Time
}

// Copy is an event in one calendar.
type Copy struct {
	AccountID, CalendarID, EventID string
	// Organized reports that the calendar is the organizer's; MayEdit that its guests may
	// change the event.
	Organized, MayEdit bool
	// Gone reports that the calendar no longer shows it.
	Gone bool
	// ETag is the version of the event that last made the record due.
	ETag string
}

// Entry is what became of an address.
type Entry struct {
	State   State
	Primary string // whose second address it is
	// At is when the event had last changed, by Google's clock, when the state was confirmed.
	At time.Time
	// Copy is the key of the calendar that confirmed it.
	Copy string
	// Declined reports that the address had declined when it was withdrawn.
	Declined bool
}

// Change is a change of an entry.
type Change struct {
	At time.Time
	// Trigger is such as push or timer; Trace correlates all effects of one trigger.
	Trigger, Trace   string
	Address, Primary string
	// Before and After are states; "" for an address of which nothing was or is known.
	Before, After State
	// Would reports that it was not carried out, since QS_SYNC is observe.
	Would bool
}

// Inherits are the entries of an event's series, or of the first part of one, that count for it
// where it has none, by address in lower case. An event whose own guests are known gets nobody
// from its series any more, so what became of an address there since says nothing about it.
func (e EventRecord) Inherits(series EventRecord) map[string]Entry {
	if e.Since.IsZero() {
		return series.Entries
	}
	inherited := maps.Clone(series.Entries)
	maps.DeleteFunc(inherited, func(_ string, of Entry) bool { return of.State == Adding || !of.At.Before(e.Since) })
	if inherited == nil {
		return e.Inherited
	}
	maps.Copy(inherited, e.Inherited)
	return inherited
}

// HistoryKept is how many changes an event keeps.
const HistoryKept = 20

// RecordID is the id of an event's record.
func RecordID(iCalUID string, original recurrence.Moment) string {
	return "att_" + ids.Of(iCalUID, original.String()).Base32()
}
