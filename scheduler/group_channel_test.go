package scheduler_test

import (
	"context"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// there is the guild's other channel, which is of nobody's group.
var there = scheduler.Place{GuildID: worldtest.Guild, ChannelID: worldtest.OtherChannel, Name: "#general"}

// byCode links a channel by a code of a person's.
func byCode(w *worldtest.World, person, groupID string, at scheduler.Place) (poll.Group, error) {
	return w.Scheduler.LinkChannelByCode(w.Context(), func(
		ctx context.Context, link func(ctx context.Context, tx store.Tx, of discord.GroupCode) error,
	) error {
		return w.Documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			return link(ctx, tx, discord.GroupCode{UID: person, GroupID: groupID})
		})
	}, at)
}

func TestLinkChannel_IsTheCreatorsAlone_ByACodeItsManagers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		who     string
		managed bool // members manage the group
		at      scheduler.Place
		link    fault.Kind // 0: it is linked
		code    fault.Kind
	}{
		"the creator":                       {"gm", false, there, 0, 0},
		"the creator, the same once more":   {"gm", false, here, 0, 0},
		"a member":                          {"ana", false, there, fault.Forbidden, fault.Forbidden},
		"a member who manages it":           {"ana", true, there, fault.Forbidden, 0},
		"somebody else":                     {"cho", true, there, fault.NotFound, fault.NotFound},
		"the creator, a channel of another": {"gm", false, scheduler.Place{GuildID: "1", ChannelID: "77"}, fault.Conflict, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			groupID, join := w.Party(), poll.JoinChannel
			if _, err := w.Scheduler.UpdateGroup(t.Context(), gm, groupID, scheduler.EditGroup{Join: &join}); err != nil {
				t.Fatal(err)
			}
			path := poll.GroupPath(groupID)
			w.Write(path, poll.Set("memberManaged", c.managed), store.Update{Path: store.Field("discord", "notifyRoleId"), Value: "none"})
			w.Write(poll.GroupPath("others"), store.Update{Path: store.Field("discord", "channelId"), Value: "77"})
			for _, step := range []struct {
				name string
				do   func() (poll.Group, error)
				kind fault.Kind
				join string // after another channel was chosen
			}{
				{"by a code", func() (poll.Group, error) { return byCode(w, c.who, groupID, c.at) }, c.code, ""},
				{"as itself", func() (poll.Group, error) {
					return w.Scheduler.LinkChannel(t.Context(), worldtest.Person(c.who), groupID, c.at)
				}, c.link, poll.JoinChannel},
			} {
				w.Write(path, store.Update{Path: store.Field("discord", "channelId"), Value: here.ChannelID},
					store.Update{Path: store.Field("discord", "join"), Value: poll.JoinChannel})
				before := w.Document(path)
				group, err := step.do()
				equal(t, step.name+": refused as", fault.KindOf(err), step.kind)
				if step.kind != 0 {
					equal(t, "channel", store.Fields(w.Document(path).Data).Map("discord").String("channelId"), here.ChannelID)
					continue
				}
				equal(t, "channel that is answered", group.Discord.ChannelID, c.at.ChannelID)
				now := store.Fields(w.Document(path).Data).Map("discord")
				equal(t, "channel", now.String("guildId")+"/"+now.String("channelId")+" "+now.String("channelName"),
					c.at.GuildID+"/"+c.at.ChannelID+" "+c.at.Name)
				equal(t, "by", now.String("linkedByUserId"), c.who)
				equal(t, "at", now.Time("linkedAt"), w.Clock.Now())
				equal(t, "role", now.String("notifyRoleId"), "none")
				equal(t, "name", store.Fields(w.Document(path).Data).String("name"), store.Fields(before.Data).String("name"))
				want := step.join
				if c.at == here {
					want = poll.JoinChannel
				}
				equal(t, step.name+": who takes part from there", now.String("join"), want)
			}
		})
	}
}

func TestManagedGroup_IsForThoseWhoManageIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	groupID := w.Party()
	for _, managed := range []bool{false, true} {
		w.Write(poll.GroupPath(groupID), poll.Set("memberManaged", managed))
		for who, want := range map[string]fault.Kind{
			"gm": 0, "ana": map[bool]fault.Kind{false: fault.Forbidden}[managed], "cho": fault.NotFound,
		} {
			group, err := w.Scheduler.ManagedGroup(t.Context(), worldtest.Person(who), groupID)
			if fault.KindOf(err) != want {
				t.Errorf("%s, members manage it %t: %v, want %v", who, managed, err, want)
			}
			if want == 0 {
				equal(t, "group", group.ID, groupID)
			}
		}
	}
}

// A channel is its managers': they take it from the group that has it, in their own guild.
func TestUnlinkChannel_TakesItFromAllGroupsOfTheGuild(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	field := func(name string, value any) store.Update {
		return store.Update{Path: store.Field("discord", name), Value: value}
	}
	for id, guild := range map[string]string{"a": "guild", "b": "another", "c": "guild", "d": "guild"} {
		channel := map[bool]string{true: "other", false: "channel"}[id == "d"]
		w.Write(poll.GroupPath(id), field("guildId", guild), field("channelId", channel), field("channelName", "#general"),
			field("linkedByUserId", "gm"), field("notifyRoleId", "everyone"))
	}
	for _, want := range []int{2, 0} { // the second changes nothing
		unlinked, err := w.Scheduler.UnlinkChannel(t.Context(), scheduler.Place{GuildID: "guild", ChannelID: "channel"})
		if err != nil || unlinked != want {
			t.Errorf("unlinked %d, %v, want %d", unlinked, err, want)
		}
	}
	for id, want := range map[string]string{"a": "", "b": "another/channel gm", "c": "", "d": "guild/other gm"} {
		left := store.Fields(w.Document(poll.GroupPath(id)).Data).Map("discord")
		got := left.String("guildId") + "/" + left.String("channelId") + " " + left.String("linkedByUserId")
		if want == "" {
			want = "/ "
		}
		equal(t, "group "+id, got, want)
		equal(t, "role of group "+id, left.String("notifyRoleId"), "everyone")
	}
}
