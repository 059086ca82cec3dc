package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// many are the ids of n people.
func many(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("person-%03d", i))
	}
	return ids
}

func TestUpdateGroup_InvitesAndRemovesThoseWhoDiffer(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for name, c := range map[string]struct {
		members, invited string // beside gm, who made the group
		ask              scheduler.EditGroup
		want, wantNow    string
		kind             fault.Kind // 0: it is done
	}{
		"another person":            {"ana", "ben", scheduler.EditGroup{Add: []string{"cho"}}, "gm ana", "ben cho", 0},
		"who is invited":            {"ana", "ben", scheduler.EditGroup{Add: []string{"ben"}}, "gm ana", "ben", 0},
		"who belongs to it":         {"ana", "ben", scheduler.EditGroup{Add: []string{"ana", "gm"}}, "gm ana", "ben", 0},
		"twice, and nobody":         {"ana", "ben", scheduler.EditGroup{Add: []string{"cho", "", "cho"}}, "gm ana", "ben cho", 0},
		"removed":                   {"ana dee", "ben", scheduler.EditGroup{Remove: []string{"ana"}}, "gm dee", "ben", 0},
		"whose invitation ends":     {"ana", "ben cho", scheduler.EditGroup{Remove: []string{"ben"}}, "gm ana", "cho", 0},
		"the creator stays":         {"ana", "ben", scheduler.EditGroup{Remove: []string{"gm"}}, "gm ana", "ben", 0},
		"one for another":           {"ana", "", scheduler.EditGroup{Add: []string{"cho"}, Remove: []string{"ana"}}, "gm", "cho", 0},
		"all who belong to it":      {"ana dee", "ben", scheduler.EditGroup{MemberIDs: []string{"dee", "cho"}}, "gm dee", "ben cho", 0},
		"nobody beside the creator": {"ana", "ben", scheduler.EditGroup{MemberIDs: []string{}}, "gm", "ben", 0},
		"all, and one more": {
			"ana", "ben", scheduler.EditGroup{MemberIDs: []string{"ana"}, Add: []string{"cho"}}, "gm ana", "ben", fault.Invalid,
		},
		"all, and one less": {
			"ana", "ben", scheduler.EditGroup{MemberIDs: []string{"ana"}, Remove: []string{"x"}}, "gm ana", "ben", fault.Invalid,
		},
		"one added and removed": {
			"ana", "ben", scheduler.EditGroup{Add: []string{"cho"}, Remove: []string{"cho"}}, "gm ana", "ben", fault.Invalid,
		},
		"by a name beyond any": {"ana", "ben", scheduler.EditGroup{Add: []string{strings.Repeat("x", 129)}}, "gm ana", "ben", fault.Invalid},
	} {
		id := strings.ReplaceAll(name, " ", "-")
		w.Write(poll.GroupPath(id), poll.Set("creatorId", "gm"), poll.Set("name", "Party"),
			poll.Set("memberIds", append([]string{"gm"}, strings.Fields(c.members)...)), poll.Set("pendingMemberIds", strings.Fields(c.invited)))
		_, err := w.Scheduler.UpdateGroup(t.Context(), gm, id, c.ask)
		equal(t, name+": refused as", fault.KindOf(err), c.kind)
		group := poll.DecodeGroup(w.Document(poll.GroupPath(id)))
		equal(t, name+": members", strings.Join(group.MemberIDs, " "), c.want)
		equal(t, name+": invited", strings.Join(group.PendingMemberIDs, " "), c.wantNow)
	}
}

// The bound is on those beside the creator, each of whom counts once.
func TestUpdateGroup_OfAsManyAsThereMayBe_AddsNobody(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	all := many(scheduler.MaxPeople)
	for name, c := range map[string]struct {
		members, invited []string
		ask              scheduler.EditGroup
		kind             fault.Kind
	}{
		"one more, of all who belong to it": {all, nil, scheduler.EditGroup{Add: []string{"one"}}, fault.Conflict},
		"one more, of all who are invited":  {nil, all, scheduler.EditGroup{Add: []string{"one"}}, fault.Conflict},
		"the last one":                      {all[:250], all[250:499], scheduler.EditGroup{Add: []string{"one"}}, 0},
		"the last one, by another order":    {all[250:499], all[:250], scheduler.EditGroup{Add: []string{"one"}}, 0},
		"some are listed twice":             {all[:300], all[200:499], scheduler.EditGroup{Add: []string{"one"}}, 0},
		"one for another":                   {all, nil, scheduler.EditGroup{Add: []string{"one"}, Remove: all[:1]}, 0},
		"one less":                          {append(many(600), "gm"), nil, scheduler.EditGroup{Remove: all[:1]}, 0},
	} {
		id := strings.ReplaceAll(name, " ", "-")
		w.Write(poll.GroupPath(id), poll.Set("creatorId", "gm"), poll.Set("name", "Party"),
			poll.Set("memberIds", append([]string{"gm"}, c.members...)), poll.Set("pendingMemberIds", c.invited))
		_, err := w.Scheduler.UpdateGroup(t.Context(), gm, id, c.ask)
		equal(t, name+": refused as", fault.KindOf(err), c.kind)
	}
}

