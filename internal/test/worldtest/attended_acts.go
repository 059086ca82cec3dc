package worldtest

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// Gather makes an event of a colleague.
func (w *World) Gather(name string, event map[string]any) (g Gathering) {
	w.t.Helper()
	made := w.InsertEvent(name, event)
	g = w.GatheringOf(name, made.ID)
	for _, guest := range g.Guests {
		w.personAdded(g, w.book(g), guest.Address())
	}
	return g
}

// ChangeGathering has a colleague change an event in their calendar; without the right to,
// nothing happens.
func (w *World) ChangeGathering(name, eventID string, patch map[string]any) {
	w.t.Helper()
	if w.GatheringOf(name, eventID).Live() {
		w.ByPerson(name, eventID, func() { w.PatchEvent(name, eventID, patch) })
	}
}

// Invite has a colleague add a guest to an event.
func (w *World) Invite(name, eventID string, guest Guest) {
	w.t.Helper()
	g := w.GatheringOf(name, eventID)
	if g.Guest(guest.Address()) == nil {
		w.ChangeGathering(name, eventID, map[string]any{"attendees": append(g.Guests, guest)})
	}
}

// Uninvite has a colleague remove a guest from an event.
func (w *World) Uninvite(name, eventID, address string) {
	w.t.Helper()
	rest := []Guest{}
	for _, guest := range w.GatheringOf(name, eventID).Guests {
		if guest.Address() != strings.ToLower(address) {
			rest = append(rest, guest)
		}
	}
	w.ChangeGathering(name, eventID, map[string]any{"attendees": rest})
}

// Respond has a colleague answer an invitation.
func (w *World) Respond(name, eventID, response string) {
	w.t.Helper()
	guests := w.GatheringOf(name, eventID).Guests
	for _, guest := range guests {
		if guest.Address() == Person(name).Email {
			guest["responseStatus"] = response
		}
	}
	w.ChangeGathering(name, eventID, map[string]any{"attendees": guests})
}

// LeaveGathering has a colleague delete an event from their calendar.
func (w *World) LeaveGathering(name, eventID string) {
	w.t.Helper()
	if w.GatheringOf(name, eventID).Live() {
		w.ByPerson(name, eventID, func() { w.DeleteEvent(name, eventID) })
	}
}

// OccurrencesOfSeries are the ids of the live occurrences of a series.
func (w *World) OccurrencesOfSeries(series Gathering) (ids []string) {
	w.t.Helper()
	w.own["events.instances"]++
	name := series.OrganizerName()
	status, text := w.browse(name, Person(name).Email, http.MethodGet, "/"+series.ID+"/instances?maxResults=50", nil)
	if status != http.StatusOK {
		w.t.Fatalf("%s could not list the series: %d %s", name, status, text)
	}
	var list struct {
		Items []Gathering `json:"items"`
	}
	w.must(json.Unmarshal(text, &list))
	for _, g := range list.Items {
		if g.Live() {
			ids = append(ids, g.ID)
		}
	}
	return ids
}
