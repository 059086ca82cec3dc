package worldtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"questscheduler/attendees"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Domain is the domain of primary addresses.
const Domain = "one.example"

// Colleagues are the people of two domains, as Google's users. Those of Primaries may be
// mapped to the others, whose ids end in 2; ola is in neither domain.
var Colleagues = []scheduler.Person{
	{ID: "pia", Email: "pia@one.example"},
	{ID: "paul", Email: "paul@one.example"},
	{ID: "pola", Email: "pola@one.example"},
	{ID: "pia2", Email: "pia@two.example"},
	{ID: "paul2", Email: "paul@two.example"},
	{ID: "pola2", Email: "pola@two.example"},
	{ID: "ola", Email: "ola@else.example"},
}

// Newcomers are colleagues by their names, who may be mapped all at once and have no events. A
// service account reaches their calendars; nobody links them.
var Newcomers = []string{"new1", "new2", "new3", "new4", "new5", "new6", "new7", "new8", "new9"}

// Primaries are the colleagues who link their accounts.
var Primaries = []string{"pia", "paul", "pola"}

// Gathering is an event of a colleague, as its organizer sees it.
type Gathering struct {
	ID         string   `json:"id"`
	ETag       string   `json:"etag"`
	ICalUID    string   `json:"iCalUID"`
	Status     string   `json:"status"`
	SeriesID   string   `json:"recurringEventId"`
	Original   moment   `json:"originalStartTime"`
	Start      moment   `json:"start"`
	End        moment   `json:"end"`
	Recurrence []string `json:"recurrence"`
	MayEdit    bool     `json:"guestsCanModify"`
	Organizer  struct {
		Email string `json:"email"`
		Self  bool   `json:"self"`
	} `json:"organizer"`
	Guests []Guest `json:"attendees"`
}

// Guest is an entry of a guest list, with every field that Google shows.
type Guest map[string]any

// Address is the guest's, in lower case.
func (g Guest) Address() string {
	address, _ := g["email"].(string)
	return strings.ToLower(address)
}

// Declined reports whether the guest declined.
func (g Guest) Declined() bool { return g["responseStatus"] == "declined" }

func (g Guest) room() bool { return g["resource"] == true }

// Live reports whether it exists and was not deleted.
func (g Gathering) Live() bool { return g.Status != "" && g.Status != "cancelled" }

// OrganizerName is the organizer's name among Colleagues; "" for anybody else's event.
func (g Gathering) OrganizerName() string { return colleague(g.Organizer.Email) }

// Guest is the entry of an address; nil if it is not among the guests.
func (g Gathering) Guest(address string) Guest {
	for _, guest := range g.Guests {
		if guest.Address() == strings.ToLower(address) {
			return guest
		}
	}
	return nil
}

// original is an exception's, as its record has it.
func (g Gathering) original() recurrence.Moment {
	if g.SeriesID == "" {
		return recurrence.Moment{}
	}
	return g.Original.moment()
}

func (m moment) moment() recurrence.Moment {
	at, err := time.Parse(time.RFC3339Nano, m.DateTime)
	if err != nil {
		return recurrence.Moment{Date: m.Date}
	}
	return recurrence.Moment{Time: at.UTC(), Zone: m.TimeZone}
}

// colleague is the name of a colleague with an address; "" if there is none.
func colleague(address string) string {
	for _, person := range Colleagues {
		if person.Email == strings.ToLower(address) {
			return person.ID
		}
	}
	return ""
}

// openAttended makes the users of Colleagues and links the accounts of Primaries.
func (w *World) openAttended() {
	w.t.Helper()
	if !w.options.Attended {
		return
	}
	for _, person := range Colleagues {
		grant, err := w.Google.AddUser(google.User{Key: person.ID, Sub: "sub-" + person.ID, Email: person.Email, TimeZone: zone})
		w.must(err)
		w.browsers[person.ID] = grant
	}
	if !w.options.Delegated {
		w.LinkColleagues()
		return
	}
	for _, name := range Newcomers {
		_, err := w.Google.AddUser(google.User{Key: name, Sub: "sub-" + name, Email: name + "@" + Domain, TimeZone: zone})
		w.must(err)
	}
}

