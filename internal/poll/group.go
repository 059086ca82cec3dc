package poll

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"questscheduler/internal/store"
)

// Group is a document of questingGroups: people who play together, and their Discord channel.
type Group struct {
	ID        string
	Name      string
	CreatorID string
	MemberIDs []string
	// PendingMemberIDs are invited and have not accepted: they read no poll of the group and
	// get no announcement. The server alone adds to them; the web app may remove people.
	PendingMemberIDs []string
	// AcceptedIDs accepted over the API, as far as LoadAccepted read it. Who is not a member any
	// more may be among them.
	AcceptedIDs []string
	// Listed says that being in MemberIDs proves that a person accepted: only the server writes
	// to the store, or the operator says that clients list nobody but themselves.
	Listed  bool
	Discord GroupDiscord
	// MemberManaged: the web app lets every member manage the group; only it writes this.
	MemberManaged bool

	known bool // whether AcceptedIDs were read
}

// GroupDiscord is where and how a group hears on Discord.
type GroupDiscord struct {
	GuildID   string
	ChannelID string
	// NotifyRoleID is everyone, none or a role's id; absent means everyone.
	NotifyRoleID string
	// Notifications hold the group's choices by name, as the web app keeps them. What is no
	// boolean there is no choice.
	Notifications map[string]bool
	// Join is who takes part in the group's polls from its channel: JoinMembers, which absent means
	// too, or JoinChannel. The group's creator alone sets it.
	Join string
	// Linked, where set, is written with the channel; it is not read.
	Linked *ChannelLink
}

// Values of GroupDiscord.Join: members of the group alone, or everybody who sees the channel.
const (
	JoinMembers = "members"
	JoinChannel = "channel"
)

// The notify roles that are no role's id.
const (
	NotifyEveryone = "everyone"
	NotifyNobody   = "none"
)

// GroupPath is where a group's document is.
func GroupPath(id string) store.Path { return store.Doc("questingGroups", id) }

// groupPath is GroupPath; false where id can be no group's: clients write any text into polls, and
// documents below groups.
func groupPath(id string) (store.Path, bool) {
	path := GroupPath(id)
	return path, id != "" && !strings.Contains(id, "/") && path.Valid() == nil
}

// LoadGroup reads a group; nil where there is none, or id can be no group's.
func LoadGroup(ctx context.Context, reader store.Reader, id string) (*Group, error) {
	path, ok := groupPath(id)
	if !ok {
		return nil, nil
	}
	return load(ctx, reader, path, DecodeGroup)
}

// DecodeGroup reads a group's document.
func DecodeGroup(doc store.Document) Group {
	f := store.Fields(doc.Data)
	discord := f.Map("discord")
	group := Group{
		ID: doc.Path.ID(), Name: f.String("name"), CreatorID: f.String("creatorId"),
		MemberIDs: f.Strings("memberIds"), PendingMemberIDs: f.Strings("pendingMemberIds"),
		Discord: GroupDiscord{
			GuildID: discord.String("guildId"), ChannelID: discord.String("channelId"),
			NotifyRoleID: discord.String("notifyRoleId"), Notifications: map[string]bool{}, Join: discord.String("join"),
		},
		MemberManaged: f.Bool("memberManaged"),
		Listed:        doc.Made == 0, // a driver to whose data no other program writes
	}
	wishes := discord.Map("notifications")
	for name, value := range wishes {
		if on, chosen := value.(bool); chosen {
			group.Discord.Notifications[name] = on
		}
	}
	return group
}

// GroupUpdates gives the fields of a group that people set.
func GroupUpdates(g Group) []store.Update {
	return slices.Concat(
		[]store.Update{Set("name", g.Name), Set("memberIds", listOf(g.MemberIDs)), Set("pendingMemberIds", listOf(g.PendingMemberIDs))},
		discordUpdates(g.Discord))
}

// GroupChanges gives the fields of a group that differ from those it was read with.
func GroupChanges(before, after Group) (changes []store.Update) {
	old := GroupUpdates(before)
	for i, update := range GroupUpdates(after) {
		if !reflect.DeepEqual(update, old[i]) {
			changes = append(changes, update)
		}
	}
	return append(changes, after.Discord.Linked.updates()...)
}

func discordUpdates(d GroupDiscord) []store.Update {
	wishes := make(map[string]any, len(d.Notifications))
	for name, on := range d.Notifications {
		wishes[name] = on
	}
	return []store.Update{
		{Path: store.Field("discord", "guildId"), Value: store.NullIfEmpty(d.GuildID)},
		{Path: store.Field("discord", "channelId"), Value: store.NullIfEmpty(d.ChannelID)},
		{Path: store.Field("discord", "notifyRoleId"), Value: store.NullIfEmpty(d.NotifyRoleID)},
		{Path: store.Field("discord", "notifications"), Value: wishes},
		{Path: store.Field("discord", "join"), Value: store.NullIfEmpty(d.Join)},
	}
}

// Has reports whether a person is the group's creator or a member.
func (g *Group) Has(userID string) bool {
	return g != nil && userID != "" && (g.CreatorID == userID || slices.Contains(g.MemberIDs, userID))
}

// ManagedBy reports whether a person manages the group: its creator, or any member where the group
// is MemberManaged.
func (g *Group) ManagedBy(userID string) bool {
	return g.Has(userID) && (g.CreatorID == userID || g.MemberManaged)
}

// InGuild reports whether the group hears in a guild of Discord.
func (g *Group) InGuild(guildID string) bool {
	return g != nil && guildID != "" && g.Discord.GuildID == guildID
}

// Invites reports whether a person was invited and has not answered yet.
func (g *Group) Invites(userID string) bool {
	return userID != "" && !g.Has(userID) && slices.Contains(g.PendingMemberIDs, userID)
}

// GroupsOf counts the groups that a person created, up to most.
func GroupsOf(ctx context.Context, reader store.Reader, creatorID string, most int) (int, error) {
	docs, err := reader.Query(ctx, groupsOfCreator.With(creatorID).First(most))
	return len(docs), err
}
