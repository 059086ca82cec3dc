package scheduler

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/discord"
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
func (s *Service) LinkChannel(ctx context.Context, person Person, groupID string, at Place) (group poll.Group, err error) {
	var work []poll.GroupWork
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		link := channelLink{groupID: groupID, by: person.ID, chosenBy: person.ID, at: at}
		group, work, err = s.linkChannelIn(ctx, tx, link, func(group *poll.Group) error {
			if group.CreatorID != person.ID {
				return fault.New(fault.Forbidden, "Only the creator of this group may give it a channel. Ask them.")
			}
			return nil
		})
		return err
	})
	if err == nil {
		s.workSoon(ctx, work)
	}
	return group, groupError(groupID, "link channel", err)
}

// UseCode runs link with what a code stands for, in the transaction that uses the code up
// (discord.Links.UseGroupCode).
type UseCode func(ctx context.Context, link func(ctx context.Context, tx store.Tx, code discord.GroupCode) error) error

// LinkChannelByCode is LinkChannel for a code, whose maker must still manage the group.
func (s *Service) LinkChannelByCode(ctx context.Context, use UseCode, at Place) (group poll.Group, err error) {
	var work []poll.GroupWork
	err = use(ctx, func(ctx context.Context, tx store.Tx, code discord.GroupCode) (err error) {
		link := channelLink{groupID: code.GroupID, by: code.UID, at: at}
		group, work, err = s.linkChannelIn(ctx, tx, link, func(group *poll.Group) error { return mayManage(group, code.UID) })
		return groupError(code.GroupID, "link channel by a code", err)
	})
	if err == nil {
		s.workSoon(ctx, work)
	}
	return group, err
}

// ManagedGroup reads a group that the person manages: its creator does, and members where the
// group is so. Forbidden for others who may see it.
func (s *Service) ManagedGroup(ctx context.Context, person Person, groupID string) (poll.Group, error) {
	group, err := s.Group(ctx, person, groupID)
	if err != nil {
		return group, err
	}
	return group, groupError(groupID, "read", mayManage(&group, person.ID))
}

func mayManage(group *poll.Group, uid string) error {
	if !group.ManagedBy(uid) {
		return fault.New(fault.Forbidden, "Only who manages this group may give it a channel. Ask its creator.")
	}
	return nil
}

// channelLink is a channel that a person gives a group.
type channelLink struct {
	groupID, by string
	// chosenBy is who chose the channel; "" for a code, which anybody may have.
	chosenBy string
	at       Place
}

// linkChannelIn gives a group a channel that no other group has, unless check refuses it. work is
// for workSoon.
func (s *Service) linkChannelIn(
	ctx context.Context, tx store.Tx, link channelLink, check func(*poll.Group) error,
) (group poll.Group, work []poll.GroupWork, err error) {
	taken, err := poll.GroupsOfChannel(ctx, tx, link.at.ChannelID)
	if err != nil {
		return poll.Group{}, nil, err
	}
	if slices.ContainsFunc(taken, func(group poll.Group) bool { return group.ID != link.groupID }) {
		return poll.Group{}, nil, fault.New(fault.Conflict, "Another group has this channel. Use /quest unlink first.")
	}
	return s.changeGroupIn(ctx, tx, Person{ID: link.by}, link.groupID, func(group *poll.Group) error {
		if err := check(group); err != nil {
			return err
		}
		group.Move(link.at.GuildID, link.at.ChannelID, link.chosenBy)
		group.Discord.Linked = &poll.ChannelLink{Name: link.at.Name, By: link.by, At: store.Instant(s.Now())}
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
