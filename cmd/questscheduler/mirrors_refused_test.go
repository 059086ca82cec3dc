package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestMirrors_BadInput_HasItsOwnSentence: each row is refused with its code, a sentence that
// says what is wrong, and nothing written.
func TestMirrors_BadInput_HasItsOwnSentence(t *testing.T) {
	t.Parallel()
	job := newMirrorsJob(&outside{t, startDemo(t, t.TempDir())})
	if err := job.setPolicy(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "set the policy", job.follows)
	const club = "club@group.calendar.google.com"
	job.sim("PUT", "calendars/"+club, map[string]any{"roles": map[string]any{"ana": "owner", "gm": "reader"}})
	accounts, err := job.v1("ana", "GET", "/accounts", nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second, anas := job.first.id, job.second.id, fmt.Sprint(list(accounts["accounts"])[0]["id"])
	other, err := job.v1("gm", "POST", "/policies", map[string]any{"name": "Another"})
	if err != nil {
		t.Fatal(err)
	}
	edge := func(from, to, detail string) map[string]any {
		return map[string]any{"from_account_id": from, "to_account_id": to, "detail": detail}
	}
	of := func(edge map[string]any, calendar string) map[string]any {
		edge["from_calendar_id"] = calendar
		return edge
	}
	event := func(account, calendar, end string) map[string]any {
		body := map[string]any{"account_id": account, "title": "Dentist", "start_ts": "2027-01-05T09:00:00Z", "end_ts": end}
		if calendar != "" {
			body["calendar_id"] = calendar
		}
		return body
	}
	const start, ends = "/events?start=2027-01-01T00:00:00Z&end=", "2027-01-05T10:00:00Z"
	for _, row := range []struct {
		what, method, path string
		body               any // a list is the edges
		status             int
		says               string
	}{
		{"an edge from an unknown account", "PUT", "", []any{edge("acc_none", second, "BUSY")}, 404, "from_account_id names no account of yours"},
		{"an edge to another person's account", "PUT", "", []any{edge(first, anas, "BUSY")}, 404, "to_account_id names no account of yours"},
		{"an edge to itself", "PUT", "", []any{edge(first, first, "BUSY")}, 400, "not to itself"},
		{"an edge twice", "PUT", "", []any{edge(first, second, "BUSY"), edge(first, second, "BUSY")}, 400, "given twice"},
		{"an edge with two details", "PUT", "", []any{edge(first, second, "BUSY"), edge(first, second, "FULL")}, 409, "Keep one"},
		{
			"an edge that another policy has otherwise", "PUT", "/policies/" + fmt.Sprint(other["id"]) + "/edges",
			[]any{edge(first, second, "FULL")}, 409, "Another policy",
		},
		{"an edge with an unknown detail", "PUT", "", []any{edge(first, second, "ALL")}, 400, "BUSY, TITLE, FULL"},
		{
			"an edge from a calendar that is only read", "PUT", "", []any{of(edge(first, second, "BUSY"), club)}, 400,
			"no calendar that its account may write to",
		},
		{"edges of an unknown policy", "PUT", "/policies/pol_none/edges", []any{}, 404, "no such policy of yours"},
		{"a range that ends before it starts", "GET", start + "2026-12-31T00:00:00Z", nil, 400, "end must be after start"},
		{"a range over 366 days", "GET", start + "2028-01-03T00:00:00Z", nil, 400, "at most 366 days"},
		{"a limit over 500", "GET", start + "2027-02-01T00:00:00Z&limit=501", nil, 400, "limit must be at most 500"},
		{"events of another person's account", "GET", start + "2027-02-01T00:00:00Z&account_id=" + anas, nil, 404, "no such linked account"},
		{"an unknown event", "GET", "/events/evt_none", nil, 404, "no such event"},
		{
			"an event that ends before it starts", "POST", "/events", event(first, "", "2027-01-05T08:00:00Z"), 400,
			"end_ts must be after start_ts",
		},
		{"an event in another person's account", "POST", "/events", event(anas, "", ends), 404, "no such linked account"},
		{"an event in an unknown calendar", "POST", "/events", event(first, "none@example.com", ends), 400, "no calendar of that account"},
		{"an event in a calendar that is only read", "POST", "/events", event(first, club, ends), 403, "may not write to that calendar"},
		{"availability over 366 days", "GET", "/availability?start=2027-01-01T00:00:00Z&end=2028-01-03T00:00:00Z", nil, 400, "at most 366 days"},
		{
			"availability of another person's account", "GET",
			"/availability?start=2027-01-01T00:00:00Z&end=2027-01-02T00:00:00Z&account_id=" + anas, nil, 404,
			"no such linked account",
		},
		{
			"a connection of another person's account", "POST", "/groups/" + job.ready.GroupID + "/connections",
			map[string]any{"account_id": anas}, 404, "no such linked account",
		},
		{"an event of an unknown group", "GET", "/groups/none/events", nil, 404, "no such group"},
		{"an unknown reference", "GET", "/groups/" + job.ready.GroupID + "/events/EVT-00000000", nil, 404, "no such event in this group"},
		{
			"a group's event that ends before it starts", "POST", "/groups/" + job.ready.GroupID + "/events",
			map[string]any{"title": "Picnic", "start": ends, "end": "2027-01-05T08:00:00Z"}, 400, "end must be after start",
		},
	} {
		path, body := row.path, row.body
		if edges, is := body.([]any); is {
			body = map[string]any{"edges": edges}
			if path == "" {
				path = "/policies/" + job.policyID + "/edges"
			}
		}
		got, err := job.try(row.method, job.ready.API+"/v1"+path, "Bearer "+job.ready.Users["gm"].Token, body)
		if err != nil {
			t.Fatal(err)
		}
		if message := fmt.Sprint(at(got.body, "error", "message")); got.status != row.status ||
			!strings.Contains(message, row.says) || at(got.body, "error", "code") == nil {
			t.Errorf("%s: answered %d %v, want %d and %q", row.what, got.status, got.body["error"], row.status, row.says)
		}
	}
	policy, err := job.v1("gm", "GET", "/policies/"+job.policyID, nil)
	if err != nil || len(list(policy["edges"])) != 2 || policy["version"] != 2.0 {
		t.Errorf("the policy is %v, %v", policy, err)
	}
	if err := job.follows(); err != nil {
		t.Errorf("after all: %v", err)
	}
}