// LinkColleagues has the colleagues of primary addresses give access to their calendars,
// perhaps again.
func (w *World) LinkColleagues() {
	w.t.Helper()
	if w.options.Delegated {
		w.EndDelegation(false)
		if w.Mappings != nil {
			if err := w.refreshMappings(true, Cause); err != nil {
				w.Verdicts = append(w.Verdicts, fmt.Sprintf("refresh of mappings by hand: %v", err))
			}
		}
		return
	}
	for _, name := range Primaries {
		w.Link(name)
	}
}

// Gatherings are the live events that a colleague organizes, exceptions of series included.
func (w *World) Gatherings(name string) []Gathering {
	w.t.Helper()
	w.own["events.list"]++
	status, text := w.browse(name, Person(name).Email, http.MethodGet, "?maxResults=2500", nil)
	var list struct {
		Items []Gathering `json:"items"`
	}
	w.must(json.Unmarshal(text, &list))
	if status != http.StatusOK {
		w.t.Fatalf("%s could not list the calendar: %d %s", name, status, text)
	}
	return slices.DeleteFunc(list.Items, func(g Gathering) bool { return !g.Organizer.Self || !g.Live() })
}

// GatheringOf is an event as a colleague's calendar shows it, or an occurrence of a series;
// the zero Gathering if it shows none.
func (w *World) GatheringOf(name, eventID string) (g Gathering) {
	w.t.Helper()
	w.own["events.get"]++
	status, text := w.browse(name, Person(name).Email, http.MethodGet, "/"+eventID, nil)
	if status == http.StatusNotFound {
		return g
	}
	if status != http.StatusOK {
		w.t.Fatalf("%s could not read the event: %d %s", name, status, text)
	}
	w.must(json.Unmarshal(text, &g))
	return g
}

// organized is the event of a calendar as its organizer sees it; the zero Gathering if none
// of Colleagues organizes it.
func (w *World) organized(calendarID, eventID string) Gathering {
	name := colleague(calendarID)
	if name == "" {
		return Gathering{}
	}
	g := w.GatheringOf(name, eventID)
	if organizer := g.OrganizerName(); organizer != "" && organizer != name {
		return w.GatheringOf(organizer, eventID)
	}
	return g
}

// AttendeeRecords are the records of events, by id.
func (w *World) AttendeeRecords() []attendees.EventRecord {
	return decoded(w.all(allAttendeeEvents), attendees.DecodeEvent)
}

// The documents of second addresses.
var (
	allAttendeeEvents   = &store.Query{Name: "world: attendee events", Collection: "attendeeEvents"}
	allAttendeeMappings = &store.Query{Name: "world: attendee mappings", Collection: "attendeeMappings"}
	attendeeInspections = []*store.Query{allAttendeeEvents, allAttendeeMappings}
)

// recorded is the state of an address that the program knows at an event: its own record's,
// else that of its series.
func (w *World) recorded(g Gathering, address string) attendees.State {
	if entry, own := w.recordOf(g, g.original()).Entries[address]; own {
		return entry.State
	}
	return w.inherited(g, address).State
}

// inherited is the entry of an occurrence's series that counts for it: what became of an address
// in the series says nothing about an occurrence whose own guests were known before.
func (w *World) inherited(g Gathering, address string) attendees.Entry {
	record := w.recordOf(g, g.original())
	if entry, kept := record.Inherited[address]; kept {
		return entry
	}
	of := w.recordOf(g, recurrence.Moment{}).Entries[address]
	if record.Since.IsZero() || of.State != attendees.Adding && of.At.Before(record.Since) {
		return of
	}
	return attendees.Entry{}
}

// recordOf is the record of an occurrence, or of the whole event.
func (w *World) recordOf(g Gathering, original recurrence.Moment) attendees.EventRecord {
	return attendees.DecodeEvent(w.observed.document(attendees.EventPath(attendees.RecordID(g.ICalUID, original))))
}

// sameMoment reports whether an occurrence of which nothing is recorded changes now in the
// moment in which its series did: which was first cannot be known.
func (w *World) sameMoment(g Gathering, address string) bool {
	_, own := w.recordOf(g, g.original()).Entries[address]
	of := w.recordOf(g, recurrence.Moment{}).Entries[address]
	return g.SeriesID != "" && !own && !w.Clock.Now().Truncate(time.Millisecond).After(of.At)
}

// String names the event in a history.
func (g Gathering) String() string { return fmt.Sprintf("event %s of %s", g.ID, g.OrganizerName()) }
