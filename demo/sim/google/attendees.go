package google

import (
	"bytes"
	"encoding/json"
	"strings"
)

// attendee is one entry of an event's attendees; entries keep every field that
// they were given.
type attendee map[string]any

func (a attendee) email() string {
	email, _ := a["email"].(string)
	return email
}

// is says whether the entry stands for an address.
func (a attendee) is(email string) bool { return fold(a.email()) == fold(email) }

// attendees are an event's own; changing them changes nothing of the event.
func (e *event) attendees() []attendee {
	var list []attendee
	if raw, ok := e.Fields["attendees"]; ok {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		// What is stored was marshalled by setAttendees.
		_ = dec.Decode(&list)
	}
	return list
}

// setAttendees stores the list as the event's own calendar shows it.
func (e *event) setAttendees(list []attendee) error {
	if len(list) == 0 {
		delete(e.Fields, "attendees")
		return nil
	}
	for _, a := range list {
		delete(a, "self")
		delete(a, "organizer")
		if a.is(e.Calendar) {
			a["self"] = true
		}
		if a.is(e.Organizer) {
			a["organizer"] = true
		}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	e.Fields["attendees"] = raw
	return nil
}

// responses are the values of responseStatus.
var responses = map[string]bool{"needsAction": true, "declined": true, "tentative": true, "accepted": true}

// readAttendees checks the attendees of a request. An entry without a response has the
// one of kept, else it has not answered: a list that replaces another says every
// response. The same address twice counts once.
func readAttendees(given any, kept []attendee) ([]attendee, error) {
	entries, ok := given.([]any)
	if !ok {
		return nil, invalid("Invalid value for: attendees")
	}
	var list []attendee
	for _, entry := range entries {
		fields, ok := entry.(map[string]any)
		a := attendee(fields)
		switch {
		case !ok || a.email() == "":
			return nil, required("Missing attendee email.")
		case !strings.Contains(a.email(), "@"):
			return nil, invalid("Invalid attendee email.")
		case find(list, a.email()) != nil:
			continue
		}
		if a["responseStatus"] == nil {
			a["responseStatus"] = "needsAction"
			if old := find(kept, a.email()); old != nil {
				a["responseStatus"] = old["responseStatus"]
			}
		}
		if status, _ := a["responseStatus"].(string); !responses[status] {
			return nil, invalid("Invalid value for: attendees.responseStatus")
		}
		list = append(list, a)
	}
	return list, nil
}

func find(list []attendee, email string) attendee {
	for _, a := range list {
		if a.is(email) {
			return a
		}
	}
	return nil
}

// without is the list less one address.
func without(list []attendee, email string) []attendee {
	var rest []attendee
	for _, a := range list {
		if !a.is(email) {
			rest = append(rest, a)
		}
	}
	return rest
}

// omits says whether an answer shows the calendar's own entry alone, as Google does where
// there are more attendees than asked for, or where guests do not see each other.
// attendeesOmitted then says so.
func (e *event) omits(most int) bool {
	if most <= 0 && !e.hidesGuests() {
		return false // without reading the list
	}
	count := len(e.attendees())
	return most > 0 && count > most || count > 1 && e.hidesGuests()
}

// hidesGuests says whether the event is the copy of a guest who sees no other. Who may
// modify the event sees them.
func (e *event) hidesGuests() bool {
	return e.isCopy() && string(e.Fields["guestsCanSeeOtherGuests"]) == "false" && !e.guestsModify()
}

func (e *event) guestsModify() bool { return string(e.Fields["guestsCanModify"]) == "true" }

// guestsInvite says whether guests may add others, which they may unless it is forbidden.
func (e *event) guestsInvite() bool { return string(e.Fields["guestsCanInviteOthers"]) != "false" }

// ownEntry is the list with the calendar's own entry alone.
func (e *event) ownEntry() any {
	self := find(e.attendees(), e.Calendar)
	if self == nil {
		return nil
	}
	text, err := json.Marshal([]attendee{self})
	if err != nil {
		return nil
	}
	return json.RawMessage(text)
}
