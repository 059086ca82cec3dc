package gcal_test

import (
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

// unknown is wellFormed, with guests, with one field that becomes unknown.
func unknown(t *testing.T, field string) string {
	t.Helper()
	event := strings.Replace(wellFormed, unknownFields[field][0], unknownFields[field][1], 1)
	if event == wellFormed {
		t.Fatalf("nothing is unknown of %s", event)
	}
	return event
}

// A field without which the event can be read makes neither it nor any other unreadable.
func TestList_FieldOfAnUnexpectedType_IsUnknown(t *testing.T) {
	t.Parallel()
	for field := range unknownFields {
		client := answering(t, unknown(t, field), wellFormed, unknown(t, field))
		page, err := client.List(t.Context(), mine, gcal.WithGuests, "", "")
		if err != nil || len(page.Events) != 3 || page.Nameless {
			t.Fatalf("%s: got %+v, %v", field, page, err)
		}
		for i, event := range page.Events {
			if event.Malformed || event.EventState != rules.Present || event.Fingerprint.IsZero() || event.ID != "abcde1" ||
				event.Private["poll"] != "p1" || event.Updated.IsZero() || !event.Organized {
				t.Errorf("%s: event %d is %+v", field, i, event)
			}
			want := gcal.Details{
				ICalUID: "abcde1@google.com", Summary: "s", Description: "d", Location: "l", Status: "confirmed", Visibility: "public",
				Transparency: "transparent", Kind: "focusTime", Response: "declined", GuestsMayEdit: true,
			}
			guests := 1
			if i != 1 {
				guests = forgotten(&want, field)
			}
			got := *event.Details
			if got.ICalUID != want.ICalUID || got.Summary != want.Summary || got.Description != want.Description || got.Location != want.Location ||
				got.Visibility != want.Visibility || got.Transparency != want.Transparency || got.Kind != want.Kind || got.Response != want.Response ||
				got.GuestsOmitted != want.GuestsOmitted || got.GuestsMayEdit != want.GuestsMayEdit || len(got.Guests) != guests {
				t.Errorf("%s: event %d has %+v, want %+v and %d guests", field, i, got, want, guests)
			}
		}
	}
}

// forgotten takes out of what is wanted what a row of unknownFields makes unknown, and gives
// how many guests are left.
func forgotten(want *gcal.Details, field string) (guests int) {
	switch field {
	case "summary":
		want.Summary = ""
	case "description":
		want.Description = ""
	case "location":
		want.Location = ""
	case "visibility":
		want.Visibility = "private"
	case "transparency":
		want.Transparency = "opaque"
	case "eventType":
		want.Kind = "default"
	case "may edit":
		want.GuestsMayEdit = false
	case "omitted":
		want.GuestsOmitted = true
	default:
		want.Response, want.GuestsOmitted = "", true
		return 0
	}
	return 1
}

func TestGet_FieldOfAnUnexpectedType_IsUnknown(t *testing.T) {
	t.Parallel()
	for field := range unknownFields {
		event, err := answering(t, unknown(t, field)).Get(t.Context(), mine, "abcde1")
		if err != nil || event.Malformed || event.EventState != rules.Present || event.ID != "abcde1" || event.Private["poll"] != "p1" {
			t.Errorf("%s: got %+v, %v", field, event, err)
		}
	}
}

// Guests that cannot be read whole are written back by nobody.
func TestPatchGuests_GuestsOfAnUnexpectedType_IsRefused(t *testing.T) {
	t.Parallel()
	for _, field := range []string{
		"attendees", "a text", "a guest", "response", "address", "upper case", "omitted", "two of them", "after another",
	} {
		client := answering(t, strings.Replace(unknown(t, field), `"id":`, `"etag":"\"1\"","id":`, 1))
		list, err := client.GuestList(t.Context(), mine, "abcde1")
		if err != nil || list.Event.Malformed || !list.Event.Details.GuestsOmitted {
			t.Errorf("%s: got %+v, %v", field, list.Event, err)
			continue
		}
		change := gcal.GuestChange{Add: []string{"ana@example.test"}}
		if event, err := client.PatchGuests(t.Context(), mine, list, change, "none"); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: written as %+v, %v", field, event, err)
		}
	}
}
