package poll

import (
	"context"
	"slices"

	"questscheduler/store"
)

// Group is a document of questingGroups: people who play together, and the
// Discord channel where they hear of it.
type Group struct {
	ID        string
	Name      string
	CreatorID string
	MemberIDs []string
	Discord   GroupDiscord
}

// GroupDiscord is where and how a group hears on Discord.
type GroupDiscord struct {
	GuildID   string
	ChannelID string
	// NotifyRoleID is everyone, none or a role's id; absent means everyone.
	NotifyRoleID string
	// Notifications hold the group's wishes by name, as the web app keeps them.
	Notifications map[string]bool
}

// The notify roles that are no role's id.
const (
	NotifyEveryone = "everyone"
	NotifyNobody   = "none"
)

// GroupPath is where a group's document stands.
func GroupPath(id string) store.Path { return store.Doc("questingGroups", id) }

// LoadGroup reads a group; nil where there is none, or id is "".
func LoadGroup(ctx context.Context, reader store.Reader, id string) (*Group, error) {
	if id == "" {
		return nil, nil
	}
	doc, err := reader.Get(ctx, GroupPath(id))
	if err != nil || !doc.Exists() {
		return nil, err
	}
	group := DecodeGroup(doc)
	return &group, nil
}

// DecodeGroup reads a group's document.
func DecodeGroup(doc store.Document) Group {
	f := store.Fields(doc.Data)
	discord := f.Map("discord")
	group := Group{
		ID: doc.Path.ID(), Name: f.String("name"), CreatorID: f.String("creatorId"),
		MemberIDs: f.Strings("memberIds"),
		Discord: GroupDiscord{
			GuildID: discord.String("guildId"), ChannelID: discord.String("channelId"),
			NotifyRoleID: discord.String("notifyRoleId"), Notifications: map[string]bool{},
		},
	}
	wishes := discord.Map("notifications")
	for name := range wishes {
		group.Discord.Notifications[name] = wishes.Bool(name)
	}
	return group
}

// GroupUpdates gives the fields of a group that people set.
func GroupUpdates(g Group) []store.Update {
	wishes := make(map[string]any, len(g.Discord.Notifications))
	for name, on := range g.Discord.Notifications {
		wishes[name] = on
	}
	return []store.Update{
		Set("name", g.Name), Set("memberIds", listOf(g.MemberIDs)),
		{Path: store.Field("discord", "guildId"), Value: store.NullIfEmpty(g.Discord.GuildID)},
		{Path: store.Field("discord", "channelId"), Value: store.NullIfEmpty(g.Discord.ChannelID)},
		{Path: store.Field("discord", "notifyRoleId"), Value: store.NullIfEmpty(g.Discord.NotifyRoleID)},
		{Path: store.Field("discord", "notifications"), Value: wishes},
	}
}

// Has tells whether a person is the group's creator or a member.
func (g *Group) Has(userID string) bool {
	return g != nil && userID != "" && (g.CreatorID == userID || slices.Contains(g.MemberIDs, userID))
}
