package firestorerules_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// titleOf is a text of n letters.
func titleOf(n int) string { return strings.Repeat("x", n) }

// people is a list of n uids.
func people(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = fmt.Sprint("u", i)
	}
	return list
}

// longest are as many uids as a poll may name, each of 128 bytes.
func longest() []any {
	list := people(500)
	for i := range list {
		list[i] = strings.Repeat("é", 60) + fmt.Sprintf("%08d", i)
	}
	return list
}

// newPoll is what the app writes, field by field.
func newPoll() fields {
	return fields{
		"title": "A dungeon", "description": "", "creatorId": "gm", "creatorEmail": gm.email, "status": "OPEN",
		"participantIds": []any{"gm", "ana"}, "pendingInvites": []any{}, "allowLinkSharing": false,
		"timezone": "Europe/Berlin", "timezoneMode": "manual", "winningSlotId": nil, "googleEventId": nil,
		"questingGroupId": nil, "questingGroupName": nil, "createdAt": serverTime,
	}
}

// described are the fields that creating and editing have in common: each wrong
// in one thing.
func described() []variation {
	return []variation{
		{"without a title", writing("title", "")},
		{"with a title that is too long", writing("title", titleOf(201))},
		{"with a title that is no text", writing("title", 7)},
		{"with a description that is no text", writing("description", []any{})},
		{"with participants that are no list", writing("participantIds", "gm")},
		{"with participants that are null", writing("participantIds", nil)},
		{"with participants that are no texts", writing("participantIds", []any{fields{"uid": "gm"}})},
		{"with participants that are numbers", writing("participantIds", []any{7})},
		{"with a participant who is a path", writing("participantIds", []any{"gm/notifications"})},
		{"with a participant twice", writing("participantIds", []any{"gm", "ana", "ana"})},
		{"with a participant without a uid", writing("participantIds", []any{"gm", ""})},
		{"with nobody for a participant", writing("participantIds", []any{""})},
		{"with a uid of 129 bytes", writing("participantIds", []any{"gm", titleOf(129), "ana"})},
		{"with a uid of 130 bytes in 65 letters", writing("participantIds", []any{"gm", strings.Repeat("ä", 65)})},
		{"with a uid of 129 bytes in 43 letters", writing("participantIds", []any{strings.Repeat("語", 43), "gm"})},
		{"with a uid of 132 bytes in 33 letters", writing("participantIds", []any{strings.Repeat("🎲", 33)})},
		{"with link sharing that is no yes or no", writing("allowLinkSharing", "true")},
		{"with a time zone that is no text", writing("timezone", 1)},
		{"with a mode of the time zone that is no text", writing("timezoneMode", 1)},
		{"for a group that one does not belong to", func(a *attempt) {
			a.writes[0].data["questingGroupId"] = "OTHER"
			a.there["questingGroups/OTHER"] = fields{"creatorId": "eve", "memberIds": []any{"eve"}}
		}},
		{"for a group that is not there", writing("questingGroupId", "nowhere")},
		{"for a group that is no text", writing("questingGroupId", 5)},
		{"with a group's name that is no text", writing("questingGroupName", fields{})},
		{"with a field of nobody's", writing("anything", 1)},
		{"with a claim on the calendar", writing("calendarSync", fields{"state": "OK"})},
		{"with a calendar", writing("googleCalendarId", "primary")},
		{"with a card", writing("discord", fields{"channelId": "1"})},
		{"with a cancellation", writing("cancelled", fields{"reason": "manual"})},
		{"with the time of a finalisation", writing("finalizedAtMs", 1)},
		{"with priorities", writing("finalizedSlotPriorityAtMs", fields{})},
		{"with people who joined", writing("joinedIds", []any{"gm", "ana"})},
		{"with an unknown visibility of votes", writing("voteVisibility", "sometimes")},
		{"with a visibility of votes that is no text", writing("voteVisibility", true)},
		{"with hidden voters of no yes or no", writing("hideVoterIdentities", "false")},
		{"with all votes in of no yes or no", writing("votesAllSubmitted", 1)},
	}
}

// clone changes a new poll to what the app writes where somebody clones one:
// without link sharing, and with a calendar that is none.
func clone(a *attempt) {
	delete(a.writes[0].data, "allowLinkSharing")
	a.writes[0].data["googleCalendarId"] = nil
}

// hiding adds what later versions of the app write of who sees votes.
func hiding(when string) func(*attempt) {
	return func(a *attempt) {
		maps.Copy(a.writes[0].data, fields{"voteVisibility": when, "hideVoterIdentities": true, "votesAllSubmitted": false})
	}
}

