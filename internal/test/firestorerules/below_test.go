package firestorerules_test

import (
	"fmt"
	"slices"
	"strings"
)

func slots() []scenario {
	slot := fields{"start": "2026-02-03T10:00:00.000Z", "end": "2026-02-03T14:30:00.000Z", "stats": fields{"feasible": 0, "preferred": 0}}
	times := fields{"start": "2026-02-04T10:00:00.000Z", "end": "2026-02-04T14:30:00.000Z"}
	badTimes := func() []variation {
		var all []variation
		for _, bad := range []any{
			nil, 1, noon, "", "tomorrow", "2026-02-03T10:00:00Z", "2026-02-03T10:00:00.000+01:00", "2026-13-03T10:00:00.000Z",
			"2026-02-32T10:00:00.000Z", "2026-02-30T10:00:00.000Z", "2026-04-31T10:00:00.000Z", "2026-02-03T24:00:00.000Z",
			"2026-02-03T10:60:00.000Z", " 2026-02-03T10:00:00.000Z",
		} {
			all = append(all, variation{fmt.Sprintf("that starts at %v", bad), writing("start", bad)},
				variation{fmt.Sprintf("that ends at %v", bad), writing("end", bad)})
		}
		return append(all, variation{"that ends as it starts", func(a *attempt) { a.writes[0].data["end"] = a.writes[0].data["start"] }},
			variation{"that ends before it starts", writing("end", "2026-02-01T10:00:00.000Z")})
	}
	closedFields := []variation{
		{"that claims to be the calendar's", writing("source", "calendar")},
		{"that claims to be the poll's", writing("source", "poll")},
		{"that claims who made it", writing("createdBy", "calendar-sync")},
		{"of whole days", writing("allDay", true)},
		{"with a field of nobody's", writing("anything", 1)},
		{"of a finalised poll", where(pollPath, "status", "FINALIZED")},
		{"of another's poll", where(pollPath, "creatorId", "ana")},
	}
	closedFields = slices.Clip(slices.Concat(closedFields, badTimes(), others()))
	batch := attempt{as: gm, there: map[string]fields{}, writes: []write{{path: pollPath, data: newPoll()}}}
	for i := range 40 {
		batch.writes = append(batch.writes, write{path: fmt.Sprintf("schedulers/POLL/slots/%d", i), data: slot})
	}
	return []scenario{
		{
			name: "a new slot", attempt: attempt{as: gm, there: withPoll(nil), writes: []write{{path: "schedulers/POLL/slots/two", data: slot}}},
			likewise: []variation{
				{"of a cancelled poll", where(pollPath, "status", "CANCELLED")},
				{"under an id of 128 letters", func(a *attempt) { a.writes[0].path = "schedulers/POLL/slots/" + titleOf(128) }},
				{"on the last day of a month", writing("end", "2026-12-31T23:59:59.999Z")},
				{"on a day that few years have", both(writing("start", "2028-02-29T10:00:00.000Z"), writing("end", "2028-06-30T10:00:00.000Z"))},
				{"with counts that are doubles", writing("stats", fields{"feasible": 0.0, "preferred": 0.0})},
			},
			but: append(closedFields,
				variation{"under an id of 129 letters", func(a *attempt) { a.writes[0].path = "schedulers/POLL/slots/" + titleOf(129) }},
				variation{"without counts", leavingOut("stats")},
				variation{"without an end", leavingOut("end")},
				variation{"that somebody voted for", writing("stats", fields{"feasible": 1, "preferred": 0})},
				variation{"that somebody preferred", writing("stats", fields{"feasible": 0, "preferred": 1})},
				variation{"with counts of more", writing("stats", fields{"feasible": 0, "preferred": 0, "more": 0})},
				variation{"of no poll", func(a *attempt) { delete(a.there, pollPath) }}),
		},
		{
			// The batch writes far more documents than the rules read: all belong to one poll.
			name: "a poll and its slots in one batch", attempt: batch,
			but: []variation{{"by another", as(ana)}, {"of which one is the calendar's", func(a *attempt) {
				a.writes[40].data["source"] = "calendar"
			}}},
		},
		{
			name:    "a slot's times",
			attempt: attempt{as: gm, there: withPoll(nil), writes: []write{{path: "schedulers/POLL/slots/one", named: true, data: times}}},
			likewise: []variation{
				{"that are equal", func(a *attempt) {
					a.writes[0].data = fields{"start": "2026-02-02T10:00:00.000Z", "end": "2026-02-02T14:00:00.000Z"}
				}},
				{"of a cancelled poll", where(pollPath, "status", "CANCELLED")},
				{"of a slot that the calendar made", where("schedulers/POLL/slots/one", "source", "calendar")},
			},
			but: append(closedFields,
				variation{"and its counts", writing("stats", fields{"feasible": 9, "preferred": 9})},
				variation{"and its source deleted", both(writing("source", gone), where("schedulers/POLL/slots/one", "source", "calendar"))}),
		},
	}
}

