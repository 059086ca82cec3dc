package scheduler

import (
	"context"
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

const (
	// mostGroupsHere is how many of a person's groups are looked through for those of a guild.
	mostGroupsHere = 100
	// mostGroupsListed is how many of those have polls listed: each costs a query for each letter typed.
	mostGroupsListed = 20
	// mostPollsHere is how many polls are read in all; each group has the same share.
	mostPollsHere = 50
)

// PollsHere lists polls of a channel of Discord for a person to choose from, newest first: of the
// groups that have the channel, or where none has it, of the person's groups in its guild. It
// lists what concerns the person by group or part, and no poll that they may only read by its
// link or an invitation to their address. At most mostPollsHere are read, the newest of each group.
func (s *Service) PollsHere(ctx context.Context, person Person, at Place) (found []poll.Poll, err error) {
	groups, err := s.groupsHere(ctx, person, at)
	if err != nil {
		return nil, err
	}
	for _, group := range groups {
		polls, err := poll.OfGroup(ctx, s.Store, group.ID, mostPollsHere/len(groups))
		if err != nil {
			return nil, err
		}
		for _, p := range polls {
			if p.Concerns(person.ID, &group) {
				found = append(found, p)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b poll.Poll) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return found, nil
}

func (s *Service) groupsHere(ctx context.Context, person Person, at Place) (groups []poll.Group, err error) {
	elsewhere := func(group poll.Group) bool { return !group.InGuild(at.GuildID) }
	for _, channel := range []string{at.ChannelID, at.ParentID} {
		if channel == "" || len(groups) > 0 {
			continue
		}
		groups, err = poll.GroupsOfChannel(ctx, s.Store, channel)
		if err != nil {
			return nil, err
		}
		groups = slices.DeleteFunc(groups, elsewhere)
	}
	if len(groups) > 0 {
		return groups, nil
	}
	_, err = s.Groups(ctx, person, store.Paging{Limit: mostGroupsHere}, func(group poll.Group) (bool, error) {
		if !elsewhere(group) && group.Has(person.ID) {
			groups = append(groups, group)
		}
		return len(groups) < mostGroupsListed, nil
	})
	return groups, err
}
