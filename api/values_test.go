package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// with is a body with one field set to another value.
func with(body map[string]any, field string, value any) map[string]any {
	changed := maps.Clone(body)
	changed[field] = value
	return changed
}

// many is a list of n texts.
func many(n int, form string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(form, i)
	}
	return list
}

// TestBadValues is about values of the right type that break a rule: the answer
// names the field and says nothing of the value.
func TestBadValues(t *testing.T) { //nolint:maintidx // one table
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	group := w.newGroup()
	events := "/v1/groups/" + group + "/events"
	w.newGroupEvent("gm", group, movieNight)
	slot := func(start, end string) any { return []map[string]string{{"start": start, "end": end}} }

	poll := map[string]any{"title": "Session", "slots": slots("2026-03-01T18:00:00Z")}
	vote := map[string]any{"votes": map[string]string{}}
	finalize := map[string]any{"slot_id": made.Slots[0].ID, "create_event": false}
	party := map[string]any{"name": "Party"}
	path := "/v1/polls/" + made.ID
	calendar := "/v1/calendars/" + w.newCalendar("gm") + "/confirm-cancellations"
	policy, own, march := "/v1/policies/"+w.newPolicy("gm")+"/edges", "/v1/events/"+w.newEvent("gm"),
		"/v1/events?start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z"
	evening := with(evening, "account_id", w.newAccount("gm"))
	edge := map[string]any{"from_account_id": evening["account_id"], "to_account_id": "acc_work", "detail": "BUSY"}
	edges := func(all ...any) any { return map[string]any{"edges": all} }

	before, waiting := w.store.writes.Load(), w.waiting()
	admin := map[string]bool{"a channel that is no number": true, "a channel without its guild": true, "a role that is none": true}
	for _, row := range []struct {
		name   string
		method string
		path   string
		body   any
		field  string
	}{
		{"no title", "POST", "/v1/polls", with(poll, "title", ""), "title"},
		{"a blank title", "POST", "/v1/polls", with(poll, "title", "  \t "), "title"},
		{"a long title", "POST", "/v1/polls", with(poll, "title", strings.Repeat("ä", 201)), "title"},
		{"a title in capitals", "POST", "/v1/polls", with(poll, "TITLE", marker), "TITLE"},
		{"a long description", "POST", "/v1/polls", with(poll, "description", strings.Repeat("a", 8001)), "description"},
		{"an unknown zone", "POST", "/v1/polls", with(poll, "timezone", marker), "timezone"},
		{"a zone that is a path", "POST", "/v1/polls", with(poll, "timezone", "../../etc/passwd"), "timezone"},
		{"no slots", "POST", "/v1/polls", with(poll, "slots", []string{}), "slots"},
		{"201 slots", "POST", "/v1/polls", with(poll, "slots", slots(slices.Repeat([]string{"2026-03-01T18:00:00Z"}, 201)...)), "slots"},
		{
			"a slot without an end", "POST", "/v1/polls",
			with(poll, "slots", []map[string]string{{"start": "2026-03-01T18:00:00Z"}}), "slots[0].end",
		},
		{"a slot of rubbish", "POST", "/v1/polls", with(poll, "slots", slot(marker, marker)), "slots[0].start"},
		{
			"a slot without an offset", "POST", "/v1/polls",
			with(poll, "slots", slot("2026-03-01T18:00:00", "2026-03-01T19:00:00")), "slots[0].start",
		},
		{
			"a slot in a month that is none", "POST", "/v1/polls",
			with(poll, "slots", slot("2026-13-01T18:00:00Z", "2026-13-01T19:00:00Z")), "slots[0].start",
		},
		{
			"a slot with an offset of 25 hours", "POST", "/v1/polls",
			with(poll, "slots", slot("2026-03-01T18:00:00+25:00", "2026-03-01T19:00:00+25:00")), "slots[0].start",
		},
		{
			"a slot that ends before it starts", "POST", "/v1/polls",
			with(poll, "slots", slot("2026-03-01T18:00:00Z", "2026-03-01T17:00:00Z")), "slots",
		},
		{"a slot of a year", "POST", "/v1/polls", with(poll, "slots", slot("2026-03-01T18:00:00Z", "2027-03-01T18:00:00Z")), "slots"},
		{"a slot in the year 1", "POST", "/v1/polls", with(poll, "slots", slot("0001-01-01T00:00:00Z", "0001-01-01T01:00:00Z")), "slots"},
		{
			"a participant who is a path", "POST", "/v1/polls",
			with(poll, "participant_ids", []string{marker + "/notifications/x"}), "participant_ids[0]",
		},
		{"a participant who is ..", "POST", "/v1/polls", with(poll, "participant_ids", []string{".."}), "participant_ids[0]"},
		{"501 participants", "POST", "/v1/polls", with(poll, "participant_ids", many(501, "p%d")), "participant_ids"},
		{
			"a participant of 131 bytes", "POST", "/v1/polls",
			with(poll, "participant_ids", many(1, "%065d"+strings.Repeat("ä", 33))), "participant_ids",
		},
		{"an invite to no address", "POST", "/v1/polls", with(poll, "pending_invites", []string{marker}), "pending_invites[0]"},
		{"an invite with a name", "POST", "/v1/polls", with(poll, "pending_invites", []string{"Ana <ana@example.com>"}), "pending_invites[0]"},
		{"501 invites", "POST", "/v1/polls", with(poll, "pending_invites", many(501, "p%d@example.com")), "pending_invites"},
		{"a group that is a path", "POST", "/v1/polls", with(poll, "group_id", "x/../"+marker), "group_id"},
		{"a group that is not there", "POST", "/v1/polls", with(poll, "group_id", marker), "group_id"},

		{"a vote for no slot of the poll", "PUT", path + "/votes/me", with(vote, "votes", map[string]string{marker: "FEASIBLE"}), "votes"},
		{
			"a vote that is none", "PUT", path + "/votes/me", with(vote, "votes", map[string]string{made.Slots[0].ID: marker}),
			"votes." + made.Slots[0].ID,
		},
		{
			"a vote beside none that fits", "PUT", path + "/votes/me",
			map[string]any{"votes": map[string]string{made.Slots[0].ID: "FEASIBLE"}, "no_times_work": true}, "no_times_work",
		},

		{"an empty title", "PATCH", path, map[string]any{"title": ""}, "title"},
		{"a blank title, later", "PATCH", path, map[string]any{"title": " \n "}, "title"},
		{"a long title, later", "PATCH", path, map[string]any{"title": strings.Repeat("ä", 201)}, "title"},
		{"a long description, later", "PATCH", path, map[string]any{"description": strings.Repeat("a", 8001)}, "description"},
		{"an unknown zone, later", "PATCH", path, map[string]any{"timezone": marker}, "timezone"},
		{"a status that is set", "PATCH", path, map[string]any{"status": marker}, "status"},
		{"a creator that is set", "PATCH", path, map[string]any{"creator_id": marker}, "creator_id"},
		{"a group that is set", "PATCH", path, map[string]any{"group_id": marker}, "group_id"},
		{"a participant who is a path, later", "PATCH", path, map[string]any{"participant_ids": []string{marker + "/x"}}, "participant_ids[0]"},
		{"501 participants, later", "PATCH", path, map[string]any{"participant_ids": many(501, "p%d")}, "participant_ids"},
		{"an invite to no address, later", "PATCH", path, map[string]any{"pending_invites": []string{marker}}, "pending_invites[0]"},
		{"no slots, later", "PATCH", path, map[string]any{"slots": []string{}}, "slots"},
		{"201 slots, later", "PATCH", path, map[string]any{"slots": slots(slices.Repeat([]string{"2026-03-01T18:00:00Z"}, 201)...)}, "slots"},
		{
			"a slot that ends before it starts, later", "PATCH", path,
			map[string]any{"slots": slot("2026-03-01T18:00:00Z", "2026-03-01T17:00:00Z")}, "slots",
		},
		{
			"a slot of another poll", "PATCH", path,
			map[string]any{"slots": []map[string]string{{"id": marker, "start": "2026-03-01T18:00:00Z", "end": "2026-03-01T19:00:00Z"}}},
			"slots",
		},
		{
			"a slot whose id is a path", "PATCH", path,
			map[string]any{"slots": []map[string]string{{"id": "../" + marker, "start": "2026-03-01T18:00:00Z", "end": "2026-03-01T19:00:00Z"}}},
			"slots[0].id",
		},
		{"a slot twice", "PATCH", path, map[string]any{"slots": []map[string]string{
			{"id": made.Slots[0].ID, "start": "2026-03-01T18:00:00Z", "end": "2026-03-01T19:00:00Z"},
			{"id": made.Slots[0].ID, "start": "2026-03-01T18:00:00Z", "end": "2026-03-01T19:00:00Z"},
		}}, "slots"},
		{"perhaps delete the event", "DELETE", path + "?delete_event=" + marker, nil, "delete_event"},
		{"perhaps delete it, reopening", "POST", path + "/reopen", map[string]any{"delete_event": marker}, "delete_event"},
		{"no fingerprint", "POST", path + "/accept-new-time", map[string]any{"fingerprint": ""}, "fingerprint"},
		{"a long fingerprint", "POST", path + "/accept-new-time", map[string]any{"fingerprint": strings.Repeat(marker, 30)}, "fingerprint"},
		{"no polls to confirm", "POST", calendar, map[string]any{"poll_ids": []string{}}, "poll_ids"},
		{"a poll that is a path", "POST", calendar, map[string]any{"poll_ids": []string{"../" + marker}}, "poll_ids[0]"},
		{"501 polls to confirm", "POST", calendar, map[string]any{"poll_ids": many(501, "p%d")}, "poll_ids"},

		{"a slot that is a path", "POST", path + "/finalize", with(finalize, "slot_id", "a/votes/"+marker), "slot_id"},
		{"an account that is a path", "POST", path + "/finalize", with(finalize, "account_id", "../"+marker), "account_id"},
		{"a calendar that is a path", "POST", path + "/finalize", with(finalize, "calendar_id", "../"+marker), "calendar_id"},
		{"no minutes", "POST", path + "/finalize", with(finalize, "duration_minutes", 0), "duration_minutes"},
		{"minutes below zero", "POST", path + "/finalize", with(finalize, "duration_minutes", -90), "duration_minutes"},
		{"a year of minutes", "POST", path + "/finalize", with(finalize, "duration_minutes", 525_600), "duration_minutes"},
		{"more minutes than there are numbers", "POST", path + "/finalize", `{"slot_id": "x", "duration_minutes": 1e999}`, "body"},
		{"an attendee without an address", "POST", path + "/finalize", with(finalize, "attendees", []string{marker}), "attendees[0]"},
		{"201 attendees", "POST", path + "/finalize", with(finalize, "attendees", many(201, "p%d@example.com")), "attendees"},
		{"a long title of the event", "POST", path + "/finalize", with(finalize, "title", strings.Repeat("a", 201)), "title"},

		{"a group without a name", "POST", "/v1/groups", with(party, "name", " "), "name"},
		{"a channel that is no number", "POST", "/v1/groups", with(party, "discord", map[string]any{"channel_id": marker}), "discord"},
		{"a channel without its guild", "POST", "/v1/groups", with(party, "discord", map[string]any{"channel_id": "22"}), "discord.guild_id"},
		{
			"a role that is none", "PATCH", "/v1/groups/" + group, with(party, "discord", map[string]any{"notify_role_id": marker}),
			"discord.notify_role_id",
		},
		{
			"a wish that nobody has", "PATCH", "/v1/groups/" + group,
			with(party, "discord", map[string]any{"notifications": map[string]bool{"zz": true}}), "discord.notifications.zz",
		},
		{"a member who is a path", "PATCH", "/v1/groups/" + group, with(party, "member_ids", []string{"a/b"}), "member_ids[0]"},
		{"a new member who is a path", "PATCH", "/v1/groups/" + group, with(party, "add_member_ids", []string{"a/b"}), "add_member_ids[0]"},
		{
			"a former member who is a path", "PATCH", "/v1/groups/" + group, with(party, "remove_member_ids", []string{"a/b"}),
			"remove_member_ids[0]",
		},
		{"501 new members", "PATCH", "/v1/groups/" + group, with(party, "add_member_ids", many(501, "p%d")), "add_member_ids"},

		{"availability without a start", "GET", "/v1/availability?end=2026-03-01T00:00:00Z", nil, "start"},
		{"availability from rubbish", "GET", "/v1/availability?end=2026-03-01T00:00:00Z&start=" + marker, nil, "start"},
		{"availability that ends before it starts", "GET", "/v1/availability?start=2026-03-02T00:00:00Z&end=2026-03-01T00:00:00Z", nil, "end"},
		{"availability of no time", "GET", "/v1/availability?start=2026-03-01T00:00:00Z&end=2026-03-01T00:00:00Z", nil, "end"},
		{"availability of over 366 days", "GET", "/v1/availability?start=2026-03-01T00:00:00Z&end=2027-03-03T00:00:00Z", nil, "end"},
		{
			"availability of an account that is a path", "GET",
			"/v1/availability?start=2026-03-01T00:00:00Z&end=2026-03-02T00:00:00Z&account_id=../" + marker, nil, "account_id[0]",
		},
		{"perhaps share", "PUT", "/v1/availability/sharing", map[string]any{"share": marker}, "share"},
		{"an event without a title", "POST", events, with(movieNight, "title", " "), "title"},
		{"a long title of a group's event", "POST", events, with(movieNight, "title", strings.Repeat("a", 201)), "title"},
		{"a start that is none", "POST", events, with(movieNight, "start", marker), "start"},
		{"a start without an offset", "POST", events, with(movieNight, "start", "2026-03-10T19:00:00"), "start"},
		{"an end before the start", "POST", events, with(movieNight, "end", "2026-03-10T18:00:00+01:00"), "end"},
		{"an end at the start", "POST", events, with(movieNight, "end", movieNight["start"]), "end"},
		{"a day and a time", "POST", events, with(movieNight, "end", "2026-03-11"), "end"},
		{"a last day that is the first", "POST", events, map[string]any{"title": "A", "start": "2026-03-10", "end": "2026-03-10"}, "end"},
		{"367 days", "POST", events, map[string]any{"title": "A", "start": "2026-03-10", "end": "2027-03-12"}, "end"},
		{"an event of long ago", "POST", events, map[string]any{"title": "A", "start": "1970-03-10", "end": "1970-03-12"}, "start"},
		{"a zone that is none", "POST", events, with(movieNight, "timezone", "Mars/"+marker), "timezone"},
		{
			"a zone of days", "POST", events,
			map[string]any{"title": "A", "start": "2026-03-10", "end": "2026-03-11", "timezone": "Europe/Berlin"}, "timezone",
		},
		{"a long location", "POST", events, with(movieNight, "location", strings.Repeat("a", 501)), "location"},
		{"a long description of a group's event", "POST", events, with(movieNight, "description", strings.Repeat("a", 8001)), "description"},
		{"an end before the start, later", "PATCH", events + "/latest", map[string]any{"end": "2026-03-10T18:00:00+01:00"}, "end"},
		{
			"an account that is a path, connected", "POST", "/v1/groups/" + group + "/connections",
			map[string]any{"account_id": "../" + marker}, "account_id",
		},
		{"perhaps delete the copies", "DELETE", "/v1/groups/" + group + "/connections/acc_x?delete_events=" + marker, nil, "delete_events"},
		{"perhaps share", "PATCH", "/v1/groups/" + group, map[string]any{"share_sessions": marker}, "share_sessions"},

		{"a policy without a name", "POST", "/v1/policies", map[string]any{"name": " "}, "name"},
		{"a long name of a policy", "POST", "/v1/policies", map[string]any{"name": strings.Repeat("ä", 101)}, "name"},
		{"a detail that is none", "PUT", policy, edges(with(edge, "detail", marker)), "edges[0].detail"},
		{"a target that is none", "PUT", policy, edges(with(edge, "target", marker)), "edges[0].target"},
		{"an edge from a path", "PUT", policy, edges(with(edge, "from_account_id", "../"+marker)), "edges[0].from_account_id"},
		{"an edge to a path", "PUT", policy, edges(with(edge, "to_account_id", "../"+marker)), "edges[0].to_account_id"},
		{
			"an edge from a calendar that is a path", "PUT", policy, edges(with(edge, "from_calendar_id", "../"+marker)),
			"edges[0].from_calendar_id",
		},
		{"51 edges", "PUT", policy, edges(slices.Repeat([]any{edge}, 51)...), "edges"},
		{"events without a start", "GET", "/v1/events?end=2026-03-01T00:00:00Z", nil, "start"},
		{"events that end before they start", "GET", "/v1/events?start=2026-03-02T00:00:00Z&end=2026-03-01T00:00:00Z", nil, "end"},
		{"events of over 366 days", "GET", "/v1/events?start=2026-03-01T00:00:00Z&end=2027-03-03T00:00:00Z", nil, "end"},
		{"events of a status that is none", "GET", march + "&status=" + marker, nil, "status"},
		{"events of an account that is a path", "GET", march + "&account_id=../" + marker, nil, "account_id"},
		{"501 events", "GET", march + "&limit=501", nil, "limit"},
		{"an event of one's own without a title", "POST", "/v1/events", with(evening, "title", ""), "title"},
		{"a long title of one's own", "POST", "/v1/events", with(evening, "title", strings.Repeat("ä", 1001)), "title"},
		{"an account that is a path, for an event", "POST", "/v1/events", with(evening, "account_id", "../"+marker), "account_id"},
		{"an end before the start, of one's own", "POST", "/v1/events", with(evening, "end_ts", "2026-03-10T17:00:00Z"), "end_ts"},
		{"no day", "POST", "/v1/events", with(with(evening, "end_ts", evening["start_ts"]), "all_day", true), "end_ts"},
		{"a zone that is none, of one's own", "POST", "/v1/events", with(evening, "timezone", "Mars/"+marker), "timezone"},
		{"a rule that is none", "POST", "/v1/events", with(evening, "recurrence", []string{marker}), "recurrence"},
		{
			"a rule with an interval of nothing", "POST", "/v1/events",
			with(evening, "recurrence", []string{"RRULE:FREQ=DAILY;INTERVAL=0"}), "recurrence",
		},
		{"51 rules", "POST", "/v1/events", with(evening, "recurrence", many(51, "RRULE:FREQ=DAILY;COUNT=%d")), "recurrence"},
		{
			"an end before the start, of one's own, later", "PATCH", own,
			map[string]any{"start_ts": "2026-03-10T18:00:00Z", "end_ts": "2026-03-10T17:00:00Z"}, "end_ts",
		},
		{"a start without an end", "PATCH", own, map[string]any{"start_ts": "2026-03-10T18:00:00Z"}, "start_ts"},
		{"an empty title of one's own", "PATCH", own, map[string]any{"title": ""}, "title"},

		{"a limit of none", "GET", "/v1/polls?limit=0", nil, "limit"},
		{"a limit beyond all", "GET", "/v1/polls?limit=101", nil, "limit"},
		{"a limit beyond numbers", "GET", "/v1/polls?limit=99999999999999999999", nil, "limit"},
		{"to include what is none", "GET", "/v1/polls?include=votes," + marker, nil, "include[1]"},
		{"to include more than there is", "GET", "/v1/polls?include=votes,slots,votes", nil, "include"},
		{"a status in small letters", "GET", "/v1/polls?status=open", nil, "status"},
	} {
		t.Run(row.name, func(t *testing.T) {
			as := "gm"
			if admin[row.name] { // who alone may give it
				as = "admin"
			}
			got := w.do(call{as: as, method: row.method, path: row.path, body: row.body})
			if got.status != http.StatusBadRequest || got.Error.Code != "VALIDATION_ERROR" {
				t.Errorf("status %d: %.500s", got.status, got.text)
			}
			wantField(t, got, row.field)
			if strings.Contains(got.text, marker) {
				t.Errorf("the answer gives the value back: %.500s", got.text)
			}
		})
	}
	if w.store.writes.Load() != before || w.waiting() != waiting {
		t.Error("something was written or handed over")
	}
	if strings.Contains(w.log.String(), "panic") {
		t.Error("a handler panicked")
	}
}