func votes() []scenario {
	vote := fields{
		"voterId": "ana", "userEmail": ana.email, "userAvatar": "https://example.org/ana.png",
		"votes": fields{"one": "PREFERRED", "two": "FEASIBLE"}, "noTimesWork": false, "updatedAt": serverTime,
	}
	many := func(n int) fields {
		all := fields{}
		for i := range n {
			all[fmt.Sprintf("slot-%d", i)] = "FEASIBLE"
		}
		return all
	}
	denied := func() []variation {
		return []variation{
			{"in another's name", writing("voterId", "ben")},
			{"under another's id", func(a *attempt) { a.writes[0].path = "schedulers/POLL/votes/ben" }},
			{"by the creator", as(gm)},
			{"by another participant", as(ben)},
			{"without signing in", as(nobody)},
			{"with another's address", writing("userEmail", ben.email)},
			{"with an avatar that is no text", writing("userAvatar", 1)},
			{"with an avatar that is too long", writing("userAvatar", titleOf(2049))},
			{"with votes that are no map", writing("votes", []any{"one"})},
			{"with a vote that is none", writing("votes", fields{"one": "MAYBE"})},
			{"with a vote of an older shape", writing("votes", fields{"one": true})},
			{"with too many votes", writing("votes", many(201))},
			{"with a vote for a slot of 129 bytes", writing("votes", fields{"one": "FEASIBLE", titleOf(129): "FEASIBLE"})},
			{"with a vote for a slot of 130 bytes in 65 letters", writing("votes", fields{strings.Repeat("ä", 65): "FEASIBLE"})},
			{"with a vote for a path", writing("votes", fields{titleOf(100) + "/" + titleOf(100): "FEASIBLE"})},
			{"with votes though no times work", writing("noTimesWork", true)},
			{"with no times that is no yes or no", writing("noTimesWork", "false")},
			{"at a time that is none", writing("updatedAt", "now")},
			{"with a source", writing("source", "web")},
			{"with where it was given", writing("lastVotedFrom", "web")},
			{"with where nothing was given", writing("lastVotedFrom", nil)},
			{"with a field of nobody's", writing("anything", 1)},
			{"in a finalised poll", where(pollPath, "status", "FINALIZED")},
			{"in a cancelled poll", where(pollPath, "status", "CANCELLED")},
			{"in an archived poll", where(pollPath, "status", "ARCHIVED")},
			{"in a poll that one has left", where(pollPath, "participantIds", []any{"gm"})},
			{"in a poll that one only has the link of", both(where(pollPath, "participantIds", []any{}), where(pollPath, "allowLinkSharing", true))},
			{
				"in a poll that one is only invited to",
				both(where(pollPath, "participantIds", []any{}), where(pollPath, "pendingInvites", []any{ana.email})),
			},
			{"in no poll", func(a *attempt) { delete(a.there, pollPath) }},
		}
	}
	likewise := []variation{
		{"without the time", leavingOut("updatedAt")},
		{"without an avatar", writing("userAvatar", nil)},
		{"for as many slots as a poll has", writing("votes", many(200))},
		{"for slots of 128 bytes", writing("votes", fields{titleOf(128): "FEASIBLE", strings.Repeat("ä", 64): "PREFERRED"})},
		{"that no times work", both(writing("noTimesWork", true), writing("votes", fields{}))},
		{"in a poll without a status", where(pollPath, "status", nil)},
		{"through the group", both(where(pollPath, "participantIds", []any{}), where("questingGroups/GROUP", "memberIds", []any{"ana"}))},
		{"by somebody without an address", both(as(person{uid: "ana", provider: "custom"}), writing("userEmail", nil))},
		{"that is copied from another poll", writing("lastVotedFrom", "copyVotes")},
	}
	older := fields{"one": true, "two": fields{"feasible": true, "preferred": false}}
	first := attempt{as: ana, there: withPoll(nil), writes: []write{{path: "schedulers/POLL/votes/ana", data: vote}}}
	delete(first.there, "schedulers/POLL/votes/ana")
	again := attempt{as: ana, there: withPoll(nil), writes: []write{{path: "schedulers/POLL/votes/ana", named: true, data: vote}}}
	cut := attempt{
		as: gm, there: withPoll(nil),
		writes: []write{{path: "schedulers/POLL/votes/ana", named: true, data: fields{"votes": fields{"one": "FEASIBLE"}}}},
	}
	// An edit that deletes a slot: everybody's vote is written, whatever is in it.
	edit := attempt{as: gm, there: withPoll(nil), writes: []write{
		{path: pollPath, named: true, data: fields{"title": "Another", "updatedAt": serverTime, "participants": gone}},
		{path: "schedulers/POLL/slots/one", named: true, data: fields{"start": "2026-02-02T10:00:00.000Z", "end": "2026-02-02T14:00:00.000Z"}},
		{path: "schedulers/POLL/slots/two"},
	}}
	for voter, is := range map[string]struct{ before, after any }{
		"ana": {fields{"one": "FEASIBLE", "two": "PREFERRED"}, fields{"one": "FEASIBLE"}},
		"ben": {fields{"one": "PREFERRED"}, fields{"one": "PREFERRED"}},
		"cho": {fields{}, fields{}},
		"dan": {nil, fields{}},
		"eve": {fields{"one": true, "two": fields{"feasible": true, "preferred": false}}, fields{"one": true}},
	} {
		path := "schedulers/POLL/votes/" + voter
		edit.there[path] = fields{"voterId": voter, "votes": is.before, "noTimesWork": is.before == nil, "updatedAt": noon}
		edit.writes = append(edit.writes, write{path: path, named: true, data: fields{"votes": is.after, "updatedAt": serverTime}})
	}
	edit.there["schedulers/POLL/slots/two"] = edit.there["schedulers/POLL/slots/one"]
	inOne := func(voter string, votes fields) func(*attempt) {
		return func(a *attempt) {
			for _, w := range a.writes {
				if w.path == "schedulers/POLL/votes/"+voter {
					w.data["votes"] = votes
				}
			}
		}
	}
	return []scenario{
		{
			name: "an edit with everybody's votes", attempt: edit,
			but: append(others(),
				variation{"of which one is changed", inOne("ben", fields{"one": "FEASIBLE"})},
				variation{"of which one is given", inOne("dan", fields{"one": "FEASIBLE"})},
				variation{"of a finalised poll", where(pollPath, "status", "FINALIZED")}),
		},
		{
			name: "a first vote", attempt: first, likewise: likewise,
			but: append(denied(),
				variation{"without an avatar's field", leavingOut("userAvatar")},
				variation{"without votes", leavingOut("votes")},
				variation{"without saying whether any times work", leavingOut("noTimesWork")},
				variation{"without an address though one has one", writing("userEmail", nil)}),
		},
		{
			name: "another vote", attempt: again,
			likewise: append(likewise,
				variation{
					"beside older ones",
					both(where("schedulers/POLL/votes/ana", "votes", older), writing("votes", merged(older, fields{"three": "FEASIBLE"}))),
				},
				variation{"where there was none", both(where("schedulers/POLL/votes/ana", "votes", nil), writing("votes", fields{"one": "FEASIBLE"}))}),
			but: append(denied(),
				variation{
					"of an older shape that was not in it",
					both(where("schedulers/POLL/votes/ana", "votes", older), writing("votes", fields{"three": fields{"feasible": true}})),
				},
				variation{
					"and where it was copied from deleted",
					both(where("schedulers/POLL/votes/ana", "lastVotedFrom", "copyVotes"), writing("lastVotedFrom", gone)),
				},
				variation{"and its source deleted", writing("source", gone)},
				variation{"and written as a whole", func(a *attempt) { a.writes[0].named = false }}),
		},
		{
			name: "a slot taken out of a vote", attempt: cut,
			likewise: []variation{
				{"with the time", writing("updatedAt", serverTime)},
				{"and every other", writing("votes", fields{})},
				{"in a cancelled poll", where(pollPath, "status", "CANCELLED")},
				{"that are as they were", writing("votes", fields{"one": "FEASIBLE", "two": "PREFERRED"})},
				{"that are as they were, with the time", func(a *attempt) { a.writes[0].data = fields{"updatedAt": serverTime} }},
				{"of which there are none", both(where("schedulers/POLL/votes/ana", "votes", fields{}), writing("votes", fields{}))},
				{"which are null", both(where("schedulers/POLL/votes/ana", "votes", nil), writing("votes", fields{}))},
				{"which are null, and stay so", both(where("schedulers/POLL/votes/ana", "votes", nil), writing("votes", nil))},
				{"which are not there", both(leavingOutThere("schedulers/POLL/votes/ana", "votes"), writing("votes", fields{}))},
				{"where the votes are of an older shape", where("schedulers/POLL/votes/ana", "votes", fields{"one": "FEASIBLE", "two": true})},
			},
			but: append(others()[1:],
				variation{"and another put in", writing("votes", fields{"one": "FEASIBLE", "three": "FEASIBLE"})},
				variation{"and another changed", writing("votes", fields{"one": "PREFERRED"})},
				variation{"and one put in where they are null", where("schedulers/POLL/votes/ana", "votes", nil)},
				variation{"and another field", writing("noTimesWork", true)},
				variation{"and no map left", writing("votes", nil)},
				variation{"and a list left", writing("votes", []any{})},
				variation{"and the field deleted", writing("votes", gone)},
				variation{"at a time that is none", writing("updatedAt", "now")},
				variation{"in a finalised poll", where(pollPath, "status", "FINALIZED")},
				variation{"in another's poll", where(pollPath, "creatorId", "ben")}),
		},
	}
}

