package scheduler

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/poll"
)

// changePeople invites and removes people by what differs from the group as it
// was read. Nobody becomes a member by it, and those who stay keep their places.
func (e EditGroup) changePeople(group *poll.Group) error {
	creator := group.CreatorID
	add, remove := e.Add, e.Remove
	switch {
	case e.MemberIDs == nil:
	case add != nil || remove != nil:
		return fault.Field("member_ids", "must be left out beside add_member_ids and remove_member_ids")
	default:
		add, remove = e.MemberIDs, without(group.MemberIDs, e.MemberIDs...)
	}
	if err := checkNames("member_ids", without(add, creator), "people beside the creator", maxUID); err != nil {
		return err
	}
	if slices.ContainsFunc(remove, func(id string) bool { return slices.Contains(add, id) }) {
		return fault.Field("remove_member_ids", "must name nobody whom add_member_ids names")
	}
	remove = without(remove, creator)
	group.MemberIDs = without(group.MemberIDs, remove...)
	group.PendingMemberIDs = without(group.PendingMemberIDs, remove...)
	before := len(group.PendingMemberIDs)
	for _, id := range add {
		if id != "" && !group.Has(id) && !slices.Contains(group.PendingMemberIDs, id) {
			group.PendingMemberIDs = append(group.PendingMemberIDs, id)
		}
	}
	if len(group.PendingMemberIDs) > before && othersOf(*group) > MaxPeople {
		return fault.New(
			fault.Conflict,
			"This group would be too large: 500 people beside its creator may belong to it or be invited. Remove some first.",
		)
	}
	return nil
}

// othersOf counts the members and the people whom a group invites, without its creator.
func othersOf(group poll.Group) int {
	others := without(slices.Concat(group.MemberIDs, group.PendingMemberIDs), group.CreatorID)
	slices.Sort(others)
	return len(slices.Compact(others))
}

// without gives the people of a list who are not in another.
func without(people []string, others ...string) []string {
	return slices.DeleteFunc(slices.Clone(people), func(id string) bool { return slices.Contains(others, id) })
}

// AcceptGroup makes a member of a person whom a group invites. A member stays one, and is
// recorded as having accepted from then on.
func (s *Service) AcceptGroup(ctx context.Context, person Person, groupID string) (poll.Group, error) {
	return s.changeGroup(ctx, groupRequest{person: person, groupID: groupID, doing: "accept invitation"}, func(group *poll.Group) error {
		switch {
		case group.Has(person.ID):
		case !group.Invites(person.ID):
			return errNotInvitedToGroup()
		default:
			group.MemberIDs = append(group.MemberIDs, person.ID)
		}
		group.PendingMemberIDs = without(group.PendingMemberIDs, person.ID)
		*group = group.Accepted(person.ID)
		return nil
	})
}

// DeclineGroup takes a person's invitation to a group away, and with it the right
// to see the group.
func (s *Service) DeclineGroup(ctx context.Context, person Person, groupID string) error {
	_, err := s.changeGroup(ctx, groupRequest{person: person, groupID: groupID, doing: "decline invitation"}, func(group *poll.Group) error {
		if !group.Invites(person.ID) {
			return errNotInvitedToGroup()
		}
		group.PendingMemberIDs = without(group.PendingMemberIDs, person.ID)
		return nil
	})
	return err
}

// LeaveGroup ends a person's membership. Their votes in the group's polls stay, as
// where the creator removes them. The creator cannot leave.
func (s *Service) LeaveGroup(ctx context.Context, person Person, groupID string) error {
	_, err := s.changeGroup(ctx, groupRequest{person: person, groupID: groupID, doing: "leave"}, func(group *poll.Group) error {
		switch {
		case group.CreatorID == person.ID:
			return fault.New(fault.Conflict, "You created this group and cannot leave it. Remove its members instead.")
		case !slices.Contains(group.MemberIDs, person.ID):
			return fault.New(fault.Conflict, "You are not a member of this group. If you are invited, decline the invitation.")
		}
		group.MemberIDs = without(group.MemberIDs, person.ID)
		group.PendingMemberIDs = without(group.PendingMemberIDs, person.ID) // of an invitation that the web app overtook
		return nil
	})
	return err
}

func errNotInvitedToGroup() error {
	return fault.New(fault.Conflict, "There is no invitation to this group for you. Ask its creator for one.")
}
