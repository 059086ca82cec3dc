package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// channels are the channels of Discord that the bot sees, with their guilds.
type channels struct {
	guilds map[string]string
	err    error
	asked  int
}

// GuildOf implements scheduler.Channels.
func (c *channels) GuildOf(_ context.Context, channelID string) (string, error) {
	c.asked++
	if c.err != nil {
		return "", c.err
	}
	guild, known := c.guilds[channelID]
	if !known {
		return "", fault.New(fault.NotFound, "The Discord channel is gone.")
	}
	return guild, nil
}

// here is where the bot sees a channel.
var here = map[string]any{"guild_id": "1", "channel_id": "22", "notify_role_id": "everyone"}

func TestGroupDiscord_SetByAPerson_IsForbidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	before := w.store.writes.Load()
	for _, row := range []struct {
		c      call
		status int
	}{
		{call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "Raid", "discord": here}}, 403},
		{call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": here}}, 403},
		{call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": map[string]any{}}}, 403},
		{call{as: "ana", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": here}}, 403},
		{call{as: "eve", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": here}}, 404},
	} {
		w.want(row.status, row.c, nil)
	}
	if w.store.writes.Load() != before || w.channels.asked != 0 {
		t.Errorf("%d writes, %d calls to Discord", w.store.writes.Load()-before, w.channels.asked)
	}
}

func TestGroupDiscord_SetByAnAdmin_IsChecked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		discord map[string]any
		err     error
		status  int
		field   string
	}{
		{"a channel of its guild", here, nil, 200, ""},
		{"a channel of another guild", with(here, "guild_id", "3"), nil, 400, "discord.channel_id"},
		{"a channel that the bot does not see", with(here, "channel_id", "4"), nil, 400, "discord.channel_id"},
		{"a channel without its guild", with(here, "guild_id", ""), nil, 400, "discord.guild_id"},
		{"no channel", map[string]any{"notify_role_id": "none"}, nil, 200, ""},
		{
			"a channel that the bot may not see", here, fault.New(fault.Forbidden, "The bot cannot see the Discord channel."), 400,
			"discord.channel_id",
		},
		{"a bot that Discord refuses", here, fault.New(fault.Provider, "Discord does not accept the bot's token."), 409, ""},
		{"no answer of Discord", here, fault.New(fault.Unavailable, "Discord did not answer."), 503, ""},
		{"too many calls", here, fault.New(fault.RateLimited, "Discord asks to wait."), 429, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			group := w.newGroup()
			w.channels.err = row.err
			before := w.store.writes.Load()
			for _, c := range []call{
				{as: "admin", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": row.discord}},
				{as: "admin", method: "POST", path: "/v1/groups", body: map[string]any{"name": "Raid", "discord": row.discord}},
			} {
				want := row.status
				if want == 200 && c.method == "POST" {
					want = http.StatusCreated
				}
				got := w.want(want, c, nil)
				if row.field != "" {
					wantField(t, got, row.field)
				}
				if want >= 400 && w.store.writes.Load() != before {
					t.Error("something was written")
				}
			}
		})
	}
}

func TestGroupDiscord_OfNoGroup_AsksNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(404, call{as: "admin", method: "PATCH", path: "/v1/groups/none", body: map[string]any{"discord": here}}, nil)
	if w.channels.asked != 0 {
		t.Errorf("Discord was asked %d times", w.channels.asked)
	}
}

func TestGroupDiscord_Refused_IsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	w.channels.err = &fault.Error{
		Kind: fault.Provider, Code: "bot_token_refused", Message: "Discord does not accept the bot's token.",
		Err: errors.New("discord: status 401, code 0"),
	}
	w.want(409, call{as: "admin", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": here}}, nil)
	for line := range strings.Lines(w.log.String()) {
		if !strings.Contains(line, `"msg":"discord refused to show a channel"`) {
			continue
		}
		for _, part := range []string{
			`"level":"WARN"`, `"group":"` + group + `"`, `"channel":"22"`, `"code":"bot_token_refused"`, "status 401, code 0",
		} {
			if !strings.Contains(line, part) {
				t.Errorf("the line lacks %s: %s", part, line)
			}
		}
		return
	}
	t.Error("nothing is logged")
}

func TestGroupDiscord_WithoutABot_TakesNoChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Scheduler.Channels = nil
	got := w.want(409, call{as: "admin", method: "POST", path: "/v1/groups", body: map[string]any{"name": "Raid", "discord": here}}, nil)
	if !strings.Contains(got.Error.Message, "QS_DISCORD_BOT_TOKEN") {
		t.Errorf("answered %s", got.text)
	}
}

func TestGroupDiscord_LeftOut_StaysAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	w.want(
		200,
		call{
			as: "admin", method: "PATCH", path: "/v1/groups/" + group,
			body: map[string]any{"discord": with(here, "notifications", map[string]bool{"voteSubmitted": true})},
		},
		nil,
	)
	w.patchGroup(group, map[string]any{"name": "The others"})
	read, err := poll.LoadGroup(t.Context(), w.store, group)
	must(t, err)
	if read.Name != "The others" || read.Discord.ChannelID != "22" || read.Discord.GuildID != "1" ||
		!read.Discord.Notifications["voteSubmitted"] {
		t.Errorf("the group is %+v", read)
	}
}

// The card is pending, though nobody writes the poll; what draws cards finds it.
func TestGroupDiscord_GivenAChannel_HasItsOpenPollsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	made := w.newPoll(map[string]any{"group_id": group})
	path := poll.AnnouncementPath(made.ID)
	for _, step := range []struct {
		discord map[string]any
		shown   bool
	}{{map[string]any{}, false}, {here, true}, {map[string]any{"notify_role_id": "none"}, false}} {
		w.carryOutGroupWork()
		w.elsewhere(func(tx store.Tx) error { return tx.Merge(path, poll.CardDoneUpdates()...) })
		w.want(200, call{as: "admin", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": step.discord}}, nil)
		w.carryOutGroupWork()
		announcement, err := poll.LoadAnnouncement(t.Context(), w.store, made.ID)
		must(t, err)
		if announcement.CardPending() != step.shown {
			t.Errorf("with %v the poll's card is pending: %t", step.discord, announcement.CardPending())
		}
	}
}