func notices() []scenario {
	note := fields{"type": "SESSION_RESCHEDULED", "title": "Rescheduled", "body": "", "read": false, "dismissed": false, "createdAt": noon}
	there := map[string]fields{"users/gm/notifications/NOTE": note}
	return []scenario{{
		name:    "a notice read",
		attempt: attempt{as: gm, there: there, writes: []write{{path: "users/gm/notifications/NOTE", named: true, data: fields{"read": true}}}},
		likewise: []variation{
			{"and dismissed", writing("dismissed", true)},
			{"and unread again", writing("read", false)},
			{"and deleted", func(a *attempt) { a.writes[0] = write{path: "users/gm/notifications/NOTE"} }},
		},
		but: []variation{
			{"by another", as(ana)},
			{"without signing in", as(nobody)},
			{"with a text", writing("read", "yes")},
			{"and dismissed with a text", writing("dismissed", 1)},
			{"with another title", writing("title", "Cancelled")},
			{"with another type", writing("type", "SESSION_CANCELLED")},
			{"with a field of nobody's", writing("anything", 1)},
			{"and written as a whole", func(a *attempt) { a.writes[0].named = false }},
			{"that is made", func(a *attempt) {
				a.there = nil
				a.writes = []write{{path: "users/gm/notifications/NOTE", data: note}}
			}},
			{"that is made for another", func(a *attempt) {
				a.there = nil
				a.writes = []write{{path: "users/ana/notifications/NOTE", data: note}}
			}},
			{"and deleted by another", func(a *attempt) { a.as, a.writes[0] = ana, write{path: "users/gm/notifications/NOTE"} }},
			{"and deleted by nobody", func(a *attempt) { a.as, a.writes[0] = nobody, write{path: "users/gm/notifications/NOTE"} }},
			{"that is an invitation one makes for somebody", func(a *attempt) {
				a.writes[0] = write{path: "users/ana/notifications/pollInvite:NOTE", data: merged(note, fields{"type": "POLL_INVITE"})}
			}},
			{"that is an invitation one makes for oneself", func(a *attempt) {
				a.writes[0] = write{path: "users/gm/notifications/pollInvite:NOTE", data: merged(note, fields{"type": "POLL_INVITE"})}
			}},
		},
	}}
}
