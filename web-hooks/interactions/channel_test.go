package interactions_test

import (
	"strings"
	"testing"

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
		"of no group": {func(d *desk) map[string]any { return d.quest("link", manages, nil) }, "either group"},
		"of two": {func(d *desk) map[string]any {
			return d.quest("link", manages, map[string]string{"group": "a", "new": "b"})
		}, "either group"},
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
