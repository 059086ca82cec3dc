package firestorerules_test

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/emulator"
)

// mergedRules gives a project that is held to what tools/merge-rules makes of firestore.rules
// and a file of the app's shape.
func mergedRules(t *testing.T) client {
	t.Helper()
	merge := exec.CommandContext(t.Context(), "go", "run", "./merge-rules", "-ours", "../firestore.rules", "merge-rules/testdata/app.rules")
	merge.Dir, merge.Stderr = filepath.Join(docs.Root(t), "tools"), os.Stderr
	text, err := merge.Output()
	if err != nil {
		t.Fatal(err)
	}
	host, project := emulator.Project(t)
	c := client{host, project}
	status, answer := c.do(t, http.MethodPut, "/emulator/v1/projects/"+project+":securityRules", owner,
		map[string]any{"rules": map[string]any{"files": []any{map[string]any{"name": "firestore.rules", "content": string(text)}}}})
	if status != http.StatusOK {
		t.Fatalf("the merged rules do not compile: %s", answer)
	}
	return c
}

// TestMergedRules_PartsOfTheApp_AreKept tests what the merging adds: who
// reads and votes in embedded polls, and who sets a group's channel.
func TestMergedRules_PartsOfTheApp_AreKept(t *testing.T) {
	t.Parallel()
	c := mergedRules(t)
	votes := attempt{
		as: ana, there: withPoll(nil),
		writes: []write{{path: "schedulers/POLL/basicPolls/one/votes/ana", data: fields{"optionIds": []any{"a"}}}},
	}
	asBen := both(as(ben), func(a *attempt) { a.writes[0].path = "schedulers/POLL/basicPolls/one/votes/ben" })
	asCho := both(as(cho), func(a *attempt) { a.writes[0].path = "schedulers/POLL/basicPolls/one/votes/cho" })
	here := fields{"guildId": "1", "channelId": "2", "notifyRoleId": "none"}
	group := func(discord any) attempt {
		a := attempt{
			as: person{uid: "eve", provider: "password"}, there: withPoll(nil),
			writes: []write{{path: "questingGroups/GROUP", named: true, data: fields{"discord": discord}}},
		}
		// A group of its own: equal groups share an id.
		a.there["questingGroups/GROUP"] = merged(a.there["questingGroups/GROUP"], fields{"discord": here, "of": "merged rules"})
		return a
	}
	inviting := group(here)
	inviting.there["questingGroups/GROUP"]["pendingMemberIds"] = []any{"dan", "fay"}
	inviting.writes[0].data = fields{"memberIds": []any{"eve"}}
	members := group(here)
	members.there["questingGroups/GROUP"]["memberIds"] = []any{"eve", "ana"}
	members.writes[0].data = fields{"memberIds": []any{"ana"}}
	invitee := func(change func(*attempt)) func(*attempt) { // the app's own rule lets an invitee add themselves
		return func(a *attempt) {
			a.as = person{uid: "fay", provider: "password"}
			a.there = maps.Clone(a.there) // the other attempts write to their group
			a.there["questingGroups/GROUP"] = merged(a.there["questingGroups/GROUP"], fields{"of": "one who adds themselves"})
			a.writes[0].data = fields{"memberIds": []any{"eve", "ana", "fay"}}
			if change != nil {
				change(a)
			}
		}
	}
	created := group(fields{"notifyRoleId": "everyone"})
	delete(created.there, "questingGroups/GROUP")
	created.writes = []write{{path: "questingGroups/GROUP-new", data: fields{"creatorId": "eve", "memberIds": []any{"eve"}}}}
	var all []*try
	for _, d := range []scenario{
		{
			name: "reading an embedded poll", attempt: attempt{as: ana, there: withPoll(nil), reads: "schedulers/POLL/basicPolls/one"},
			likewise: []variation{{"by a member", as(ben)}, {"by an invitee", as(cho)}},
			but:      append(unchecked(), variation{"by a stranger", as(dan)}, variation{"without signing in", as(nobody)}),
		},
		{
			name: "voting in an embedded poll", attempt: votes,
			likewise: []variation{{"by a member", asBen}, {"with one's own id", writing("voterId", "ana")}},
			but: []variation{
				{"in another's name", writing("voterId", "ben")}, {"in nobody's name", writing("voterId", nil)},
				{"by an invitee", asCho}, {"for another", as(ben)}, {"in no poll", func(a *attempt) { delete(a.there, pollPath) }}},
		},
		{
			name:    "whom a group notifies",
			attempt: group(fields{"guildId": "1", "channelId": "2", "notifyRoleId": "everyone", "notifications": fields{"slotChanges": false}}),
			likewise: []variation{{"of a group without a channel", func(a *attempt) {
				delete(a.there["questingGroups/GROUP"], "discord")
				a.writes[0].data["discord"] = fields{"notifyRoleId": "everyone"}
			}}},
			but: []variation{
				{"in another channel", writing("discord", merged(here, fields{"channelId": "3"}))},
				{"in another guild", writing("discord", merged(here, fields{"guildId": "3"}))},
				{"nowhere", writing("discord", gone)},
				{"with a field of nobody's", writing("discord", merged(here, fields{"webhook": "x"}))},
				{"of another's group", as(ben)},
			},
		},
		{
			name: "members of a group that invites people", attempt: inviting,
			likewise: []variation{
				{"with its invitations as they are", writing("pendingMemberIds", []any{"dan", "fay"})},
				{"with an invitation less", writing("pendingMemberIds", []any{"fay"})},
				{"with no invitation", writing("pendingMemberIds", []any{})},
				{"with no list of invitations", writing("pendingMemberIds", gone)},
			},
			but: []variation{
				{"with another one who is invited", writing("pendingMemberIds", []any{"dan", "fay", "cho"})},
				{"with another one in place of one", writing("pendingMemberIds", []any{"dan", "cho"})},
				{"with invitations that are no list", writing("pendingMemberIds", "dan")},
				{"by one who is invited", as(dan)},
				{"by one who is invited, of the invitation alone", func(a *attempt) {
					a.as = dan
					a.writes[0].data = fields{"pendingMemberIds": []any{}}
				}},
				{"by a stranger who invites themselves", func(a *attempt) {
					a.as = cho
					a.writes[0].data = fields{"pendingMemberIds": []any{"dan", "cho"}}
				}},
			},
		},
		{
			name: "members of a group, one removed", attempt: members,
			likewise: []variation{
				{"all", writing("memberIds", []any{})},
				{"and oneself again", writing("memberIds", []any{"eve"})},
				{"by one who adds themselves", invitee(nil)},
			},
			but: []variation{
				{"and another added", writing("memberIds", []any{"eve", "dan"})},
				{"with another creator", writing("creatorId", "ana")},
				{"by one who adds another, too", invitee(func(a *attempt) { a.writes[0].data["memberIds"] = []any{"eve", "ana", "fay", "cho"} })},
				{"by one who makes it theirs", invitee(func(a *attempt) { a.writes[0].data["creatorId"] = "fay" })},
				{"with members that are no list", writing("memberIds", "ana")},
			},
		},
		{
			name: "a new group", attempt: created,
			likewise: []variation{{"with whom it notifies", writing("discord", fields{"notifyRoleId": "none"})}},
			but: []variation{{"with a channel", writing("discord", here)},
				{"with people who are invited", writing("pendingMemberIds", []any{"dan"})},
				{"with another member", writing("memberIds", []any{"eve", "ana"})}, {"of another creator", writing("creatorId", "ana")}},
		},
	} {
		all = append(all, d.cases()...)
	}
	seed(t, c, all)
	for _, one := range all {
		one.check(t, c)
	}
}
