package poll

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// ChannelLink says who gave a group its channel, for people to read.
type ChannelLink struct {
	Name, By string
	At       time.Time
}

func (l *ChannelLink) updates() []store.Update {
	if l == nil {
		return nil
	}
	return []store.Update{
		{Path: store.Field("discord", "channelName"), Value: store.NullIfEmpty(l.Name)},
		{Path: store.Field("discord", "linkedByUserId"), Value: l.By}, {Path: store.Field("discord", "linkedAt"), Value: l.At},
	}
}

// Move gives the group another channel, or none. The creator opened polls to the channel that was:
// where somebody else chooses another, members alone take part there.
func (g *Group) Move(guildID, channelID, by string) {
	if by != g.CreatorID && channelID != g.Discord.ChannelID {
		g.Discord.Join = ""
	}
	g.Discord.GuildID, g.Discord.ChannelID = guildID, channelID
}

// Admits reports whether the group (nil: none) has everybody take part in a poll of its own who sees
// the poll's card in a channel: its own channel, not a thread or another one of its guild.
func (g *Group) Admits(p Poll, guildID, channelID string) bool {
	return g != nil && g.ID == p.GroupID && g.Discord.Join == JoinChannel && g.InGuild(guildID) && g.Discord.ChannelID == channelID &&
		channelID != "" && p.Discord.MessageID != "" && p.Discord.ChannelID == channelID
}

// UnlinkUpdates are the fields of a group that loses its channel: those of the link alone.
func UnlinkUpdates() (updates []store.Update) {
	for _, name := range []string{"guildId", "channelId", "channelName", "linkedByUserId", "linkedAt"} {
		updates = append(updates, store.Update{Path: store.Field("discord", name), Value: store.Delete})
	}
	return updates
}

var groupsOfChannel = store.Select("groups of a channel", "questingGroups", "",
	store.Filter{Path: store.Field("discord", "channelId"), Op: store.Equal})

// mostOfChannel is how many groups of one channel are looked at. /quest link gives a channel to
// one; admins over REST, and the app's functions, may give it to more.
const mostOfChannel = 10

// GroupsOfChannel reads the groups that have a channel of Discord.
func GroupsOfChannel(ctx context.Context, reader store.Reader, channelID string) (groups []Group, err error) {
	docs, err := reader.Query(ctx, groupsOfChannel.With(channelID).First(mostOfChannel))
	for _, doc := range docs {
		groups = append(groups, DecodeGroup(doc))
	}
	return groups, err
}
