package main

import (
	"fmt"
	"regexp"
	"testing"

	"questscheduler/internal/test/webapp"
)

// clientCall is a call by the official client (internal/test/webapp/callables.js).
type clientCall struct {
	At    string `json:"at"`
	Form  string `json:"form"`
	Token string `json:"token"`
	Name  string `json:"name"`
	Data  any    `json:"data"`
}

// clientAnswer is the outcome of one.
type clientAnswer struct {
	Result        map[string]any
	Code, Message string
}

// sentence is the message as it was sent: newer versions of the client append the HTTP
// status.
func (a clientAnswer) sentence() string { return behind.ReplaceAllString(a.Message, "") }

var behind = regexp.MustCompile(` \[\d{3}\]$`)

// TestCallables_ByTheOfficialClient: httpsCallable of the npm package firebase reads
// every result and error correctly, at both forms of address.
func TestCallables_ByTheOfficialClient(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"emulator", "domain"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			o := &outside{t, startDemo(t, t.TempDir())}
			open, slots := o.ready.Polls["open"], o.slotsOf(o.ready.Polls["open"])
			finalise := map[string]any{
				"schedulerId": open, "slotId": slots[0], "calendarId": nil, "title": "By the client", "description": nil,
				"durationMinutes": 45.5, "attendees": []string{"gm@party.example"}, "deleteOldEvent": true, "createCalendarEvent": true,
			}
			rows := []struct {
				who, name     string
				data          any
				code, message string // of the error; "": none
			}{
				{"gm", "googleCalendarStartAuth", nil, "", ""},
				{"gm", "googleCalendarListCalendars", nil, "", ""},
				{"gm", "getRequiredEmbeddedPollFinalizeSummary", map[string]any{"schedulerId": open}, "", ""},
				{"gm", "googleCalendarFinalizePoll", finalise, "", ""},
				{"gm", "googleCalendarFinalizePoll", finalise, "", ""},
				{"gm", "googleCalendarDeleteEvent", map[string]any{"schedulerId": open}, "", ""},
				{"gm", "googleCalendarDeleteEvent", map[string]any{"schedulerId": open}, "", ""},
				{"gm", "emitNotificationEvent", map[string]any{"type": "POLL_CREATED"}, "", ""},
				{"nobody", "googleCalendarStartAuth", nil, "functions/unauthenticated", "You are not signed in. Sign in and try again."},
				{"ana", "googleCalendarFinalizePoll", finalise, "functions/permission-denied", "Only the creator of this poll may do that. Ask them."},
				{
					"gm", "googleCalendarFinalizePoll", map[string]any{"schedulerId": open}, "functions/invalid-argument",
					"Missing slotId. Choose a time and try again.",
				},
				{
					"gm", "googleCalendarFinalizePoll", map[string]any{"schedulerId": open, "slotId": "x"}, "functions/not-found",
					"This poll has no such slot. Reload it and choose one of its slots.",
				},
				{"gm", "nobodyHasThis", nil, "functions/not-found", "There is no such function. Check its name."},
			}
			var calls []clientCall
			for _, row := range rows {
				calls = append(calls, clientCall{o.ready.API, form, o.ready.Users[row.who].Token, row.name, row.data})
			}
			var got []clientAnswer
			webapp.Run(t, "callables.js", calls, &got)
			for i, row := range rows {
				if got[i].Code != row.code || got[i].sentence() != row.message || (got[i].Result == nil) != (row.code != "") {
					t.Errorf("%s calls %s: %+v", row.who, row.name, got[i])
				}
			}
			if fmt.Sprint(got[3].Result) != fmt.Sprint(got[4].Result) || got[3].Result["eventId"] == nil ||
				got[5].Result["deleted"] != true || got[6].Result["deleted"] != false {
				t.Errorf("finalised and deleted: %+v", got[3:7])
			}

			// An error that the app knows by its text.
			o.unlinkSecond()
			accounts, err := o.v1("gm", "GET", "/accounts", nil)
			if err == nil {
				_, err = o.v1("gm", "DELETE", fmt.Sprintf("/accounts/%v", list(accounts["accounts"])[0]["id"]), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			again := []clientCall{{o.ready.API, form, o.ready.Users["gm"].Token, "googleCalendarListCalendars", nil}}
			got = nil
			webapp.Run(t, "callables.js", again, &got)
			if got[0].Code != "functions/failed-precondition" || got[0].sentence() != "Google Calendar not linked" {
				t.Errorf("without an account: %+v", got[0])
			}
		})
	}
}
