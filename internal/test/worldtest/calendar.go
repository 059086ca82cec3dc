package worldtest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"questscheduler/demo/sim/google"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Role is what a person may do in a calendar.
type Role = google.Role

// The roles that tests give and take.
const (
	NoAccess                   = google.NoAccess
	Refused                    = google.Refused
	Reader                     = google.Reader
	WriterWithoutPrivateAccess = google.WriterWithoutPrivateAccess
	Writer                     = google.Writer
	Owner                      = google.Owner
)

// Event is an event as its owner sees it in Google Calendar.
type Event struct {
	ID     string `json:"id"`
	ETag   string `json:"etag"`
	Status string `json:"status"`
	Title  string `json:"summary"`
	Text   string `json:"description"`
	Start  moment `json:"start"`
	End    moment `json:"end"`
	Marks  struct {
		Private map[string]string `json:"private"`
	} `json:"extendedProperties"`
	Attendees []struct {
		Email string `json:"email"`
	} `json:"attendees"`
	Organizer struct {
		// Self tells the organiser's event from a guest's copy.
		Self bool `json:"self"`
	} `json:"organizer"`
	Recurrence []string  `json:"recurrence"`
	Updated    time.Time `json:"updated"`
}

// guests are the addresses of an event's guests.
func (e Event) guests() string {
	var addresses []string
	for _, guest := range e.Attendees {
		addresses = append(addresses, guest.Email)
	}
	return strings.Join(addresses, " ")
}

// zone is the time zone of every person and calendar.
const zone = "Europe/Berlin"

type moment struct {
	Date     string `json:"date"`
	DateTime string `json:"dateTime"`
	TimeZone string `json:"timeZone"`
}

// Live reports whether the event exists and was not deleted.
func (e Event) Live() bool { return e.Status != "" && e.Status != "cancelled" }

// Fingerprint is the time of the event, as the simulator shows it.
func (e Event) Fingerprint() rules.Fingerprint {
	if e.Start.Date != "" {
		days, err := rules.Days(e.Start.Date, e.End.Date)
		if err != nil {
			panic(err)
		}
		return days
	}
	start, startErr := time.Parse(time.RFC3339Nano, e.Start.DateTime)
	end, endErr := time.Parse(time.RFC3339Nano, e.End.DateTime)
	if startErr != nil || endErr != nil {
		return rules.Fingerprint{}
	}
	return rules.Timed(start, end)
}

// MoveEvent gives an event of a person's calendar another time, in the zone of
// their browser.
func (w *World) MoveEvent(person, eventID string, to scheduler.Times) {
	w.t.Helper()
	w.PatchEvent(person, eventID, map[string]any{
		"start": map[string]any{"dateTime": to.Start.Format(time.RFC3339Nano), "timeZone": zone, "date": nil},
		"end":   map[string]any{"dateTime": to.End.Format(time.RFC3339Nano), "timeZone": zone, "date": nil},
	})
}

// PatchEvent changes an event of a person's calendar. If the
// event has since moved to another organizer's calendar, the person has a guest's
// copy, which Google lets nobody change: then nothing happens.
func (w *World) PatchEvent(person, eventID string, patch map[string]any) {
	w.t.Helper()
	body, err := json.Marshal(patch, json.Deterministic(true))
	w.must(err)
	status, text := w.google(person, "events.patch", "/"+eventID, body)
	if status != http.StatusOK && !strings.Contains(string(text), "forbiddenForNonOrganizer") {
		w.t.Fatalf("%s could not change the event: %d %s", person, status, text)
	}
}

// DeleteEvent removes an event from a person's calendar.
func (w *World) DeleteEvent(person, eventID string) {
	w.t.Helper()
	if status, text := w.google(person, "events.delete", "/"+eventID, nil); status != http.StatusNoContent {
		w.t.Fatalf("%s could not delete the event: %d %s", person, status, text)
	}
	w.goneFrom(person, eventID)
}

// ClearCalendar removes all events from a person's primary calendar at once.
func (w *World) ClearCalendar(person string) {
	w.t.Helper()
	events := w.Events(person)
	_, calendarID := calendarOf(person)
	w.must(w.Google.Clear(calendarID))
	for _, event := range events {
		w.goneFrom(person, event.ID)
	}
}

// UndeleteEvent brings a deleted event back. False: it was moved away, or is a
// copy of what is no more, so that there is nothing to bring back. Where no poll
// followed it any more it is its owner's from then on: a deletion of ours that is
// under way may have found it gone.
func (w *World) UndeleteEvent(person, eventID string) bool {
	w.t.Helper()
	if w.EventOf(person, eventID).Live() {
		return false
	}
	status, text := w.google(person, "events.patch", "/"+eventID, []byte(`{"status":"confirmed"}`))
	if status == http.StatusForbidden {
		return false
	}
	if status != http.StatusOK {
		w.t.Fatalf("%s could not bring the event back: %d %s", person, status, text)
	}
	w.backIn(person, eventID)
	_, calendarID := calendarOf(person)
	if !slices.ContainsFunc(w.Index(), func(e poll.IndexEntry) bool { return e.EventID == eventID && e.CalendarID == calendarID }) {
		w.Released(eventID)
	}
	return true
}