func creating() []scenario {
	create := attempt{as: gm, there: map[string]fields{}, writes: []write{{path: pollPath, data: newPoll()}}}
	mine := func(a *attempt) {
		a.writes[0].data["questingGroupId"], a.writes[0].data["questingGroupName"] = "GROUP", "The party"
		a.there["questingGroups/GROUP"] = fields{"creatorId": "eve", "memberIds": []any{"gm"}}
	}
	return []scenario{{
		name: "a poll", attempt: create,
		likewise: []variation{
			{"without the time", leavingOut("createdAt")},
			{"for one's group", mine},
			{"that is a clone", clone},
			{"of which everybody sees the votes", hiding("full_visibility")},
			{"that hides votes while people vote", hiding("hidden_while_voting")},
			{"that hides votes until all are in", hiding("hidden_until_all_voted")},
			{"that hides votes until it is finalised", hiding("hidden_until_finalized")},
			{"that hides votes", hiding("hidden")},
			{"without a time zone", writing("timezone", nil)},
			{"without participants", writing("participantIds", []any{})},
			{
				"with uids of 128 bytes",
				writing("participantIds", []any{titleOf(128), strings.Repeat("ä", 64), strings.Repeat("語", 42) + "xx", strings.Repeat("🎲", 32)}),
			},
			{"with as many and as long uids as there may be", writing("participantIds", longest())},
			{"with uids of any letters", writing("participantIds", []any{"auth0|x:1", "a b", "ana@example.org", "é\n", ".", "~"})},
			{"with a long title", writing("title", titleOf(200))},
			{"by somebody whom Google vouches for", as(person{uid: "gm", email: gm.email, provider: "google.com", unverified: true})},
			{"by somebody whom the app vouches for", as(person{uid: "gm", email: gm.email, provider: "custom", unverified: true})},
			{"by somebody without an address", both(as(person{uid: "gm", provider: "custom"}), writing("creatorEmail", nil))},
			{"with one's address in small letters", as(person{uid: "gm", email: "GM@Example.org", provider: "password"})},
		},
		but: slices.Concat(described(), []variation{
			// What is large stands here alone: the emulator's report of its coverage
			// repeats every value at every condition that it came through.
			{"with too many participants", writing("participantIds", people(501))},
			{"with a description that is too long", writing("description", titleOf(8001))},
			{"without signing in", as(nobody)},
			{"by somebody whose address nobody checked", as(person{uid: "gm", email: gm.email, provider: "password", unverified: true})},
			{"for another creator", as(person{uid: "ana", email: gm.email, provider: "password"})},
			{"with another address", writing("creatorEmail", "eve@example.org")},
			{"with an address that is no text", writing("creatorEmail", 1)},
			{"without an address though one has one", writing("creatorEmail", nil)},
			{"under an id that is no UUID", func(a *attempt) { a.writes[0].path = "schedulers/mine-POLL" }},
			{"finalised", writing("status", "FINALIZED")},
			{"with an invitation", writing("pendingInvites", []any{"eve@example.org"})},
			{"with a winning slot", writing("winningSlotId", "one")},
			{"with an event", writing("googleEventId", "of-another")},
			{"with all votes in", writing("votesAllSubmitted", true)},
			{"with another time than the server's", writing("createdAt", noon)},
			{"with a time that only edits write", writing("updatedAt", serverTime)},
			{"without a description", leavingOut("description")},
			{"without a field that says null", leavingOut("googleEventId")},
		}),
	}}
}

// update is a change of the poll by its creator.
func update(changes, poll fields) attempt {
	return attempt{as: gm, there: withPoll(poll), writes: []write{{path: pollPath, named: true, data: changes}}}
}

// others are everybody but the creator.
func others() []variation {
	return []variation{
		{"by a participant", as(ana)},
		{"by a member of the group", as(ben)},
		{"by an invitee", as(cho)},
		{"by a stranger", as(dan)},
		{"by a stranger with the link", both(as(dan), where(pollPath, "allowLinkSharing", true))},
		{"without signing in", as(nobody)},
	}
}

