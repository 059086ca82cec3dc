package interactions

import (
	"context"
	"strconv"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Permissions, by their bits
// (https://docs.discord.com/developers/topics/permissions#permissions-bitwise-permission-flags).
const (
	administrator  = 1 << 3
	manageChannels = 1 << 4
)

// neededByBot are the permissions without which the bot cannot do its work in a channel.
var neededByBot = []struct {
	bit  uint64
	name string
}{{1 << 10, "View Channel"}, {1 << 11, "Send Messages"}, {1 << 14, "Embed Links"}, {1 << 16, "Read Message History"}}

func has(permissions string, bit uint64) bool {
	granted, err := strconv.ParseUint(permissions, 10, 64)
	return err == nil && granted&(bit|administrator) != 0
}

// channelOf is the channel of an interaction, whose sender manages it, which Discord's signature
// proves.
func channelOf(in request) (scheduler.Place, error) {
	if in.GuildID == "" || in.Member == nil || !has(in.Member.Permissions, manageChannels) {
		return scheduler.Place{}, fault.New(fault.Forbidden, "Only who may manage this channel on Discord may do that. Ask them.")
	}
	return in.place(), nil
}

// linkChannel gives this channel to the group of a code, to one that the person created, or to a
// new one.
func (h *handler) linkChannel(ctx context.Context, in request) (answer, error) {
	_, given := in.subcommand()
	if len(given) != 1 {
		return say("Give one of these: code, of a group that you manage; group, the name of one that you created; new, the name of a new one."), nil
	}
	if code, is := given[optionCode]; is {
		return h.linkByCode(ctx, in, code)
	}
	at, err := channelOf(in)
	if err != nil {
		return answer{}, err
	}
	person, err := h.person(ctx, in)
	if err != nil {
		return answer{}, err
	}
	name := strings.TrimSpace(given[optionGroup] + given["new"])
	who := scheduler.Person{ID: person.UID}
	// A new group of a name that there is already is that one, so that a repeat makes no other.
	groups, err := h.createdGroups(ctx, who, func(group poll.Group) bool {
		return strings.EqualFold(group.Name, name) || group.ID == name
	})
	switch {
	case err != nil:
		return answer{}, err
	case len(groups) > 1:
		return say("You created several groups of that name. Give the id of one, as the app shows it."), nil
	case len(groups) == 0 && given["new"] == "":
		return say("You created no group " + plain(name) + ". Give new to make one."), nil
	case len(groups) == 0:
		if err := h.makePerson(ctx, person, in); err != nil {
			return answer{}, err
		}
		made, err := h.Groups.CreateGroup(ctx, who, scheduler.EditGroup{Name: &name})
		if err != nil {
			return answer{}, err
		}
		groups = append(groups, made)
	}
	group, err := h.Groups.LinkChannel(ctx, who, groups[0].ID, at)
	if err != nil {
		return answer{}, err
	}
	return linkedTo(group, in), nil
}

// linkByCode gives the group of a code this channel. The maker of the code manages the group, so
// the one who uses it need not be known here.
func (h *handler) linkByCode(ctx context.Context, in request, code string) (answer, error) {
	at, err := channelOf(in)
	if err != nil {
		return answer{}, err
	}
	by := discord.GroupCodeUse{User: in.user, Interaction: in.ID, Channel: at.ChannelID}
	group, err := h.Groups.LinkChannelByCode(ctx, func(
		ctx context.Context, link func(ctx context.Context, tx store.Tx, of discord.GroupCode) error,
	) error {
		return h.Links.UseGroupCode(ctx, code, by, link)
	}, at)
	if err != nil {
		return answer{}, err
	}
	return linkedTo(group, in), nil
}

// linkGroup is /link-group, which the web app names to people.
func (h *handler) linkGroup(ctx context.Context, in request) (answer, error) {
	return h.linkByCode(ctx, in, in.given()[optionCode])
}

// linkedTo says that a group has the channel, and what the bot lacks there.
func linkedTo(group poll.Group, in request) answer {
	text := "The polls of **" + plain(group.Name) + "** are shown here from now on."
	if missing := missingPermissions(in.AppPermissions); len(missing) > 0 {
		text += " The bot lacks permissions in this channel: " + strings.Join(missing, ", ") + ". Grant them in the channel's settings."
	}
	return say(text)
}

func missingPermissions(granted string) (missing []string) {
	for _, needed := range neededByBot {
		if !has(granted, needed.bit) {
			missing = append(missing, needed.name)
		}
	}
	return missing
}

// unlinkChannel takes this channel from its group.
func (h *handler) unlinkChannel(ctx context.Context, in request) (answer, error) {
	at, err := channelOf(in)
	if err != nil {
		return answer{}, err
	}
	unlinked, err := h.Groups.UnlinkChannel(ctx, at)
	if err != nil {
		return answer{}, err
	}
	if unlinked == 0 {
		return say("No group has this channel."), nil
	}
	return say("This channel belongs to no group any more. The group keeps its role and its choices of notices."), nil
}