func TestGroupInvitations_AreAnsweredByThoseWhoHaveOne(t *testing.T) {
	t.Parallel()
	type answer = func(w *worldtest.World, person, groupID string) error
	accept := func(w *worldtest.World, person, groupID string) error {
		_, err := w.Scheduler.AcceptGroup(w.Context(), worldtest.Person(person), groupID)
		return err
	}
	decline := func(w *worldtest.World, person, groupID string) error {
		return w.Scheduler.DeclineGroup(w.Context(), worldtest.Person(person), groupID)
	}
	leave := func(w *worldtest.World, person, groupID string) error {
		return w.Scheduler.LeaveGroup(w.Context(), worldtest.Person(person), groupID)
	}
	for name, c := range map[string]struct {
		do            answer
		who           string
		kind          fault.Kind
		want, invited string
	}{
		"accepted":                                {accept, "cho", 0, "gm ana ben cho", ""},
		"accepted by a member":                    {accept, "ana", 0, "gm ana ben", "cho"},
		"accepted by one who is both":             {accept, "ben", 0, "gm ana ben", "cho"},
		"declined":                                {decline, "cho", 0, "gm ana ben", ""},
		"declined by a member":                    {decline, "ana", fault.Conflict, "gm ana ben", "cho"},
		"left by a member":                        {leave, "ana", 0, "gm ben", "cho"},
		"left by one who is both":                 {leave, "ben", 0, "gm ana", "cho"},
		"left by one who is invited":              {leave, "cho", fault.Conflict, "gm ana ben", "cho"},
		"left by its creator":                     {leave, "gm", fault.Conflict, "gm ana ben", "cho"},
		"left by one who does not know of it":     {leave, "work", fault.NotFound, "gm ana ben", "cho"},
		"accepted by one who does not know of it": {accept, "work", fault.NotFound, "gm ana ben", "cho"},
	} {
		w := worldtest.New(t, worldtest.Options{})
		w.Write(poll.GroupPath("g"), poll.Set("creatorId", "gm"), poll.Set("name", "Party"),
			poll.Set("memberIds", []string{"gm", "ana", "ben"}), poll.Set("pendingMemberIds", []string{"cho"}))
		if strings.HasSuffix(name, "both") { // the web app listed whom the server had invited
			w.Write(poll.GroupPath("g"), poll.Set("pendingMemberIds", []string{"ben", "cho"}))
		}
		equal(t, name+": refused as", fault.KindOf(c.do(w, c.who, "g")), c.kind)
		group := poll.DecodeGroup(w.Document(poll.GroupPath("g")))
		equal(t, name+": members", strings.Join(group.MemberIDs, " "), c.want)
		equal(t, name+": invited", strings.Join(group.PendingMemberIDs, " "), c.invited)
	}
}

func TestCreateGroup_OfAsManyAsAPersonMayHave_IsRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Scheduler.GroupsPerPerson = 2
	name := "Party"
	create := func(person string) (poll.Group, error) {
		return w.Scheduler.CreateGroup(t.Context(), worldtest.Person(person), scheduler.EditGroup{Name: &name})
	}
	for range 2 {
		group, err := create("gm")
		if err != nil {
			t.Fatal(err)
		}
		document := w.Document(poll.GroupPath(group.ID))
		equal(t, "made by", poll.DecodeGroup(document).CreatorID, "gm")
		equal(t, "made at", document.Data["createdAt"], any(w.Clock.Now()))
	}
	_, err := create("gm")
	kind(t, err, fault.Conflict)
	equal(t, "code", fault.CodeOf(err), scheduler.CodeTooManyGroups)
	if _, err := create("ana"); err != nil {
		t.Errorf("somebody else's: %v", err)
	}
	_, err = w.Scheduler.CreateGroup(t.Context(), gm, scheduler.EditGroup{})
	kind(t, err, fault.Invalid)
}

