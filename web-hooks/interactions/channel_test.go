package interactions_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

const otherChannel = "4400000000000000009"

// quest is a subcommand in the other channel, by the creator of the party, with permissions.
func (d *desk) quest(name, permissions string, given map[string]string) map[string]any {
	var options []any
	for option, value := range given {
		options = append(options, map[string]any{"name": option, "type": 3, "value": value})
	}
	return d.press(2, map[string]any{"name": "quest", "options": []any{map[string]any{"name": name, "type": 1, "options": options}}},
		func(in map[string]any) {
			in["channel_id"], in["app_permissions"] = otherChannel, "84992" // all that the bot needs
			in["channel"] = map[string]any{"name": "tavern"}
			in["member"] = map[string]any{"user": map[string]any{"id": gmUser}, "permissions": permissions}
		})
}

const manages = "16"

// channelOf is the channel of the party, by its document.
func (d *desk) discordOf(groupID string) store.Fields {
	d.t.Helper()
	doc, err := d.world.Documents.Get(d.t.Context(), poll.GroupPath(groupID))
	if err != nil {
		d.t.Fatal(err)
	}
	return store.Fields(doc.Data).Map("discord")
}

func TestQuestLink_GivesTheChannelToAGroup_AndKeepsTheRest(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	group := d.world.View(d.poll).Poll.GroupID
	d.world.Edit(poll.GroupPath(group), store.Update{Path: store.Field("discord", "notifyRoleId"), Value: "none"},
		store.Update{Path: store.Field("discord", "lastPoster"), Value: "the app"})
	for range 2 { // an interaction may come again
		if said := d.says(d.quest("link", manages, map[string]string{"group": "the PARTY"})); said != "The polls of **The party** are shown here from now on." {
			t.Fatalf("said %q", said)
		}
	}
	f := d.discordOf(group)
	for name, want := range map[string]string{
		"guildId": worldtest.Guild, "channelId": otherChannel, "channelName": "tavern", "linkedByUserId": "gm", "notifyRoleId": "none", "lastPoster": "the app",
	} {
		if f.String(name) != want {
			t.Errorf("discord.%s is %q, want %q", name, f.String(name), want)
		}
	}
	if said := d.says(d.quest("unlink", manages, nil)); !strings.Contains(said, "no group any more") {
		t.Errorf("unlinking said %q", said)
	}
	f = d.discordOf(group)
	if f.String("channelId") != "" || f.String("guildId") != "" || f.String("notifyRoleId") != "none" {
		t.Errorf("after unlinking: %v", f)
	}
	if said := d.says(d.quest("unlink", manages, nil)); !strings.Contains(said, "No group") {
		t.Errorf("unlinking again said %q", said)
	}
}

func TestQuestLink_OfANewGroup_MakesOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	lacking := d.quest("link", manages, map[string]string{"new": "The Tavern"})
	lacking["app_permissions"] = "3072"
	for range 2 {
		if said := d.says(lacking); !strings.Contains(said, "The Tavern") || !strings.Contains(said, "Embed Links, Read Message History") {
			t.Fatalf("said %q", said)
		}
	}
	made, err := poll.GroupsOfChannel(t.Context(), d.world.Documents, otherChannel)
	if err != nil || len(made) != 1 || made[0].CreatorID != "gm" || made[0].Name != "The Tavern" {
		t.Errorf("made are %+v: %v", made, err)
	}
}