// serverFields are those that no client writes, beside whatever else it does.
func serverFields() []variation {
	return []variation{
		{"with a state of the calendar", writing("calendarSync", fields{"state": "OK"})},
		{
			"and the calendar's own fields deleted",
			both(writing("calendarSync", gone), where(pollPath, "calendarSync", fields{"state": "RESCHEDULED"})),
		},
		{"with an event", writing("googleEventId", "of-another")},
		{"and its event let go", both(writing("googleEventId", nil), where(pollPath, "googleEventId", "abc"))},
		{"with a calendar", writing("googleCalendarId", "primary")},
		{"with a card", writing("discord", fields{"channelId": "1"})},
		{"with another creator", writing("creatorId", "ana")},
		{"with another creation", writing("createdAt", serverTime)},
		{"with a cancellation of one's own words", writing("cancelled", fields{"reason": "manual"})},
		{"with the time of a finalisation", writing("finalizedAtMs", 1)},
		{"with a winning slot", writing("winningSlotId", "two")},
		{"with a field of nobody's", writing("anything", 1)},
		{"and a field of theirs deleted", writing("aFieldOfTheirs", gone)},
		{"and written as a whole", func(a *attempt) { a.writes[0].named = false }},
	}
}

func statuses() []scenario {
	finalised := fields{"status": "FINALIZED", "winningSlotId": "one", "googleEventId": "abc"}
	cancelled := fields{"status": "CANCELLED", "winningSlotId": "one"}
	wrongTime := variation{"at a time that is none", writing("updatedAt", "now")}
	denied := func(more ...variation) []variation {
		return slices.Concat(others(), serverFields(), more)
	}
	return []scenario{
		{
			name: "reopening", attempt: update(fields{"status": "OPEN", "winningSlotId": nil}, finalised),
			likewise: []variation{
				{"what was cancelled", where(pollPath, "status", "CANCELLED")},
				{"where the winning slot goes with its field", writing("winningSlotId", gone)},
			},
			but: denied(
				variation{"and keeping the winning slot", leavingOut("winningSlotId")},
				variation{"to a status that is none", writing("status", "DRAFT")},
				variation{"with a time", writing("updatedAt", serverTime)},
				variation{"what was archived", where(pollPath, "status", "ARCHIVED")},
			),
		},
		{
			name: "cancelling", attempt: update(fields{"status": "CANCELLED", "updatedAt": serverTime}, finalised),
			likewise: []variation{
				{"what is open", where(pollPath, "status", "OPEN")},
				{"what has no status", where(pollPath, "status", nil)},
				{"without the time", leavingOut("updatedAt")},
				{"at a time of its own", writing("updatedAt", noon)},
			},
			but: denied(wrongTime,
				variation{"what was archived", where(pollPath, "status", "ARCHIVED")},
				variation{"to a status that is none", writing("status", "GONE")},
				variation{"to archived", writing("status", "ARCHIVED")},
				variation{"and forgetting the winning slot", writing("winningSlotId", nil)}),
		},
		{
			name: "restoring what had a time", attempt: update(fields{"status": "FINALIZED", "updatedAt": serverTime}, cancelled),
			likewise: []variation{{"without the time", leavingOut("updatedAt")}},
			but: denied(wrongTime,
				variation{"without a winning slot", where(pollPath, "winningSlotId", nil)},
				variation{"with an empty winning slot", where(pollPath, "winningSlotId", "")},
				variation{"as open", writing("status", "OPEN")},
				variation{"what is open", where(pollPath, "status", "OPEN")},
				variation{"what was archived", where(pollPath, "status", "ARCHIVED")}),
		},
		{
			name: "restoring what had none", attempt: update(fields{"status": "OPEN", "updatedAt": serverTime}, fields{"status": "CANCELLED"}),
			but: denied(wrongTime,
				variation{"as finalised", writing("status", "FINALIZED")},
				variation{"what has a winning slot", where(pollPath, "winningSlotId", "one")}),
		},
	}
}