// guilds is a Discord of one channel.
type guilds struct {
	guild string
	err   error
	asked int
}

func (g *guilds) GuildOf(context.Context, string) (string, error) {
	g.asked++
	return g.guild, g.err
}

// A group's place on Discord is one that the bot can see.
func TestGroupDiscord_IsCheckedWithDiscord(t *testing.T) {
	t.Parallel()
	place := poll.GroupDiscord{GuildID: worldtest.Guild, ChannelID: worldtest.Channel}
	refused := &fault.Error{Kind: fault.Provider, Code: "token_refused", Message: "It refuses the bot."}
	for name, c := range map[string]struct {
		discord *guilds // nil: there is none
		place   poll.GroupDiscord
		by      scheduler.Person
		kind    fault.Kind
		says    string // a part of the error
		asked   int
	}{
		"a channel of the guild":    {&guilds{guild: worldtest.Guild}, place, worldtest.Admin, 0, "", 1},
		"of another guild":          {&guilds{guild: "another"}, place, worldtest.Admin, fault.Invalid, "guild_id", 1},
		"a direct message":          {&guilds{}, place, worldtest.Admin, fault.Invalid, "guild_id", 1},
		"one that is not there":     {&guilds{err: fault.New(fault.NotFound, "gone")}, place, worldtest.Admin, fault.Invalid, "channel_id", 1},
		"one that it does not see":  {&guilds{err: fault.New(fault.Forbidden, "hidden")}, place, worldtest.Admin, fault.Invalid, "channel_id", 1},
		"which refuses the bot":     {&guilds{err: refused}, place, worldtest.Admin, fault.Conflict, "does not show", 1},
		"which does not answer":     {&guilds{err: fault.New(fault.Unavailable, "later")}, place, worldtest.Admin, fault.Unavailable, "later", 1},
		"where there is none":       {nil, place, worldtest.Admin, fault.Conflict, "QS_DISCORD_BOT_TOKEN", 0},
		"by somebody else":          {&guilds{guild: worldtest.Guild}, place, gm, fault.Forbidden, "run this server", 0},
		"a channel without a guild": {&guilds{}, poll.GroupDiscord{ChannelID: worldtest.Channel}, worldtest.Admin, fault.Invalid, "guild_id", 0},
		"a guild without a channel": {&guilds{}, poll.GroupDiscord{GuildID: worldtest.Guild}, worldtest.Admin, 0, "", 0},
		"a role's number":           {&guilds{}, poll.GroupDiscord{NotifyRoleID: worldtest.Channel}, worldtest.Admin, 0, "", 0},
		"everyone":                  {&guilds{}, poll.GroupDiscord{NotifyRoleID: poll.NotifyEveryone}, worldtest.Admin, 0, "", 0},
		"nobody":                    {&guilds{}, poll.GroupDiscord{NotifyRoleID: poll.NotifyNobody}, worldtest.Admin, 0, "", 0},
		"a role's name":             {&guilds{}, poll.GroupDiscord{NotifyRoleID: "players"}, worldtest.Admin, fault.Invalid, "notify_role_id", 0},
	} {
		w := worldtest.New(t, worldtest.Options{})
		w.Scheduler.Channels = nil
		if c.discord != nil {
			w.Scheduler.Channels = c.discord
		}
		w.Write(poll.GroupPath("g"), poll.Set("creatorId", "gm"), poll.Set("name", "Party"), poll.Set("memberIds", []string{"gm"}))
		_, err := w.Scheduler.UpdateGroup(t.Context(), c.by, "g", scheduler.EditGroup{Discord: &c.place})
		equal(t, name+": refused as", fault.KindOf(err), c.kind)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v does not say %q", name, err, c.says)
		}
		asked := 0
		if c.discord != nil {
			asked = c.discord.asked
			if c.discord.err != nil && !errors.Is(err, c.discord.err) {
				t.Errorf("%s: %v hides what Discord said", name, err)
			}
		}
		equal(t, name+": calls of Discord", asked, c.asked)
		group := poll.DecodeGroup(w.Document(poll.GroupPath("g")))
		equal(t, name+": what is written", group.Discord.ChannelID+group.Discord.GuildID+group.Discord.NotifyRoleID != "", c.kind == 0)
		if c.discord != nil && errors.Is(c.discord.err, refused) {
			equal(t, name+": code", fault.CodeOf(err), "token_refused")
		}
	}
}