// MoveAway gives an event of one calendar of gm to the other. False: gm may not
// write there now.
func (w *World) MoveAway(from, eventID, to string) bool {
	w.t.Helper()
	if w.club != Owner {
		return false
	}
	w.MoveTo(from, eventID, to)
	return true
}

// MoveTo gives an event of a calendar of gm to another, to which gm may write.
// Where the calendar that it leaves keeps a guest's copy, that is followed on, and
// the event itself is left alone.
func (w *World) MoveTo(from, eventID, to string) {
	w.t.Helper()
	_, source := calendarOf(from)
	_, destination := calendarOf(to)
	status, text := w.google(from, "events.move", "/"+eventID+"/move?destination="+url.QueryEscape(destination), nil)
	if status != http.StatusOK {
		w.t.Fatalf("%s could not move the event away: %d %s", from, status, text)
	}
	if w.EventOf(from, eventID).Live() || w.past.moved[source+"/"+eventID] {
		delete(w.past.arrived, source+"/"+eventID) // what is left there is a copy
		w.past.moved[source+"/"+eventID] = true
		w.past.moved[destination+"/"+eventID] = true
	} else {
		w.goneFrom(from, eventID)
		w.past.arrived[destination+"/"+eventID] = w.Clock.Now()
	}
	w.backIn(to, eventID)
}

// InsertEvent makes an event that is none of ours, or resembles one.
func (w *World) InsertEvent(person string, event map[string]any) Event {
	w.t.Helper()
	body, err := json.Marshal(event, json.Deterministic(true))
	w.must(err)
	status, text := w.google(person, "events.insert", "", body)
	if status != http.StatusOK {
		w.t.Fatalf("%s could not make the event: %d %s", person, status, text)
	}
	var made Event
	w.must(json.Unmarshal(text, &made))
	return made
}

// EventOf is an event of a person's calendar; the zero event where there was
// never one.
func (w *World) EventOf(person, eventID string) Event {
	w.t.Helper()
	status, text := w.google(person, "events.get", "/"+eventID, nil)
	if status == http.StatusNotFound {
		return Event{}
	}
	var event Event
	w.must(json.Unmarshal(text, &event))
	return event
}

// Events are the live events of a person's calendar. It is listed again where it
// changed since it was last asked for.
func (w *World) Events(person string) []Event {
	w.t.Helper()
	_, calendarID := calendarOf(person)
	version := w.Google.Version(calendarID)
	if before, known := w.listed[person]; !known || before.version != version {
		w.listed[person] = listing{version, w.list(person)}
	}
	return slices.Clone(w.listed[person].events)
}

// listing is a calendar as it was listed.
type listing struct {
	version int64
	events  []Event
}

// shown is the fields mask of what an Event has of an event in a listing.
const shown = "items(id,etag,status,summary,description,start,end,extendedProperties,attendees,organizer,recurrence,updated)"

// list lists a person's calendar.
func (w *World) list(person string) []Event {
	w.t.Helper()
	status, text := w.google(person, "events.list", "?maxResults=2500&fields="+shown, nil)
	var list struct {
		Items []Event `json:"items"`
	}
	w.must(json.Unmarshal(text, &list))
	if status != http.StatusOK {
		w.t.Fatalf("%s could not list the calendar: %d %s", person, status, text)
	}
	return list.Items
}

// Club names gm's second calendar wherever a person names their own. What is
// done there is done by its keeper.
const (
	Club         = "club"
	ClubCalendar = "club@group.calendar.google.com"
)

// calendarOf is whose calendar is meant, and its id.
func calendarOf(person string) (owner, calendarID string) {
	if person == Club {
		return "gm", ClubCalendar
	}
	return person, Person(person).Email
}

// Calendars are all calendars there are, by the names of calendarOf.
var Calendars = []string{"gm", Club, "ana", "ben", "cho"}

var verbs = map[string]string{
	"events.list": http.MethodGet, "events.get": http.MethodGet, "events.insert": http.MethodPost,
	"events.patch": http.MethodPatch, "events.delete": http.MethodDelete, "events.move": http.MethodPost,
}

// google is a call of a person's own, by their browser: planted faults do not
// strike it, it shows no event malformed, and Calls does not count it.
func (w *World) google(person, method, below string, body []byte) (status int, text []byte) {
	w.t.Helper()
	w.own[method]++
	browser, calendarID := calendarOf(person)
	if person == Club && method != "events.move" {
		browser = keeper // who has no access to where it is moved
	}
	return w.browse(browser, calendarID, verbs[method], below, body)
}

// browse is google for any calendar that the browser's person sees.
func (w *World) browse(browser, calendarID, verb, below string, body []byte) (status int, text []byte) {
	w.t.Helper()
	address := googleURL + "/calendar/v3/calendars/" + url.PathEscape(calendarID) + "/events" + below
	request, err := http.NewRequestWithContext(w.ctx, verb, address, bytes.NewReader(body))
	w.must(err)
	request.Header.Set("Authorization", "Bearer "+w.browsers[browser].AccessToken)
	faults, malformed := w.Google.Control().Rules(), w.Google.Malformed()
	w.Heal()
	response, err := (&http.Client{Transport: w.transport()}).Do(request)
	w.must(err)
	for _, planted := range faults {
		w.must(w.Google.Control().Plant(planted))
	}
	for _, wrong := range malformed {
		w.must(w.Google.Malform(wrong))
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	w.must(err)
	return response.StatusCode, text
}
