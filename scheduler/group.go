package scheduler

import (
	"context"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/poll"
	"questscheduler/store"
)

// EditGroup is what a person gives for a group; nil leaves a field as it is.
type EditGroup struct {
	Name      *string
	MemberIDs []string
	Discord   *poll.GroupDiscord
}

// errNoGroup is what a person hears of a group that is not there or not theirs.
func errNoGroup() error {
	return fault.New(fault.NotFound, "There is no such group, or you do not belong to it.")
}

// CreateGroup makes a group with its creator as a member.
func (s *Service) CreateGroup(ctx context.Context, person Person, ask EditGroup) (poll.Group, error) {
	group := poll.Group{ID: s.IDs.UUID(), CreatorID: person.ID, MemberIDs: []string{person.ID}}
	if ask.Name == nil {
		return poll.Group{}, fault.Field("name", "must be 1 to 200 characters long")
	}
	if err := ask.applyTo(&group); err != nil {
		return poll.Group{}, err
	}
	err := s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		updates := append(poll.GroupUpdates(group), poll.Set("creatorId", person.ID), poll.Set("createdAt", s.Now()))
		return tx.Merge(poll.GroupPath(group.ID), updates...)
	})
	return group, err
}

// Group reads a group for its creator, its members and admins.
func (s *Service) Group(ctx context.Context, person Person, groupID string) (poll.Group, error) {
	group, err := poll.LoadGroup(ctx, s.Store, groupID)
	if err != nil {
		return poll.Group{}, err
	}
	if group == nil || !group.Has(person.ID) && !person.Admin {
		return poll.Group{}, errNoGroup()
	}
	return *group, nil
}

// UpdateGroup changes a group; its creator may.
func (s *Service) UpdateGroup(ctx context.Context, person Person, groupID string, ask EditGroup) (poll.Group, error) {
	var after poll.Group
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		group, err := poll.LoadGroup(ctx, tx, groupID)
		if err != nil {
			return err
		}
		if group == nil || !group.Has(person.ID) && !person.Admin {
			return errNoGroup()
		}
		if group.CreatorID != person.ID && !person.Admin {
			return fault.New(fault.Forbidden, "Only the creator of this group may change it. Ask them.")
		}
		after = *group
		if err := ask.applyTo(&after); err != nil {
			return err
		}
		return tx.Update(poll.GroupPath(groupID), poll.GroupUpdates(after)...)
	})
	return after, err
}

func (e EditGroup) applyTo(group *poll.Group) error {
	if e.Name != nil {
		group.Name = strings.TrimSpace(*e.Name)
		if group.Name == "" || len([]rune(group.Name)) > MaxTitle {
			return fault.Field("name", "must be 1 to 200 characters long")
		}
	}
	if e.MemberIDs != nil {
		if err := checkPeople("member_ids", group.CreatorID, e.MemberIDs); err != nil {
			return err
		}
		group.MemberIDs = withPerson(group.CreatorID, e.MemberIDs)
	}
	if e.Discord != nil {
		group.Discord = *e.Discord
		for _, id := range []string{group.Discord.GuildID, group.Discord.ChannelID} {
			if !isSnowflake(id) {
				return fault.Field("discord", "must name guild and channel by their numbers, as Discord's \"Copy ID\" gives them")
			}
		}
		role := group.Discord.NotifyRoleID
		if role != "" && role != poll.NotifyEveryone && role != poll.NotifyNobody && !isSnowflake(role) {
			return fault.Field("discord.notify_role_id", "must be everyone, none or a role's number")
		}
	}
	return nil
}

func isSnowflake(id string) bool {
	return len(id) <= 20 && !slices.ContainsFunc([]rune(id), func(r rune) bool { return r < '0' || r > '9' })
}
