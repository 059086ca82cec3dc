package worldtest

import (
	"context"
	"slices"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
	"questscheduler/notify"
	"questscheduler/rules"
)

// The guild of every world that has a Discord, and its two channels.
const (
	Guild        = "700000000000000001"
	Channel      = "700000000000000002"
	OtherChannel = "700000000000000003"
)

// Permissions are what the bot may lack in a channel.
var Permissions = []discord.Permission{discord.ViewChannel, discord.SendMessages, discord.EmbedLinks, discord.ReadMessageHistory}

const (
	discordURL = "http://discord.sim"
	appURL     = "https://quests.example"
	// inAppChannel is the key of deliveries in the app, as announcements hold it.
	inAppChannel = "in-app"
	botToken     = "token-of-the-bot"
)

// channels are those of every world, also where it has no Discord: groups have
// channels there that nobody posts to.
type channels struct{}

// GuildOf implements scheduler.Channels.
func (channels) GuildOf(context.Context, string) (string, error) { return Guild, nil }

// openDiscord makes the simulator with its guild, where the world has one.
func (w *World) openDiscord() {
	w.t.Helper()
	if !w.options.Discord {
		return
	}
	server, err := discord.New(discord.Options{Clock: w.Clock, Token: botToken})
	w.must(err)
	w.must(server.AddGuild(Guild, "Party"))
	for _, id := range []string{Channel, OtherChannel} {
		w.must(server.AddChannel(discord.Channel{ID: id, GuildID: Guild}))
	}
	w.Discord = server
}

// discordClient calls the world's Discord; nil where there is none.
func (w *World) discordClient() notify.DiscordAPI {
	w.t.Helper()
	if w.Discord == nil {
		return nil
	}
	client, err := notify.NewDiscordClient(botToken, discordURL, control.Transport(w.Discord.Handler()))
	w.must(err)
	return &discordPort{client, &w.ports}
}

// discordPort is Discord as the program sees it.
type discordPort struct {
	client notify.DiscordAPI
	ports  *ports
}

func (d *discordPort) Post(
	ctx context.Context, channelID string, message notify.DiscordMessage, nonce string,
) (notify.DiscordMessage, error) {
	return within(d.ports, "discord.post", notify.CallTimeout, func() (notify.DiscordMessage, error) {
		return d.client.Post(ctx, channelID, message, nonce)
	})
}

func (d *discordPort) Edit(ctx context.Context, channelID, messageID string, message notify.DiscordMessage) error {
	_, err := within(d.ports, "discord.edit", notify.CallTimeout, func() (any, error) {
		return nil, d.client.Edit(ctx, channelID, messageID, message)
	})
	return err
}

func (d *discordPort) Recent(ctx context.Context, channelID string) ([]notify.DiscordMessage, error) {
	return within(d.ports, "discord.recent", notify.CallTimeout, func() ([]notify.DiscordMessage, error) {
		return d.client.Recent(ctx, channelID)
	})
}

// PlantDiscord has the next n calls of a method of Discord suffer a fault.
func (w *World) PlantDiscord(match string, set func(f *Fault)) {
	w.t.Helper()
	f := Fault{Match: match}
	set(&f)
	w.must(w.Discord.Control().Plant(f))
}

// OpenChannel gives or takes what the bot may do in a channel of Discord. A channel that was
// deleted never comes back with its messages there, so the program does not go back to the card
// of a session that does not take place: here it shows what it showed then.
func (w *World) OpenChannel(id string, gone bool, denied ...discord.Permission) {
	w.t.Helper()
	if w.past.channelsGone[id] && !gone {
		for _, p := range w.Polls() {
			if p.Discord.ChannelID == id && p.Status != rules.Open && p.Status != rules.Finalized {
				w.Silence()
			}
		}
	}
	w.past.channelsGone[id] = gone
	w.must(w.Discord.AddChannel(discord.Channel{ID: id, GuildID: Guild, Gone: gone, Denied: denied}))
	w.past.blind = w.past.blind || slices.Contains(denied, discord.ReadMessageHistory)
}

// HealDiscord ends all that was planted at Discord and opens its channels.
func (w *World) HealDiscord() {
	w.t.Helper()
	if w.Discord == nil {
		return
	}
	w.Discord.Control().Clear()
	for _, id := range []string{Channel, OtherChannel} {
		w.OpenChannel(id, false)
	}
}
