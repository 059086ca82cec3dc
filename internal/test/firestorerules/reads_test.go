package firestorerules_test

import "time"

var noon = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

// unchecked are people with an invitee's unverified address: a provider that vouches
// for an account does not vouch for its address.
func unchecked() []variation {
	var all []variation
	for _, provider := range []string{"password", "google.com", "custom", "anonymous"} {
		all = append(all, variation{
			"by an address that nobody checked, signed in by " + provider,
			as(person{uid: "cho", email: cho.email, provider: provider, unverified: true}),
		})
	}
	return all
}

// readers are who may read a poll and what is below it, and who may not.
func readers(name, reads string) scenario {
	there := withPoll(nil)
	return scenario{
		name: name, attempt: attempt{as: gm, there: there, reads: reads},
		likewise: []variation{
			{"by a participant", as(ana)},
			{"by a member of its group", as(ben)},
			{"by an invitee", as(cho)},
			{"by an invitee whose address is written in capitals", as(person{uid: "cho", email: "Cho@Example.org", provider: "password"})},
			{"by an invitee who signed in with Google", as(person{uid: "cho", email: cho.email, provider: "google.com"})},
			{"by an invitee whom the app itself signed in", as(person{uid: "cho", email: cho.email, provider: "custom"})},
			{"by anybody where there is a link", both(as(dan), where(pollPath, "allowLinkSharing", true))},
			{"by a participant where there is no group", both(as(ana), where(pollPath, "questingGroupId", nil))},
			{"by the creator where nothing but that is known of it", func(a *attempt) { a.there[pollPath] = fields{"creatorId": "gm"} }},
		},
		but: append(unchecked(),
			variation{"by a stranger", as(dan)},
			variation{"without signing in", as(nobody)},
			variation{"without signing in where there is a link", both(as(nobody), where(pollPath, "allowLinkSharing", true))},
			variation{"by an invitee who signed in without an address", as(person{uid: "cho", provider: "custom"})},
			variation{"by a stranger where lists are null", func(a *attempt) {
				a.as, a.there[pollPath] = dan, fields{"creatorId": "gm", "participantIds": nil, "pendingInvites": nil, "questingGroupId": ""}
			}},
			variation{"by one whom its group invites", both(as(dan), where("questingGroups/GROUP", "pendingMemberIds", []any{"dan"}))},
			variation{"by a member where the group is gone", func(a *attempt) { a.as = ben; delete(a.there, "questingGroups/GROUP") }},
			variation{"by the creator where it is gone", func(a *attempt) { delete(a.there, pollPath) }}),
	}
}

// hiddenVotes is a read in a poll whose votes only its creator sees; voters see their
// own.
func hiddenVotes(p person, reads string) attempt {
	a := attempt{as: p, there: withPoll(fields{"hideVoterIdentities": true, "voteVisibility": "hidden"}), reads: reads}
	a.there["schedulers/POLL/votes/ben"] = fields{"voterId": "ben", "votes": fields{}, "noTimesWork": false}
	return a
}

// hidden is a read of documents with votes, which the app shows to everybody as soon
// as the poll's settings allow it.
func hidden(reads string) scenario {
	const bens = "schedulers/POLL/votes/ben"
	until := func(when string, more ...func(*attempt)) func(*attempt) {
		return func(a *attempt) {
			a.as, a.there[pollPath]["voteVisibility"] = ben, when
			for _, change := range more {
				change(a)
			}
		}
	}
	return scenario{
		name: "hidden votes: " + reads, attempt: hiddenVotes(gm, reads),
		likewise: []variation{
			{"that everybody sees", until("full_visibility")},
			{"of which nothing says who sees them", until("")},
			{"of voters who are known", until("hidden", where(pollPath, "hideVoterIdentities", false))},
			{"by who has voted", until("hidden_while_voting", where(bens, "votes", fields{"one": "FEASIBLE"}))},
			{"by who prefers a slot", until("hidden_while_voting", where(bens, "votes", fields{"one": "PREFERRED"}))},
			{"by who has no time", until("hidden_while_voting", where(bens, "noTimesWork", true))},
			{"which are all in", until("hidden_until_all_voted", where(pollPath, "votesAllSubmitted", true))},
			{"of a finalised poll", until("hidden_until_finalized", where(pollPath, "status", "FINALIZED"))},
		},
		but: []variation{
			{"by a participant", as(ben)},
			{"of a finalised poll that keeps them", until("hidden", where(pollPath, "status", "FINALIZED"))},
			{"by who has chosen nothing", until("hidden_while_voting")},
			{"by who has not voted", until("hidden_while_voting", func(a *attempt) { delete(a.there, bens) })},
			{"which are not all in", until("hidden_until_all_voted", where(pollPath, "votesAllSubmitted", false))},
			{"of an open poll", until("hidden_until_finalized")},
			{"by a stranger", both(as(dan), where(pollPath, "voteVisibility", "full_visibility"))},
			{"without signing in", as(nobody)},
		},
	}
}