// Each row is refused, and gives nobody the channel.
func TestQuestLink_Refused_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		in   func(d *desk) map[string]any
		says string
	}{
		"by who does not manage it": {func(d *desk) map[string]any { return d.quest("link", "8192", map[string]string{"group": "The party"}) }, "may manage"},
		"unlinking, by such":        {func(d *desk) map[string]any { return d.quest("unlink", "0", nil) }, "may manage"},
		"outside of guilds": {func(d *desk) map[string]any {
			in := d.quest("link", manages, map[string]string{"group": "The party"})
			delete(in, "guild_id")
			return in
		}, "may manage"},
		"of somebody else's group": {func(d *desk) map[string]any {
			in := d.quest("link", manages, map[string]string{"group": "The party"})
			in["member"] = map[string]any{"user": map[string]any{"id": anaUser}, "permissions": manages}
			return in
		}, "You created no group"},
		"of no group": {func(d *desk) map[string]any { return d.quest("link", manages, nil) }, "Give one of these"},
		"of two": {func(d *desk) map[string]any {
			return d.quest("link", manages, map[string]string{"group": "a", "new": "b"})
		}, "Give one of these"},
		"of a channel that another group has": {func(d *desk) map[string]any {
			name := "The others"
			if _, err := d.world.Scheduler.CreateGroup(d.t.Context(), worldtest.Person("gm"), scheduler.EditGroup{Name: &name}); err != nil {
				d.t.Fatal(err)
			}
			in := d.quest("link", manages, map[string]string{"group": name})
			in["channel_id"] = worldtest.Channel
			return in
		}, "Another group has this channel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			if said := d.says(row.in(d)); !strings.Contains(said, row.says) {
				t.Errorf("said %q, want %q", said, row.says)
			}
			group := d.world.View(d.poll).Poll.GroupID
			if f := d.discordOf(group); f.String("channelId") != worldtest.Channel {
				t.Errorf("the party has channel %s", f.String("channelId"))
			}
			if other, err := poll.GroupsOfChannel(t.Context(), d.world.Documents, otherChannel); err != nil || len(other) > 0 {
				t.Errorf("the channel has %+v: %v", other, err)
			}
		})
	}
}

// command is a command of the web app in the other channel, by somebody who is linked to nobody.
func (d *desk) appCommand(name, permissions, code string) map[string]any {
	data := map[string]any{"name": name, "options": []any{map[string]any{"name": "code", "type": 3, "value": code}}}
	return d.press(2, data, func(in map[string]any) {
		in["channel_id"], in["app_permissions"] = otherChannel, "84992"
		in["channel"] = map[string]any{"name": "tavern"}
		in["member"] = map[string]any{"user": map[string]any{"id": "3300000000000000077"}, "permissions": permissions}
	})
}

// codeOf is a code of the party that a person made.
func (d *desk) codeOf(uid string) string {
	d.t.Helper()
	code, _, err := d.options.Links.IssueForGroup(d.t.Context(), discord.GroupCode{UID: uid, GroupID: d.world.View(d.poll).Poll.GroupID})
	if err != nil {
		d.t.Fatal(err)
	}
	return code
}

// The one who manages the channel need not be linked: the code proves who gave it.
func TestLinkGroup_ByACode_GivesTheChannel_Once(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]func(d *desk, code string) map[string]any{
		"/link-group": func(d *desk, code string) map[string]any {
			return d.appCommand("link-group", manages, strings.ToLower(code))
		},
		"/quest link": func(d *desk, code string) map[string]any {
			return d.quest("link", manages, map[string]string{"code": code})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			group, code := d.world.View(d.poll).Poll.GroupID, d.codeOf("gm")
			d.world.Edit(poll.GroupPath(group), store.Update{Path: store.Field("discord", "notifyRoleId"), Value: "none"})
			in := command(d, code)
			if said := d.says(in); said != "The polls of **The party** are shown here from now on." {
				t.Fatalf("said %q", said)
			}
			f := d.discordOf(group)
			for name, want := range map[string]string{
				"guildId": worldtest.Guild, "channelId": otherChannel, "channelName": "tavern", "linkedByUserId": "gm", "notifyRoleId": "none",
			} {
				if f.String(name) != want {
					t.Errorf("discord.%s is %q, want %q", name, f.String(name), want)
				}
			}
			if said := d.says(in); said != "Done already." {
				t.Errorf("the repeat was told %q", said)
			}
			if said := d.says(command(d, code)); said != "The polls of **The party** are shown here from now on." {
				t.Errorf("a second use was told %q", said)
			}
			elsewhere := command(d, code)
			elsewhere["channel_id"] = "4400000000000000077"
			if said := d.says(elsewhere); !strings.Contains(said, "no such code") {
				t.Errorf("a use in another channel was told %q", said)
			}
			if said := d.says(d.appCommand("unlink-group", manages, "")); !strings.Contains(said, "no group any more") {
				t.Errorf("unlinking said %q", said)
			}
			if f := d.discordOf(group); f.String("channelId") != "" || f.String("notifyRoleId") != "none" {
				t.Errorf("after unlinking: %v", f)
			}
		})
	}
}

