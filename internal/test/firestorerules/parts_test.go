package firestorerules_test

import (
	"maps"
	"slices"
)

// parts are writes to a poll by people who did not create it.
func parts() []scenario {
	const eve = "eve@example.org"
	part := func(p person, changes fields) attempt {
		a := update(changes, fields{"pendingInviteMeta": fields{cho.email: fields{"by": "gm"}, eve: fields{"by": "gm"}}})
		a.as = p
		return a
	}
	rest := fields{eve: fields{"by": "gm"}}
	denied := func(more ...variation) []variation {
		return append(slices.Concat(more, serverFields()),
			variation{"with another title", writing("title", "Mine")},
			variation{"with another status", writing("status", "CANCELLED")},
			variation{"with another time zone", writing("timezone", "Europe/Paris")},
			variation{"at a time that is none", writing("updatedAt", "now")},
			variation{"without signing in", as(nobody)})
	}
	accept := fields{
		"participantIds": []any{"gm", "ana", "cho"}, "pendingInvites": []any{eve}, "pendingInviteMeta": rest,
		"updatedAt": serverTime,
	}
	decline := fields{"pendingInvites": []any{eve}, "pendingInviteMeta": rest, "updatedAt": serverTime}
	inFull := func(a *attempt) {
		a.there[pollPath]["participantIds"], a.writes[0].data["participantIds"] = people(500), append(people(500), "cho")
	}
	twice := where(pollPath, "participantIds", []any{"gm", "ana", "ana"})
	return []scenario{
		{
			name: "accepting", attempt: part(cho, accept),
			likewise: []variation{
				{"without the time", leavingOut("updatedAt")},
				{"where nothing is known of the inviter", func(a *attempt) {
					delete(a.writes[0].data, "pendingInviteMeta")
					delete(a.there[pollPath], "pendingInviteMeta")
				}},
				{"as the first participant", func(a *attempt) {
					a.there[pollPath]["participantIds"], a.writes[0].data["participantIds"] = nil, []any{"cho"}
				}},
				{"of a finalised poll", where(pollPath, "status", "FINALIZED")},
				{"where one takes part already", where(pollPath, "participantIds", []any{"gm", "ana", "cho"})},
			},
			but: denied(append(unchecked(),
				variation{"by a stranger", both(as(dan), writing("participantIds", []any{"gm", "ana", "dan"}))},
				variation{"for another", writing("participantIds", []any{"gm", "ana", "eve"})},
				variation{"with another", writing("participantIds", []any{"gm", "ana", "cho", "eve"})},
				variation{"in another's place", writing("participantIds", []any{"gm", "eve", "cho"})},
				variation{"and putting out another", writing("participantIds", []any{"gm", "cho"})},
				variation{"and keeping the invitation", leavingOut("pendingInvites")},
				variation{"and taking another's invitation", writing("pendingInvites", []any{})},
				variation{"and inviting another", writing("pendingInvites", []any{eve, "fay@example.org"})},
				variation{"and forgetting another's inviter", writing("pendingInviteMeta", fields{})},
				variation{"and forging one's inviter", writing("pendingInviteMeta", fields{cho.email: fields{"by": "eve"}, eve: fields{"by": "gm"}})},
				variation{"into a full poll", inFull},
				variation{"with another, where somebody is named twice", both(twice, writing("participantIds", []any{"gm", "ana", "cho", "eve"}))},
				variation{"twice at once", writing("participantIds", []any{"gm", "ana", "cho", "cho"})},
				variation{"with participants that are no list", writing("participantIds", "cho")},
			)...),
		},
		{
			name: "declining", attempt: part(cho, decline),
			likewise: []variation{
				{"where nothing is kept of the inviter", leavingOut("pendingInviteMeta")},
				{"and leaving", both(where(pollPath, "participantIds", []any{"gm", "cho"}), writing("participantIds", []any{"gm"}))},
				{"where nobody takes part", both(where(pollPath, "participantIds", nil), writing("participantIds", []any{}))},
			},
			but: denied(append(unchecked(),
				variation{"by another", as(dan)},
				variation{"for all", writing("pendingInvites", []any{})},
				variation{"and writing the time alone", func(a *attempt) { a.writes[0].data = fields{"updatedAt": serverTime} }},
				variation{"and forgetting the inviter alone", func(a *attempt) { delete(a.writes[0].data, "pendingInvites") }},
			)...),
		},
		{
			name: "joining by the link",
			attempt: func() attempt {
				a := part(dan, fields{"participantIds": []any{"gm", "ana", "dan"}, "updatedAt": serverTime})
				a.there[pollPath]["allowLinkSharing"] = true
				return a
			}(),
			likewise: []variation{
				{"without the time", leavingOut("updatedAt")},
				{"by an invitee", both(as(cho), writing("participantIds", []any{"gm", "ana", "cho"}))},
				{"where somebody is named twice", both(twice, writing("participantIds", []any{"gm", "ana", "ana", "dan"}))},
				{"and naming nobody twice any more", both(twice, writing("participantIds", []any{"gm", "ana", "dan"}))},
				{"where nobody is invited", both(where(pollPath, "pendingInvites", nil), writing("pendingInvites", []any{}))},
				{"where nothing is said of invitations", both(leavingOutThere(pollPath, "pendingInvites"), writing("pendingInvites", []any{}))},
			},
			but: denied(
				variation{"where there is none", where(pollPath, "allowLinkSharing", false)},
				variation{"for another", as(ben)},
				variation{"with another", writing("participantIds", []any{"gm", "ana", "dan", "eve"})},
				variation{"with another, where somebody is named twice", both(twice, writing("participantIds", []any{"gm", "ana", "dan", "eve"}))},
				variation{"in another's place, where somebody is named twice", both(twice, writing("participantIds", []any{"gm", "gm", "gm", "dan"}))},
				variation{"twice", both(as(ana), writing("participantIds", []any{"gm", "ana", "ana"}))},
				variation{"and forgetting another's inviter", writing("pendingInviteMeta", fields{})},
				variation{"and taking another's invitation", writing("pendingInvites", []any{cho.email})},
				variation{"and emptying a list alone", func(a *attempt) {
					a.there[pollPath]["pendingInvites"], a.writes[0].data = nil, fields{"pendingInvites": []any{}, "updatedAt": serverTime}
				}},
			),
		},
		{
			name: "leaving", attempt: part(ana, fields{"participantIds": []any{"gm"}, "updatedAt": serverTime}),
			likewise: []variation{{"where one is named twice", twice}},
			but: denied(
				variation{"once, where one is named twice", both(twice, writing("participantIds", []any{"gm", "ana"}))},
				variation{"and putting in another, where one is named twice", both(twice, writing("participantIds", []any{"gm", "eve"}))},
				variation{"for another", as(ben)},
				variation{"and putting out another", writing("participantIds", []any{})},
				variation{"and leaving another behind", writing("participantIds", []any{"gm", "eve"})},
				variation{"and removing the list", writing("participantIds", gone)},
			),
		},
		nestedInviter("x@example.org", fields{"x@example": fields{"org": fields{"by": "gm"}}}, fields{"x@example": fields{}},
			fields{"x@example": fields{"org": fields{"by": "eve"}}}),
		nestedInviter("x.y@example.org", fields{"x": fields{"y@example": fields{"org": 1, "com": 2}}},
			fields{"x": fields{"y@example": fields{"com": 2}}},
			fields{"x": fields{"y@example": fields{"org": 1}}}),
		nestedInviter("x.y@example.co.uk", fields{"x": fields{"y@example": fields{"co": fields{"uk": 1}}}},
			fields{"x": fields{"y@example": fields{"co": fields{}}}},
			fields{"x": fields{"y@example": fields{}}}),
		nestedInviter("x.y@an.example.co.uk", fields{"x": fields{"y@an": fields{"example": fields{"co": fields{"uk": 1, "nz": 2}}}}},
			fields{"x": fields{"y@an": fields{"example": fields{"co": fields{"nz": 2}}}}},
			fields{"x": fields{"y@an": fields{"example": fields{"co": fields{"nz": 3}}}}}),
		nestedInviter("x.y.z@an.example.ac.uk",
			fields{"x": fields{"y": fields{"z@an": fields{"example": fields{"ac": fields{"uk": 1}, "co": 1}}}}},
			fields{"x": fields{"y": fields{"z@an": fields{"example": fields{"ac": fields{}, "co": 1}}}}},
			fields{"x": fields{"y": fields{"z@an": fields{"example": fields{"ac": fields{}, "co": 2}}}}}),
	}
}

// nestedInviter declines an invitation whose address was written as a path, split at
// its dots.
func nestedInviter(address string, before, after, wrong fields) scenario {
	a := update(fields{"pendingInvites": []any{}, "pendingInviteMeta": after}, fields{
		"pendingInvites": []any{address}, "pendingInviteMeta": before,
	})
	a.as = person{uid: "x", email: address, provider: "password"}
	return scenario{
		name: "declining as " + address, attempt: a,
		likewise: []variation{{"and keeping the inviter", leavingOut("pendingInviteMeta")}},
		but: []variation{
			{"and changing what is not one's own", writing("pendingInviteMeta", wrong)},
			{"and adding something", writing("pendingInviteMeta", merged(after, fields{"more": 1}))},
			{"and writing no map", writing("pendingInviteMeta", 1)},
			{"and removing all", writing("pendingInviteMeta", fields{})},
		},
	}
}

func merged(one, other fields) fields {
	all := maps.Clone(one)
	if all == nil {
		all = fields{}
	}
	maps.Copy(all, other)
	return all
}