// known changes a scenario about the server's documents below a poll: the server has
// written the poll. The request is refused if only a client has written it, since
// the documents then belong to a deleted poll of the same id.
func known(d scenario) scenario {
	written := func(a *attempt) {
		if there, ok := a.there[pollPath]; ok {
			there["calendarSync"] = fields{"generation": 1}
		}
	}
	written(&d.attempt)
	for _, variations := range [][]variation{d.likewise, d.but} {
		for i := range variations {
			variations[i].change = both(variations[i].change, written)
		}
	}
	d.but = append(d.but, variation{"of a deleted poll of the same id", leavingOutThere(pollPath, "calendarSync")})
	return d
}

func reading() []scenario {
	embedded := func(path string) scenario {
		return scenario{
			name: "an embedded poll: " + path, attempt: attempt{as: gm, there: withPoll(nil), reads: path},
			but: []variation{{"by a participant", as(ana)}, {"without signing in", as(nobody)}},
		}
	}
	own := []variation{{"by another person", as(ana)}, {"without signing in", as(nobody)}}
	group := []variation{{"by its creator", as(person{uid: "eve", provider: "password"})}}
	return []scenario{
		readers("a poll", pollPath),
		readers("a slot", "schedulers/POLL/slots/one"),
		readers("the slots", "schedulers/POLL/slots"),
		readers("a vote", "schedulers/POLL/votes/ana"),
		readers("a vote that nobody gave", "schedulers/POLL/votes/ben"),
		readers("the votes", "schedulers/POLL/votes"),
		hidden("schedulers/POLL/votes/ana"),
		hidden("schedulers/POLL/votes"),
		known(hidden("schedulers/POLL/calendarSyncSnapshots/first")),
		known(hidden("schedulers/POLL/calendarSyncSnapshots")),
		{
			name: "one's own vote where votes are hidden", attempt: hiddenVotes(ana, "schedulers/POLL/votes/ana"),
			but: []variation{{"by another", as(ben)}},
		},
		known(readers("a snapshot", "schedulers/POLL/calendarSyncSnapshots/first")),
		known(readers("the snapshots", "schedulers/POLL/calendarSyncSnapshots")),
		embedded("schedulers/POLL/basicPolls/one"),
		embedded("schedulers/POLL/basicPolls"),
		embedded("schedulers/POLL/basicPolls/one/votes/ana"),
		embedded("schedulers/POLL/basicPolls/one/votes"),
		{
			name: "a group", attempt: attempt{as: ben, there: withPoll(nil), reads: "questingGroups/GROUP"}, likewise: group,
			but: []variation{
				{"by a stranger", as(dan)},
				{"by one whom it invites", both(as(dan), where("questingGroups/GROUP", "pendingMemberIds", []any{"dan"}))},
				{"by a participant of a poll of it", as(ana)},
				{"without signing in", as(nobody)},
				{"that is gone", func(a *attempt) { delete(a.there, "questingGroups/GROUP") }},
			},
		},
		{name: "oneself", attempt: attempt{as: gm, there: map[string]fields{"users/gm": {"email": gm.email}}, reads: "users/gm"}, but: own},
		owned("canonicalEvents/NOTE", "canonicalEvents"),
		owned("mirrorPolicies/NOTE", "mirrorPolicies"),
		{name: "a notice", attempt: attempt{as: gm, reads: "users/gm/notifications/dedupe:NOTE"}, but: own},
		{name: "one's notices", attempt: attempt{as: gm, reads: "users/gm/notifications"}, but: own},
		{
			name:    "one's unread notices",
			attempt: attempt{as: gm, reads: "users/gm/notifications", filter: []any{"read", "EQUAL", false}}, but: own,
		},
	}
}

