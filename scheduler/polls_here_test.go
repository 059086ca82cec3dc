package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// The groups that have a channel, or in a channel that none has, the person's groups of its guild,
// have their polls listed, as far as these concern the person.
func TestPollsHere_AreThoseOfTheChannel_OrOfThePersonsGroups(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	party, name := w.Party(), "Second"
	second, err := w.Scheduler.CreateGroup(t.Context(), gm, scheduler.EditGroup{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := w.Scheduler.CreateGroup(t.Context(), gm, scheduler.EditGroup{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	guildOf := func(groupID, guild, channel string) {
		w.Write(poll.GroupPath(groupID), store.Update{Path: store.Field("discord", "guildId"), Value: guild},
			store.Update{Path: store.Field("discord", "channelId"), Value: channel})
	}
	guildOf(second.ID, worldtest.Guild, "")
	guildOf(foreign.ID, "another", "its own")
	// Channels are numbered in all of Discord, and any client can write one into a group.
	w.Write(poll.GroupPath("pretender"), poll.Set("creatorId", "gm"))
	guildOf("pretender", "another", worldtest.Channel)
	titles := map[string]string{}
	create := func(title, groupID string, people ...string) {
		pollID, _ := w.PollOf("gm", scheduler.Create{Title: title, GroupID: groupID, ParticipantIDs: append(people, "gm")})
		titles[pollID] = title
		w.Skip(time.Minute)
	}
	create("party", party)
	create("second", second.ID)
	create("party with cho", party, "cho")
	create("foreign", foreign.ID)
	w.Write(poll.Path("pretended"), poll.Set("groupId", "pretender"), poll.Set("creatorId", "gm"), poll.Set("createdAt", w.Clock.Now()))
	thread := scheduler.Place{GuildID: worldtest.Guild, ChannelID: "thread", ParentID: worldtest.Channel}
	for _, c := range []struct {
		what, who string
		at        scheduler.Place
		want      string // newest first
	}{
		{"in the channel", "gm", here, "party with cho, party"},
		{"in the channel, of a member", "ana", here, "party with cho, party"},
		{"in the channel, of one who takes part in one", "cho", here, "party with cho"},
		{"in the channel, of nobody", "", here, ""},
		{"in a thread of the channel", "gm", thread, "party with cho, party"},
		{"in another channel of the guild", "gm", there, "party with cho, second, party"},
		{"in another channel, of a member of one group", "ana", there, "party with cho, party"},
		{"in another channel, of a member of none", "cho", there, ""},
		{"in a guild without a group", "gm", scheduler.Place{GuildID: "empty", ChannelID: "1"}, ""},
		{"in the channel of that number in another guild", "ana", scheduler.Place{GuildID: "third", ChannelID: worldtest.Channel}, ""},
		{"in another guild", "gm", scheduler.Place{GuildID: "another", ChannelID: "its own"}, "foreign"},
	} {
		found, err := w.Scheduler.PollsHere(t.Context(), scheduler.Person{ID: c.who}, c.at)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range found {
			got = append(got, titles[p.ID])
		}
		equal(t, c.what, strings.Join(got, ", "), c.want)
	}
}
