package firestorerules_test

import (
	"fmt"
	"testing"

	"questscheduler/internal/test/webapp"
)

// step is something that the web app does, by the official client.
type step struct {
	Who  string         `json:"who"`
	Does string         `json:"does"`
	With map[string]any `json:"with"`
	no   bool           // it is refused
}

// TestRules_ByTheOfficialClient is a poll's life as the web app writes it: with
// the client's merges, unions and dotted names, whose writes the other tables only
// know the results of.
func TestRules_ByTheOfficialClient(t *testing.T) {
	t.Parallel()
	c := rules(t)
	const (
		id, other, third = "00000000-0000-4000-8000-0000000000a1", "00000000-0000-4000-8000-0000000000a2", "00000000-0000-4000-8000-0000000000a3"
		ten, two         = "2030-02-02T10:00:00.000Z", "2030-02-02T14:00:00.000Z"
	)
	with := func(more ...any) map[string]any {
		data := map[string]any{"id": id}
		for i := 0; i < len(more); i += 2 {
			data[more[i].(string)] = more[i+1]
		}
		return data
	}
	server := func(path string, data fields) step {
		return step{"server", "writes", map[string]any{"path": path, "data": data}, false}
	}
	hidden := fields{"voteVisibility": "hidden_while_voting", "hideVoterIdentities": true, "votesAllSubmitted": false}
	steps := []step{
		server("questingGroups/party", fields{"name": "The party", "creatorId": "gm", "memberIds": []any{"gm", "ben"}}),
		{"gm", "create", with("participants", []any{"gm", "ana"}, "group", "party"), false},
		{"gm", "create", with("id", third, "participants", []any{"gm"}, "group", "nobodys"), true},
		{"gm", "addSlot", with("start", ten, "end", two), false},
		{"gm", "putSlot", with("slot", "one", "start", ten, "end", two), false},
		{"gm", "putSlot", with("slot", "two", "start", "2030-02-03T10:00:00.000Z", "end", "2030-02-03T14:00:00.000Z"), false},
		{"ana", "putSlot", with("slot", "three", "start", ten, "end", two), true},

		// Invitations: by an address with dots, which names a path.
		{"server", "invites", with("email", cho.email), false},
		{"server", "invites", with("email", dan.email), false},
		{"cho", "inviting", nil, false},
		{"cho", "dashboard", nil, false},
		// Whose address nobody checked is refused the dashboard's query, and the
		// client goes on with the others.
		{"unchecked cho", "inviting", nil, true},
		{"unchecked cho", "dashboard", nil, true},
		{"unchecked cho", "mine", nil, false},
		{"unchecked cho", "withMe", nil, false},
		{"unchecked cho", "read", with(), true},
		{"unchecked cho", "accept", with(), true},
		{"cho", "read", with(), false},
		{"cho", "vote", with("votes", fields{"one": "FEASIBLE"}), true},
		{"cho", "accept", with(), false},
		{"cho", "vote", with("votes", fields{"one": "FEASIBLE"}), false},
		{"dan", "decline", with(), false},
		{"dan", "read", with(), true},
		{"dan", "accept", with(), true},

		// Votes: a merge leaves what was chosen before.
		server("schedulers/"+id+"/votes/ana", fields{
			"votes": fields{"two": true}, "noTimesWork": false, "source": "discord", "lastVotedFrom": "discord",
		}),
		{"ana", "vote", with("votes", fields{"one": "PREFERRED"}), false},
		{"ana", "vote", with("votes", fields{"one": "MAYBE"}), true},
		{"ben", "vote", with("votes", fields{"two": "FEASIBLE"}, "more", fields{"lastVotedFrom": "copyVotes"}), false},
		{"ben", "vote", with("votes", fields{}, "noTimesWork", true), false},
		{"ben", "takeBack", with(), false},
		{"dan", "vote", with("votes", fields{"one": "FEASIBLE"}), true},

		// Lists.
		{"gm", "mine", nil, false}, {"ana", "withMe", nil, false}, {"ben", "ofGroups", map[string]any{"groups": []any{"party"}}, false},
		{"ana", "byIds", map[string]any{"ids": []any{id}}, false}, {"dan", "byIds", map[string]any{"ids": []any{id}}, true},
		{"ana", "ofGroups", map[string]any{"groups": []any{"party"}}, true}, {"ana", "everybodys", nil, true},
		{"ana", "readBelow", with("name", "votes"), false}, {"dan", "readBelow", with("name", "slots"), true},

		// An edit, with link sharing and hidden votes from now on.
		{"ana", "edit", with("without", "two"), true},
		{"gm", "edit", with("without", "two", "more", hidden), false},
		{"cho", "readBelow", with("name", "votes"), false},
		{"ben", "readBelow", with("name", "votes"), true},
		{"dan", "join", with(), false},
		{"dan", "byIds", map[string]any{"ids": []any{id}}, false},
		{"gm", "putOut", with("uid", "dan"), false},

		// Its status.
		{"server", "finalises", with("slot", "one"), false},
		{"cho", "vote", with("votes", fields{"one": "PREFERRED"}), true},
		{"gm", "edit", with("without", ""), true},
		{"dan", "join", with(), false},
		{"ana", "putOut", with("uid", "dan"), true},
		{"gm", "putOut", with("uid", "dan"), false},
		{"gm", "putOut", with("uid", "dan"), false}, // a second click
		{"cho", "leave", with(), false},
		{"ben", "takeBack", with(), true},
		{"ana", "cancel", with(), true},
		{"gm", "cancel", with(), false},
		{"gm", "restore", with("status", "OPEN"), true},
		{"gm", "restore", with("status", "FINALIZED"), false},
		{"gm", "reopen", with(), false},
		{"gm", "cancel", with(), false},
		{"gm", "restore", with("status", "FINALIZED"), true},
		{"gm", "restore", with("status", "OPEN"), false},

		// Clones, and a poll that says nothing of invitations.
		{"ana", "clone", with("id", other), false},
		{"ana", "putSlot", with("id", other, "slot", "one", "start", ten, "end", two), false},
		{"ana", "vote", with("id", other, "votes", fields{"one": "FEASIBLE"}), false},
		{"ana", "edit", with("id", other, "without", "one"), false},
		server("schedulers/"+third, fields{"creatorId": "gm", "title": "Old", "allowLinkSharing": true}),
		{"dan", "join", with("id", third), false},
		{"dan", "leave", with("id", third), false},

		// Notices.
		server("users/ana/notifications/dedupe:one", fields{"type": "SESSION_RESCHEDULED", "read": false, "dismissed": false}),
		{"ana", "unread", nil, false},
		{"ana", "noteReads", map[string]any{"ids": []any{"dedupe:one"}}, false},
		{"ana", "noteDismissed", map[string]any{"id": "dedupe:one"}, false},
		{"ana", "noteGone", map[string]any{"id": "dedupe:one"}, false},
		{
			"ana", "writes",
			map[string]any{
				"path": "users/ana/notifications/dedupe:two",
				"data": fields{"type": "SESSION_CANCELLED", "read": false, "dismissed": false},
			},
			true,
		},
		{
			"ana", "writes",
			map[string]any{
				"path": "users/gm/notifications/pollInvite:" + id,
				"data": fields{"type": "POLL_INVITE", "read": false, "dismissed": false},
			},
			true,
		},

		{"ana", "remove", with(), true},
		{"gm", "remove", with(), false},
		{"ana", "remove", with("id", other), false},
	}
	people := map[string]any{"server": map[string]any{"uid": "server", "token": owner}}
	for _, p := range []person{gm, ana, ben, cho, dan} {
		people[p.uid] = map[string]any{"uid": p.uid, "email": p.email, "token": p.token(c.project)}
	}
	unchecked := person{uid: cho.uid, email: cho.email, provider: "password", unverified: true}
	people["unchecked cho"] = map[string]any{"uid": cho.uid, "email": cho.email, "token": unchecked.token(c.project)}
	var codes []string
	webapp.Run(t, "rules.js", map[string]any{"project": c.project, "firestore": c.host, "people": people, "steps": steps}, &codes)
	for i, s := range steps {
		if want := map[bool]string{true: "permission-denied"}[s.no]; codes[i] != want {
			t.Errorf("step %d, %s %s %s: %q, want %q", i, s.Who, s.Does, fmt.Sprint(s.With), codes[i], want)
		}
	}
}