// Each row is refused, and leaves the party its channel.
func TestLinkGroup_Refused_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		maker       string // of the code; "" for none
		permissions string
		before      func(d *desk)
		says        string
	}{
		"by who does not manage the channel":           {"gm", "8192", nil, "may manage"},
		"without a code":                               {"", manages, nil, "no such code"},
		"of a member, where the creator alone manages": {"ana", manages, nil, "Only who manages"},
		"of somebody who left": {"ana", manages, func(d *desk) {
			group := poll.GroupPath(d.world.View(d.poll).Poll.GroupID)
			d.world.Edit(group, store.Set("memberManaged", true), store.Set("memberIds", []any{"gm", "ben"}))
		}, "no such group"},
		"of a channel that another group has": {"gm", manages, func(d *desk) {
			name := "The others"
			other, err := d.world.Scheduler.CreateGroup(d.t.Context(), worldtest.Person("gm"), scheduler.EditGroup{Name: &name})
			if err != nil {
				d.t.Fatal(err)
			}
			at := map[string]any{"guildId": worldtest.Guild, "channelId": otherChannel}
			d.write(poll.GroupPath(other.ID), store.Set("discord", at))
		}, "Another group has this channel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			group := d.world.View(d.poll).Poll.GroupID
			code := ""
			if row.maker != "" {
				code = d.codeOf(row.maker)
			}
			if row.before != nil {
				row.before(d)
			}
			if said := d.says(d.appCommand("link-group", row.permissions, code)); !strings.Contains(said, row.says) {
				t.Errorf("said %q, want %q", said, row.says)
			}
			if f := d.discordOf(group); f.String("channelId") != worldtest.Channel {
				t.Errorf("the party has channel %s", f.String("channelId"))
			}
			if row.maker == "" {
				return
			}
			// What was refused used nothing up.
			kept, err := d.world.Documents.Get(t.Context(), store.Doc("discordLinkCodes", fmt.Sprintf("%x", sha256.Sum256([]byte(code)))))
			if err != nil || !kept.Exists() {
				t.Errorf("the code is gone: %v", err)
			}
		})
	}
	d := newDesk(t, nil)
	if said := d.says(d.appCommand("unlink-group", "8192", "")); !strings.Contains(said, "may manage") {
		t.Errorf("unlinking said %q", said)
	}
}

func TestLinkGroup_ByAMembersCode_WhereMembersManage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	group := d.world.View(d.poll).Poll.GroupID
	d.world.Edit(poll.GroupPath(group), store.Set("memberManaged", true))
	if said := d.says(d.appCommand("link-group", manages, d.codeOf("ana"))); !strings.Contains(said, "are shown here") {
		t.Errorf("said %q", said)
	}
	if f := d.discordOf(group); f.String("channelId") != otherChannel || f.String("linkedByUserId") != "ana" {
		t.Errorf("the party has %v", f)
	}
}

// What the answer promises, though nobody writes the poll: its card, with the button, in the channel.
func TestLinking_ShowsTheGroupsOpenPollInTheChannel(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(d *desk) map[string]any{
		"/quest link, by its creator": func(d *desk) map[string]any {
			return d.quest("link", manages, map[string]string{"group": "The party"})
		},
		"/quest link, by a code": func(d *desk) map[string]any {
			return d.quest("link", manages, map[string]string{"code": d.codeOf("gm")})
		},
		"/link-group": func(d *desk) map[string]any { return d.appCommand("link-group", manages, d.codeOf("gm")) },
	} {
		for _, before := range []string{"", worldtest.Channel} {
			t.Run(fmt.Sprintf("%s, before it %q", name, before), func(t *testing.T) {
				t.Parallel()
				d := newDeskOver(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}}, nil)
				at := scheduler.Place{GuildID: worldtest.Guild, ChannelID: worldtest.Channel}
				if before == "" {
					if _, err := d.world.Scheduler.UnlinkChannel(t.Context(), at); err != nil {
						t.Fatal(err)
					}
				}
				d.after(time.Hour)
				in := link(d)
				in["channel_id"] = worldtest.OtherChannel
				for _, want := range []string{"The polls of **The party** are shown here from now on.", ""} {
					if said := d.says(in); want != "" && said != want {
						t.Fatalf("said %q", said)
					}
					d.world.RunDue()
					shown := d.world.Discord.Messages(worldtest.OtherChannel)
					if len(shown) != 1 || !strings.Contains(string(shown[0].Components[0]), "vote_btn:"+d.poll) {
						t.Errorf("the channel shows %+v", shown)
					}
				}
			})
		}
	}
}
