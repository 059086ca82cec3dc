package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestFinaliseAgain_WithoutCalendarOverHTTP_UsesPrevious: the app's call and our route
// behave alike. The role that Google reports at that moment decides whether the
// previous calendar, or a named one, is used.
func TestFinaliseAgain_WithoutCalendarOverHTTP_UsesPrevious(t *testing.T) {
	t.Parallel()
	const club = "club@group.calendar.google.com"
	o := &outside{t, startDemo(t, t.TempDir())}
	share := func(role string) {
		o.sim("PUT", "calendars/"+club, map[string]any{"roles": map[string]any{"ana": "owner", "gm": role}})
	}
	pollID := o.ready.Polls["open"]
	slots := o.slotsOf(pollID)
	byApp := func(slot string, calendar any) (string, error) {
		got, err := o.call("gm", "/googleCalendarFinalizePoll", map[string]any{"schedulerId": pollID, "slotId": slot, "calendarId": calendar})
		if err != nil || got.status != http.StatusOK {
			return "", fmt.Errorf("%d %v %w", got.status, got.body, err)
		}
		return fmt.Sprint(got.body["result"].(map[string]any)["calendarId"]), nil
	}
	byRoute := func(slot string, calendar any) (string, error) {
		body := map[string]any{"slot_id": slot}
		if calendar != nil {
			body["calendar_id"] = calendar
		}
		got, err := o.v1("gm", "POST", "/polls/"+pollID+"/finalize", body)
		return fmt.Sprint(got["google_calendar_id"]), err
	}
	share("writerWithoutPrivateAccess")
	for i, step := range []struct {
		what     string
		role     string // "": as before
		by       func(slot string, calendar any) (string, error)
		calendar any
		want     string
		refused  string
	}{
		{"the club's calendar is named", "", byApp, club, club, ""},
		{"none is named in the app", "", byApp, nil, club, ""},
		{"none is named at our route", "", byRoute, nil, club, ""},
		{"the club's calendar is only read now, and named", "reader", byApp, club, "", "may not change the events"},
		{"it is named at our route", "", byRoute, club, "", "may not change the events"},
		{"none is named while it is only read", "", byRoute, nil, "gm@party.example", ""},
	} {
		if step.role != "" {
			share(step.role)
		}
		got, err := step.by(slots[i%2], step.calendar)
		switch {
		case step.refused != "" && (err == nil || !strings.Contains(err.Error(), step.refused)):
			t.Errorf("%s: %q, %v", step.what, got, err)
		case step.refused == "" && (err != nil || got != step.want):
			t.Errorf("%s: the calendar is %q, %v, want %q", step.what, got, err, step.want)
		}
	}
}
