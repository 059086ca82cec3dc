package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
)

// errDiscordIsAdmins refuses a person who sets a group's place on Discord: the server cannot
// prove that they manage the guild.
func errDiscordIsAdmins() error {
	return fault.New(
		fault.Forbidden,
		"Only those who run this server may say where a group hears on Discord. Leave discord out, or ask them to set it.",
	)
}

// checkDiscord checks a group's place on Discord; nil is nothing. It asks Discord, so it is
// called before the transaction. Invalid where the bot does not see the channel in that guild,
// Conflict where there is no bot or Discord refuses it.
func (s *Service) checkDiscord(ctx context.Context, person Person, groupID string, discord *poll.GroupDiscord) error {
	switch {
	case discord == nil:
		return nil
	case !person.Admin:
		return errDiscordIsAdmins()
	}
	if err := checkDiscordIDs(*discord); err != nil || discord.ChannelID == "" {
		return err
	}
	if s.Channels == nil {
		return fault.New(fault.Conflict, "This server has no Discord bot. Set QS_DISCORD_BOT_TOKEN before a group is given a channel.")
	}
	guild, err := s.Channels.GuildOf(ctx, discord.ChannelID)
	switch {
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden):
		refused := fault.Field(
			"discord.channel_id", "must be a channel that the bot can see: check the number, and invite the bot to the channel",
		)
		refused.Err = err
		return refused
	case fault.Is(err, fault.Provider):
		s.Log.WarnContext(ctx, "discord refused to show a channel", "group", groupID, "channel", discord.ChannelID,
			"user_id", person.ID, "code", fault.CodeOf(err), "error", err)
		return &fault.Error{
			Kind: fault.Conflict, Code: fault.CodeOf(err), Err: err,
			Message: "Discord does not show the channel to the bot. Check the channel's number; questscheduler doctor checks the bot's token.",
		}
	case err != nil:
		return err
	case guild != discord.GuildID:
		return fault.Field("discord.channel_id", "must be a channel of the guild that guild_id names")
	}
	return nil
}

func checkDiscordIDs(wanted poll.GroupDiscord) error {
	for _, id := range []string{wanted.GuildID, wanted.ChannelID} {
		if id != "" && !discord.IsSnowflake(id) {
			return fault.Field("discord", "must name guild and channel by their numbers, as Discord's \"Copy ID\" gives them")
		}
	}
	if wanted.ChannelID != "" && wanted.GuildID == "" {
		return fault.Field("discord.guild_id", "must be given beside channel_id")
	}
	role := wanted.NotifyRoleID
	if role != "" && role != poll.NotifyEveryone && role != poll.NotifyNobody && !discord.IsSnowflake(role) {
		return fault.Field("discord.notify_role_id", "must be everyone, none or a role's number")
	}
	return nil
}
