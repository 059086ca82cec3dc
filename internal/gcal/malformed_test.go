package gcal_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

// unknownFields replaces a field of wellFormed, without which an event can be read, by one of
// a type that it never has; wrongFields one without which it cannot.
var unknownFields = map[string][2]string{
	"summary":       {`"summary":"s"`, `"summary":["s"]`},
	"description":   {`"description":"d"`, `"description":{"text":"d"}`},
	"location":      {`"location":"l"`, `"location":5`},
	"visibility":    {`"visibility":"public"`, `"visibility":["public"]`},
	"transparency":  {`"transparency":"transparent"`, `"transparency":true`},
	"eventType":     {`"eventType":"focusTime"`, `"eventType":{"x":{"y":[1,{}]}}`},
	"attendees":     {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"attendees":{"self":true}`},
	"a text":        {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"attendees":"gm@example.test"`},
	"a guest":       {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"attendees":[{"self":true,"responseStatus":"declined"},7]`},
	"response":      {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"attendees":[{"self":true,"responseStatus":3}]`},
	"address":       {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"attendees":[{"self":true,"email":["gm@example.test"]}]`},
	"upper case":    {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"ATTENDEES":false`},
	"omitted":       {`"attendeesOmitted":false`, `"attendeesOmitted":"no"`},
	"may edit":      {`"guestsCanModify":true`, `"guestsCanModify":1`},
	"two of them":   {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"location":[],"attendees":{}`},
	"after another": {`"attendeesOmitted":false`, `"attendees":8,"attendeesOmitted":false`},
}

var wrongFields = map[string][2]string{
	"id":         {`"id":"abcde1"`, `"id":{"x":[1]}`},
	"status":     {`"status":"confirmed"`, `"status":true`},
	"updated":    {`"updated":"2026-03-01T10:00:00Z"`, `"updated":7`},
	"start":      {`"start":{"dateTime":"2026-03-01T12:00:00Z"}`, `"start":[{"dateTime":"2026-03-01T12:00:00Z"}]`},
	"dateTime":   {`{"dateTime":"2026-03-01T12:00:00Z"}`, `{"dateTime":{"value":["2026-03-01T12:00:00Z"]}}`},
	"end":        {`"end":{"dateTime":"2026-03-01T13:00:00Z"}`, `"end":false`},
	"recurrence": {`"recurrence":[]`, `"recurrence":"RRULE:FREQ=DAILY"`},
	"a rule":     {`"recurrence":[]`, `"recurrence":[["RRULE:FREQ=DAILY"]]`},
	"private":    {`"private":{"poll":"p1"}`, `"private":["poll"]`},
	"original":   {`"originalStartTime":{"date":"2026-03-01"}`, `"originalStartTime":"2026-03-01"`},
	"iCalUID":    {`"iCalUID":"abcde1@google.com"`, `"iCalUID":{}`},
	"organizer":  {`"organizer":{"self":true}`, `"organizer":["self"]`},
	"a mark":     {`"private":{"poll":"p1"}`, `"private":{"poll":{"id":"p1"}}`},
	"and guests": {`"attendees":[{"self":true,"responseStatus":"declined"}]`, `"attendees":{},"end":[]`},
}

const wellFormed = `{"start":{"dateTime":"2026-03-01T12:00:00Z"},"end":{"dateTime":"2026-03-01T13:00:00Z"},"recurrence":[],` +
	`"extendedProperties":{"private":{"poll":"p1"}},"status":"confirmed","updated":"2026-03-01T10:00:00Z","id":"abcde1",` +
	`"summary":"s","originalStartTime":{"date":"2026-03-01"},"attendees":[{"self":true,"responseStatus":"declined"}],` +
	`"attendeesOmitted":false,"guestsCanModify":true,"description":"d","location":"l","visibility":"public","transparency":"transparent",` +
	`"eventType":"focusTime","iCalUID":"abcde1@google.com","organizer":{"self":true}}`

// malformed is wellFormed with one wrong field.
func malformed(t *testing.T, field string) string {
	t.Helper()
	event := strings.Replace(wellFormed, wrongFields[field][0], wrongFields[field][1], 1)
	if event == wellFormed {
		t.Fatalf("nothing is wrong with %s", event)
	}
	return event
}

// answering is a client of a server that answers a listing with the items, and
// the get of an event with the first of them.
func answering(t *testing.T, items ...string) *gcal.Client {
	t.Helper()
	return scripted(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/abcde1") {
			fmt.Fprint(w, items[0])
			return
		}
		if r.URL.Query().Get("fields") == "accessRole,timeZone" {
			fmt.Fprint(w, `{"accessRole":"owner","timeZone":"Europe/Zurich"}`)
			return
		}
		fmt.Fprintf(w, `{"accessRole":"owner","timeZone":"Europe/Zurich","nextSyncToken":"s","items":[%s]}`, strings.Join(items, ","))
	})
}

func TestListWithDetails_MalformedEvent_FailsNoOther(t *testing.T) {
	t.Parallel()
	for field := range wrongFields {
		client := answering(t, malformed(t, field), `null`, wellFormed, `{"id":"later1","status":"cancelled"}`)
		page, err := client.List(t.Context(), mine, gcal.WithDetails, "", "")
		if err != nil || len(page.Events) != 3 {
			t.Fatalf("%s: got %+v, %v", field, page, err)
		}
		if first := page.Events[0]; !first.Malformed || first.Details == nil {
			t.Errorf("%s: the malformed event is %+v", field, first)
		}
		well := page.Events[1].Details
		if page.Events[1].Malformed || well.Summary != "s" || well.Response != "declined" || well.Original.Date != "2026-03-01" ||
			!well.Organized || well.ICalUID != "abcde1@google.com" {
			t.Errorf("%s: the one behind it has %+v", field, well)
		}
		if last := page.Events[2].Details; last == nil || last.Status != "cancelled" || !last.Start.IsZero() {
			t.Errorf("%s: the deleted one has %+v", field, last)
		}
	}
}

func TestList_MalformedEvent_FailsNoOther(t *testing.T) {
	t.Parallel()
	for field := range wrongFields {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			client := answering(t, malformed(t, field), wellFormed, malformed(t, field), `{"id":"later1","status":"cancelled"}`)
			page, err := client.List(t.Context(), mine, gcal.Times, "", "")
			if err != nil || len(page.Events) != 4 || page.NextSync != "s" {
				t.Fatalf("got %+v, %v", page, err)
			}
			first := page.Events[0]
			if first.EventState != rules.Unreadable || !first.Malformed || !first.Fingerprint.IsZero() || first.ID != "abcde1" && field != "id" {
				t.Errorf("the malformed event is %+v", first)
			}
			if well := page.Events[1]; well.EventState != rules.Present || well.Malformed || well.Private["poll"] != "p1" || well.Updated.IsZero() {
				t.Errorf("the one behind it is %+v", well)
			}
			if last := page.Events[3]; last.EventState != rules.Gone || last.ID != "later1" {
				t.Errorf("the last one is %+v", last)
			}
		})
	}
}

// What is no event at all, or has no id, could be any of the calendar's.
func TestList_EventWithoutReadableID_MarksItsPage(t *testing.T) {
	t.Parallel()
	for _, item := range []string{`7`, `"abcde1"`, `[{"id":"abcde1"}]`, malformed(t, "id")} {
		client := answering(t, item, wellFormed)
		for _, token := range []string{"", "token"} {
			page, err := client.List(t.Context(), mine, gcal.Times, token, "")
			if err != nil || !page.Nameless || len(page.Events) != 2 || page.Events[1].ID != "abcde1" {
				t.Errorf("%s listed with the token %q: %+v, %v", item, token, page, err)
			}
		}
	}
}

func TestGet_MalformedEvent_IsUnreadable(t *testing.T) {
	t.Parallel()
	for field := range wrongFields {
		event, err := answering(t, malformed(t, field)).Get(t.Context(), mine, "abcde1")
		if err != nil || event.ID != "abcde1" || event.EventState != rules.Unreadable || !event.Malformed {
			t.Errorf("%s: got %+v, %v", field, event, err)
		}
		if marked := event.Private["poll"] == "p1"; marked != (field != "private" && field != "a mark") {
			t.Errorf("%s: its marks are %v", field, event.Private)
		}
	}
	gone := strings.Replace(malformed(t, "start"), "confirmed", "cancelled", 1)
	if event, err := answering(t, gone).Get(t.Context(), mine, "abcde1"); err != nil || event.EventState != rules.Gone || event.Malformed {
		t.Errorf("deleted: got %+v, %v", event, err)
	}
	for _, body := range []string{`null`, `7`, `[]`, `"abcde1"`, ``, `{"id":"abcde1"`, `{"id":"abcde1"} {}`, `<html>`} {
		if event, err := answering(t, body).Get(t.Context(), mine, "abcde1"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%q is read as %+v, %v", body, event, err)
		}
	}
}
