package scheduler

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/poll"
	"questscheduler/store"
)

// DefaultGroupsPerPerson is how many groups one person may have created.
const DefaultGroupsPerPerson = 50

// CodeTooManyGroups is the Conflict of a person who has created as many groups as
// one may.
const CodeTooManyGroups = "too_many_groups"

// EditGroup is what a person gives for a group; nil leaves a field as it is.
type EditGroup struct {
	Name *string
	// MemberIDs are all members that the group must have beside its creator: those
	// who are not members yet are invited, and members whom it does not name are
	// removed. Invitations stay; Remove withdraws them.
	MemberIDs []string
	// Add are invited, and Remove removed, whoever else belongs. Neither goes with
	// MemberIDs.
	Add, Remove []string
	// Discord is where the group hears of its polls; admins alone set it.
	Discord *poll.GroupDiscord
}

// errNoGroup is what a person hears of a group that is not there or not theirs.
func errNoGroup() error {
	return fault.New(fault.NotFound, "There is no such group, or you do not belong to it.")
}

// CreateGroup makes a group with its creator as a member; everybody else who is
// named is invited. Conflict with CodeTooManyGroups where the person has created as
// many as one may.
func (s *Service) CreateGroup(ctx context.Context, person Person, ask EditGroup) (poll.Group, error) {
	group := poll.Group{ID: s.IDs.UUID(), CreatorID: person.ID, MemberIDs: []string{person.ID}}
	if ask.Name == nil {
		return poll.Group{}, fault.Field("name", "must be 1 to 200 characters long")
	}
	if err := s.checkDiscord(ctx, person, ask.Discord); err != nil {
		return poll.Group{}, err
	}
	if err := ask.applyTo(person, &group); err != nil {
		return poll.Group{}, err
	}
	most, now := cmp.Or(s.GroupsPerPerson, DefaultGroupsPerPerson), s.Now()
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		made, err := poll.GroupsOf(ctx, tx, person.ID, most)
		if err != nil {
			return err
		}
		if made >= most {
			return errTooManyGroups(most)
		}
		updates := append(poll.GroupUpdates(group), poll.Set("creatorId", person.ID), poll.Set("createdAt", now))
		return tx.Merge(poll.GroupPath(group.ID), updates...)
	})
	return group, err
}

func errTooManyGroups(most int) error {
	refused := fault.Newf(fault.Conflict, "You have created %d groups, as many as one person may. Delete one in the web app, or ask whoever runs this server to allow more.", most)
	refused.Code = CodeTooManyGroups
	return refused
}

// Group reads a group for its creator, its members, those whom it invites, and
// admins.
func (s *Service) Group(ctx context.Context, person Person, groupID string) (poll.Group, error) {
	group, err := visibleGroup(ctx, s.Store, person, groupID)
	if err != nil {
		return poll.Group{}, err
	}
	return *group, nil
}

// Groups gives the groups that a person created, belongs to or is invited to to
// take, as poll.WalkGroups does.
func (s *Service) Groups(ctx context.Context, person Person, limit int, after *store.Cursor, take func(poll.Group) (taken bool, err error)) (next *store.Cursor, err error) {
	return poll.WalkGroups(ctx, s.Store, person.ID, limit, after, take)
}

// visibleGroup loads a group that a person may see. One they may not see is
// NotFound, as one that is not there.
func visibleGroup(ctx context.Context, reader store.Reader, person Person, groupID string) (*poll.Group, error) {
	group, err := poll.LoadGroup(ctx, reader, groupID)
	if err != nil {
		return nil, err
	}
	if group == nil || !group.Has(person.ID) && !group.Invites(person.ID) && !person.Admin {
		return nil, errNoGroup()
	}
	return group, nil
}

// UpdateGroup changes a group; its creator may, and admins.
func (s *Service) UpdateGroup(ctx context.Context, person Person, groupID string, ask EditGroup) (poll.Group, error) {
	if person.Admin { // who else sets it is refused, where they may know of the group
		if err := s.checkDiscord(ctx, person, ask.Discord); err != nil {
			return poll.Group{}, err
		}
	}
	return s.changeGroup(ctx, person, groupID, func(group *poll.Group) error {
		if group.CreatorID != person.ID && !person.Admin {
			return fault.New(fault.Forbidden, "Only the creator of this group may change it. Ask them.")
		}
		return ask.applyTo(person, group)
	})
}

// changeGroup writes what change does to a group that the person may see, and
// nothing else of it: the web app writes the document too.
func (s *Service) changeGroup(ctx context.Context, person Person, groupID string, change func(*poll.Group) error) (after poll.Group, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		group, err := visibleGroup(ctx, tx, person, groupID)
		if err != nil {
			return err
		}
		after = *group
		after.MemberIDs, after.PendingMemberIDs = slices.Clone(group.MemberIDs), slices.Clone(group.PendingMemberIDs)
		if err := change(&after); err != nil {
			return err
		}
		changes := poll.GroupChanges(*group, after)
		if len(changes) == 0 {
			return nil
		}
		return tx.Update(poll.GroupPath(groupID), changes...)
	})
	return after, err
}

// applyTo makes the changes that a person asks for.
func (e EditGroup) applyTo(person Person, group *poll.Group) error {
	if e.Discord != nil {
		if !person.Admin {
			return errDiscordIsAdmins()
		}
		group.Discord = *e.Discord
	}
	if e.Name != nil {
		group.Name = strings.TrimSpace(*e.Name)
		if group.Name == "" || len([]rune(group.Name)) > MaxTitle {
			return fault.Field("name", "must be 1 to 200 characters long")
		}
	}
	return e.changePeople(group)
}