func TestUnknownIDs_AreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	const nobody = "00000000-0000-4000-8000-000000000000"
	finalize := map[string]any{"slot_id": nobody, "create_event": false}
	before := w.store.writes.Load()
	for _, c := range []call{
		{method: "GET", path: "/v1/polls/" + nobody},
		{method: "PUT", path: "/v1/polls/" + nobody + "/votes/me", body: map[string]any{"votes": map[string]string{}}},
		{method: "POST", path: "/v1/polls/" + nobody + "/finalize", body: finalize},
		{method: "POST", path: "/v1/polls/" + made.ID + "/finalize", body: finalize},
		{method: "POST", path: "/v1/polls/" + nobody + "/cancel"},
		{method: "POST", path: "/v1/polls/" + nobody + "/sync"},
		{method: "GET", path: "/v1/polls/" + nobody + "/availability"},
		{method: "GET", path: "/v1/availability?start=2026-03-01T00:00:00Z&end=2026-03-08T00:00:00Z&account_id=acc_" + nobody},
		{method: "GET", path: "/v1/polls/" + nobody + "/journal"},
		{method: "PATCH", path: "/v1/polls/" + nobody, body: map[string]any{"title": "x"}},
		{method: "DELETE", path: "/v1/polls/" + nobody},
		{method: "POST", path: "/v1/polls/" + nobody + "/reopen"},
		{method: "POST", path: "/v1/polls/" + nobody + "/archive"},
		{method: "POST", path: "/v1/polls/" + nobody + "/unarchive"},
		{method: "POST", path: "/v1/polls/" + nobody + "/restore-original-time"},
		{method: "POST", path: "/v1/polls/" + nobody + "/accept-new-time", body: map[string]any{"fingerprint": "x"}},
		{method: "POST", path: "/v1/polls/" + nobody + "/join"},
		{method: "POST", path: "/v1/polls/" + nobody + "/leave"},
		{method: "POST", path: "/v1/polls/" + nobody + "/accept-invite"},
		{method: "POST", path: "/v1/polls/" + nobody + "/decline-invite"},
		{
			method: "POST", path: "/v1/calendars/" + strings.Repeat("0", 32) + "/confirm-cancellations",
			body: map[string]any{"poll_ids": []string{nobody}},
		},
		{method: "GET", path: "/v1/groups/" + nobody},
		{method: "PATCH", path: "/v1/groups/" + nobody, body: map[string]any{"name": "x"}},
		{method: "POST", path: "/v1/groups/" + nobody + "/accept-invite"},
		{method: "POST", path: "/v1/groups/" + nobody + "/decline-invite"},
		{method: "POST", path: "/v1/groups/" + nobody + "/leave"},
		{method: "POST", path: "/v1/notifications/" + nobody + "/read"},
	} {
		c.as = "gm"
		got := w.want(404, c, nil)
		if got.Error.Code != "NOT_FOUND" || strings.Contains(got.text, nobody) {
			t.Errorf("%s %s: %s", c.method, c.path, got.text)
		}
	}
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
}
