package scheduler

import (
	"cmp"
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// DefaultGroupsPerPerson is how many groups one person may have created, including those of the web
// app: more than any party needs, and few enough to list.
const DefaultGroupsPerPerson = 50

// CodeTooManyGroups is the Conflict of a person who has created as many groups as one may.
const CodeTooManyGroups = "too_many_groups"

// CreateGroup makes a group with its creator as a member, and invites everybody else who is
// named. Conflict with CodeTooManyGroups at the person's limit.
func (s *Service) CreateGroup(ctx context.Context, person Person, ask EditGroup) (poll.Group, error) {
	group := poll.Group{ID: s.IDs.UUID(), CreatorID: person.ID, MemberIDs: []string{person.ID}}
	err := s.createGroup(ctx, person, ask, &group)
	return group, groupError(group.ID, "create", err)
}

func (s *Service) createGroup(ctx context.Context, person Person, ask EditGroup, group *poll.Group) error {
	if ask.Name == nil {
		return fault.Field("name", "must be 1 to 200 characters long")
	}
	if err := s.checkDiscord(ctx, person, group.ID, ask.Discord); err != nil {
		return err
	}
	if err := ask.applyTo(person, group); err != nil {
		return err
	}
	most, now := cmp.Or(s.GroupsPerPerson, DefaultGroupsPerPerson), s.Now()
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		made, err := poll.GroupsOf(ctx, tx, person.ID, most)
		if err != nil {
			return err
		}
		if made >= most {
			return errTooManyGroups(most)
		}
		updates := append(poll.GroupUpdates(*group), poll.Set("creatorId", person.ID), poll.Set("createdAt", now))
		return tx.Merge(poll.GroupPath(group.ID), updates...)
	})
}

func errTooManyGroups(most int) error {
	refused := fault.Newf(
		fault.Conflict,
		"You have created %d groups, as many as one person may. Delete one in the web app, or ask those who run this server to allow more.",
		most,
	)
	refused.Code = CodeTooManyGroups
	return refused
}