// owned is a read of a document that its owner alone may read.
func owned(path, collection string) scenario {
	return scenario{
		name:     "one's own document of " + collection,
		attempt:  attempt{as: gm, there: map[string]fields{path: {"ownerId": "gm"}}, reads: path},
		likewise: []variation{{"with others", func(a *attempt) { a.reads, a.filter = collection, []any{"ownerId", "EQUAL", "gm"} }}},
		but: []variation{
			{"by another person", as(ana)},
			{"by a member of a group that it is of", both(as(ben), where(path, "groupId", "GROUP"))},
			{"without signing in", as(nobody)},
			{"without an owner", leavingOutThere(path, "ownerId")},
			{"with everybody's", func(a *attempt) { a.reads = collection }},
		},
	}
}

// listing: a query is allowed for what it asks, whatever there is.
func listing() []scenario {
	polls := func(name string, by person, field, op string, value any, but ...variation) scenario {
		return scenario{
			name: "polls " + name, attempt: attempt{as: by, there: withPoll(nil), reads: "schedulers", filter: []any{field, op, value}},
			but: append(but, variation{"without signing in", as(nobody)},
				variation{"without the filter", func(a *attempt) { a.filter = nil }}),
		}
	}
	filter := func(field, op string, value any) func(*attempt) {
		return func(a *attempt) { a.filter = []any{field, op, value} }
	}
	return []scenario{
		polls("that one created", gm, "creatorId", "EQUAL", "gm",
			variation{"another person's", as(ana)}),
		polls("that one takes part in", ana, "participantIds", "ARRAY_CONTAINS", "ana",
			variation{"another person's", as(gm)}),
		polls("by their ids", ana, "__name__", "IN", []any{pollPath},
			variation{"another person's", as(dan)},
			variation{"that one has the link of", both(as(dan), where(pollPath, "allowLinkSharing", true))}),
		polls("that one is invited to", cho, "pendingInvites", "ARRAY_CONTAINS", cho.email,
			append(unchecked(), variation{"another person's", as(ana)})...),
		polls("of one's group", ben, "questingGroupId", "EQUAL", "GROUP",
			variation{"another group's", as(ana)},
			variation{"that everybody has the link of", filter("allowLinkSharing", "EQUAL", true)},
			variation{"by their status alone", filter("status", "EQUAL", "OPEN")}),
		{
			name: "polls of one's groups",
			attempt: attempt{as: ben, reads: "schedulers", filter: []any{"questingGroupId", "IN", []any{"GROUP", "MORE-GROUP"}},
				there: map[string]fields{
					"questingGroups/GROUP":       {"creatorId": "eve", "memberIds": []any{"ben"}},
					"questingGroups/MORE-GROUP":  {"creatorId": "eve", "memberIds": []any{"ben"}},
					"questingGroups/OTHER-GROUP": {"creatorId": "ben", "memberIds": []any{"eve"}},
				}},
			but: []variation{
				{"another person's", as(ana)},
				{"of which one is another's", filter("questingGroupId", "IN", []any{"GROUP", "OTHER-GROUP"})},
			},
		},
		{
			name:    "groups that one belongs to",
			attempt: attempt{as: ben, there: withPoll(nil), reads: "questingGroups", filter: []any{"memberIds", "ARRAY_CONTAINS", "ben"}},
			likewise: []variation{
				{"that one created", func(a *attempt) { a.filter = []any{"creatorId", "EQUAL", "ben"} }},
			},
			but: []variation{
				{"another person's", as(ana)},
				{"without the filter", func(a *attempt) { a.filter = nil }},
				{"without signing in", as(nobody)},
			},
		},
	}
}