func editing() []scenario {
	edited := fields{
		"title": "Another dungeon", "description": "With stairs", "participantIds": []any{"gm", "ben"}, "allowLinkSharing": true,
		"timezone": nil, "timezoneMode": "auto", "questingGroupId": nil, "questingGroupName": nil,
		"updatedAt": serverTime, "participants": gone,
	}
	edit := update(edited, fields{"participants": []any{ana.email}})
	denied := slices.Concat(described(), others(), serverFields())
	return []scenario{{
		name: "an edit", attempt: edit,
		likewise: []variation{
			{"of a cancelled poll", where(pollPath, "status", "CANCELLED")},
			{"of a poll without a status", where(pollPath, "status", "")},
			{"that changes nothing but the title", func(a *attempt) { a.writes[0].data = fields{"title": "Another dungeon"} }},
			{"of a poll whose group one has left", writing("questingGroupId", "GROUP")},
			{"for another group of one's own", func(a *attempt) {
				a.writes[0].data["questingGroupId"] = "OTHER-GROUP"
				a.there["questingGroups/OTHER-GROUP"] = fields{"creatorId": "eve", "memberIds": []any{"gm"}}
			}},
			{"that leaves older participants alone", leavingOut("participants")},
			{"that leaves participants as they are, even invalid ones",
				both(where(pollPath, "participantIds", []any{"gm", "ana", "ana", titleOf(129)}),
					writing("participantIds", []any{"gm", "ana", "ana", titleOf(129)}))},
			{"that removes one who joined", where(pollPath, "joinedIds", []any{"ana"})},
			{"beside one who joined and left", where(pollPath, "joinedIds", []any{"ana", "cho"})},
			{"with who sees votes", hiding("hidden")},
			{"where all votes are in", writing("votesAllSubmitted", true)},
			{"that puts one participant out of a clone", func(a *attempt) {
				delete(a.there[pollPath], "allowLinkSharing")
				a.writes[0].data = fields{"participantIds": []any{"gm"}, "updatedAt": serverTime}
			}},
		},
		but: slices.Concat(denied, []variation{
			{"of a finalised poll", where(pollPath, "status", "FINALIZED")},
			{"that writes older participants", writing("participants", []any{})},
			{"at a time that is none", writing("updatedAt", 1)},
			{"and its time deleted", both(writing("updatedAt", gone), where(pollPath, "updatedAt", noon))},
			{"that cancels too", writing("status", "CANCELLED")},
			{"that finalises", writing("status", "FINALIZED")},
			{"that invites", writing("pendingInvites", []any{"fay@example.org"})},
			{"that names one who joined and left", where(pollPath, "joinedIds", []any{"ana", "ben"})},
		}),
	}}
}

func deleting() []scenario {
	remove := func(name, path string) scenario {
		return scenario{
			name: "deleting " + name, attempt: attempt{as: gm, there: withPoll(nil), writes: []write{{path: path}}},
			likewise: []variation{{"of a finalised poll", where(pollPath, "status", "FINALIZED")}},
			but:      append(others(), variation{"of another's poll", where(pollPath, "creatorId", "ana")}),
		}
	}
	return []scenario{
		remove("a poll", pollPath),
		remove("a slot", "schedulers/POLL/slots/one"),
		removeVote(),
		takeBack(),
		remove("an embedded poll", "schedulers/POLL/basicPolls/one"),
		remove("a vote of an embedded poll", "schedulers/POLL/basicPolls/one/votes/ana"),
	}
}

// removeVote is of ben's, who takes part through the group.
func removeVote() scenario {
	const bens = "schedulers/POLL/votes/ben"
	return scenario{
		name: "deleting a vote", attempt: attempt{as: gm, there: withPoll(nil), writes: []write{{path: bens}}},
		likewise: []variation{{"of a finalised poll", where(pollPath, "status", "FINALIZED")}},
		but: []variation{
			{"by a participant", as(ana)},
			{"by an invitee", as(cho)},
			{"by a stranger", as(dan)},
			{"without signing in", as(nobody)},
			{"of another's poll", where(pollPath, "creatorId", "ana")},
		},
	}
}

// takeBack is a vote that its voter deletes: who chooses nothing any more, who
// declines, and who leaves.
func takeBack() scenario {
	invited := func(a *attempt) {
		a.there[pollPath]["participantIds"], a.there[pollPath]["pendingInvites"] = []any{}, []any{ana.email}
	}
	member := func(a *attempt) {
		a.there[pollPath]["participantIds"], a.there["questingGroups/GROUP"]["memberIds"] = []any{}, []any{"ana"}
	}
	closed := where(pollPath, "status", "FINALIZED")
	return scenario{
		name: "taking one's vote back", attempt: attempt{as: ana, there: withPoll(nil), writes: []write{{path: "schedulers/POLL/votes/ana"}}},
		likewise: []variation{
			{"as a member of the group", member},
			{"as an invitee", invited},
			{"that one never gave", func(a *attempt) { delete(a.there, "schedulers/POLL/votes/ana") }},
			{"out of a finalised poll that one is to leave", closed},
			{"out of a cancelled poll that one is to leave", where(pollPath, "status", "CANCELLED")},
		},
		but: []variation{
			{"by another participant", as(ben)},
			{"by an invitee", as(cho)},
			{"without signing in", as(nobody)},
			{"of a poll that one only has the link of", both(where(pollPath, "participantIds", []any{}), where(pollPath, "allowLinkSharing", true))},
			{"out of a finalised poll that one cannot leave", both(member, closed)},
			{"out of a finalised poll that one is invited to", both(invited, closed)},
			{"out of no poll", func(a *attempt) { delete(a.there, pollPath) }},
		},
	}
}
