package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Place is a channel of Discord. Who links it has proved there that they manage it.
type Place struct {
	GuildID, ChannelID, Name string
	// ParentID is the channel of a thread; "" for a channel of a guild's own list.
	ParentID string
}

// LinkChannel gives a group that the person created a channel; its role and switches stay.
// Conflict where another group has the channel, Forbidden for others than the creator.
func (s *Service) LinkChannel(ctx context.Context, person Person, groupID string, at Place) (poll.Group, error) {
	const doing = "link channel"
	taken, err := poll.GroupsOfChannel(ctx, s.Store, at.ChannelID)
	if err != nil {
		return poll.Group{}, groupError(groupID, doing, err)
	}
	for _, group := range taken {
		if group.ID != groupID {
			return poll.Group{}, fault.New(fault.Conflict, "Another group has this channel. Use /quest unlink first.")
		}
	}
	return s.changeGroup(ctx, person, groupID, doing, func(group *poll.Group) error {
		if group.CreatorID != person.ID {
			return fault.New(fault.Forbidden, "Only the creator of this group may give it a channel. Ask them.")
		}
		group.Discord.GuildID, group.Discord.ChannelID = at.GuildID, at.ChannelID
		group.Discord.Linked = &poll.ChannelLink{Name: at.Name, By: person.ID, At: store.Instant(s.Now())}
		return nil
	})
}

// UnlinkChannel takes a channel from the groups that have it, whoever created them: a channel is
// its managers'. Their roles and switches stay. It returns how many had it.
func (s *Service) UnlinkChannel(ctx context.Context, at Place) (unlinked int, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		unlinked = 0
		groups, err := poll.GroupsOfChannel(ctx, tx, at.ChannelID)
		if err != nil {
			return err
		}
		for _, group := range groups {
			if group.Discord.GuildID != at.GuildID {
				continue
			}
			if err := tx.Update(poll.GroupPath(group.ID), poll.UnlinkUpdates()...); err != nil {
				return err
			}
			unlinked++
		}
		return nil
	})
	return unlinked, err
}
