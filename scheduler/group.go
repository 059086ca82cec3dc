package scheduler

import (
	"context"
	"fmt"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// EditGroup is a change of a group; nil leaves a field as it is.
type EditGroup struct {
	Name *string
	// MemberIDs are all members beside the creator: new ones are invited, and those that it
	// does not name are removed. Invitations stay; Remove withdraws them.
	MemberIDs []string
	// Add are invited, and Remove removed; other members stay. Neither goes with MemberIDs.
	Add, Remove []string
	// Discord is where the group hears of its polls; admins alone set it. Its Join stays out.
	Discord *poll.GroupDiscord
	// Join is who takes part from the group's channel (poll.GroupDiscord); its creator alone sets it.
	Join *string
	// Run, where set, runs the transaction in which UpdateGroup changes the group, for a caller that
	// changes more in it. It reads before change, and writes afterwards.
	Run func(ctx context.Context, change func(ctx context.Context, tx store.Tx) error) error
}

// errNoGroup is the answer for a group that is not there, or not visible to the person.
func errNoGroup() error {
	return fault.New(fault.NotFound, "There is no such group, or you do not belong to it.")
}

// groupError gives an error its place: which group, and what was being done.
func groupError(groupID, doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("group %s: %s: %w", groupID, doing, err)
}

// Group reads a group for its creator, its members, those whom it invites, and admins.
func (s *Service) Group(ctx context.Context, person Person, groupID string) (poll.Group, error) {
	group, err := visibleGroup(ctx, s.Store, person, groupID)
	if err != nil {
		return poll.Group{}, groupError(groupID, "read", err)
	}
	return *group, nil
}

// Groups gives the groups that a person created, belongs to or is invited to to
// take, as poll.WalkGroups does.
func (s *Service) Groups(
	ctx context.Context, person Person, part store.Paging, take func(poll.Group) (taken bool, err error),
) (next *store.Cursor, err error) {
	return poll.WalkGroups(ctx, s.Store, person.ID, part, take)
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
	const doing = "update"
	if person.Admin && ask.Discord != nil { // who else sets it is refused, where they may know of the group
		_, err := visibleGroup(ctx, s.Store, person, groupID)
		if err == nil {
			err = s.checkDiscord(ctx, person, groupID, ask.Discord)
		}
		if err != nil {
			return poll.Group{}, groupError(groupID, doing, err)
		}
	}
	of := groupRequest{person: person, groupID: groupID, doing: doing, run: ask.Run}
	return s.changeGroup(ctx, of, func(group *poll.Group) error {
		if group.CreatorID != person.ID && !person.Admin {
			return fault.New(fault.Forbidden, "Only the creator of this group may change it. Ask them.")
		}
		return ask.applyTo(person, group)
	})
}

// groupRequest is who changes which group. doing names the change in errors.
type groupRequest struct {
	person         Person
	groupID, doing string
	run            func(context.Context, func(context.Context, store.Tx) error) error // EditGroup.Run
}

// changeGroup writes what change does to a group that the person may see, and no other field:
// the web app writes the document too. Members who left lose the record that they accepted.
func (s *Service) changeGroup(ctx context.Context, of groupRequest, change func(*poll.Group) error) (after poll.Group, err error) {
	run := s.Store.Run
	if of.run != nil {
		run = of.run
	}
	var work []poll.GroupWork
	err = run(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		after, work, err = s.changeGroupIn(ctx, tx, of.person, of.groupID, change)
		return err
	})
	if err == nil {
		s.workSoon(ctx, work)
	}
	return after, groupError(of.groupID, of.doing, err)
}

// workSoon has the work done that a transaction recorded, after its commit.
func (s *Service) workSoon(ctx context.Context, work []poll.GroupWork) {
	for _, w := range work {
		s.Outbox.Soon(ctx, poll.GroupWorkKind, w.ID, w.Due)
	}
}

// changeGroupIn is changeGroup in a transaction that has written nothing yet. work is what it
// recorded that the change calls for, for workSoon.
func (s *Service) changeGroupIn(
	ctx context.Context, tx store.Tx, person Person, groupID string, change func(*poll.Group) error,
) (after poll.Group, work []poll.GroupWork, err error) {
	group, err := visibleGroup(ctx, tx, person, groupID)
	if err == nil {
		err = poll.LoadAccepted(ctx, tx, group)
	}
	if err != nil {
		return after, nil, err
	}
	after = *group
	after.MemberIDs, after.PendingMemberIDs = slices.Clone(group.MemberIDs), slices.Clone(group.PendingMemberIDs)
	if err := change(&after); err != nil {
		return after, nil, err
	}
	work, err = s.groupWork(ctx, tx, *group, after)
	if err != nil {
		return after, nil, err
	}
	after = after.WithoutParted()
	if !slices.Equal(group.AcceptedIDs, after.AcceptedIDs) {
		if err := tx.Merge(poll.AcceptedPath(groupID), poll.AcceptedUpdates(after)...); err != nil {
			return after, nil, err
		}
	}
	for _, w := range work {
		if err := w.Record(tx); err != nil {
			return after, nil, err
		}
	}
	changes := poll.GroupChanges(*group, after)
	if len(changes) == 0 {
		return after, work, nil
	}
	return after, work, tx.Update(poll.GroupPath(groupID), changes...)
}

// groupWork is what a change of a group calls for. Its sessions are compared where members joined or
// left, if it shares them: it shares those of its members alone. The cards of its polls are
// compared where it was given a channel, the same again too: the bot may see it only now.
func (s *Service) groupWork(ctx context.Context, reader store.Reader, before, after poll.Group) (work []poll.GroupWork, err error) {
	shares, now := false, store.Instant(s.Now())
	if !slices.Equal(before.MemberIDs, after.MemberIDs) {
		shares, err = poll.SharesSessions(ctx, reader, after.ID)
		if err != nil {
			return nil, err
		}
	}
	if shares {
		work = append(work, poll.SessionsWork(after.ID, s.IDs.ULID("wrk"), s.IDs.ULID("trc"), now))
	}
	given := after.Discord.Linked != nil || after.Discord.ChannelID != before.Discord.ChannelID
	if given && after.Discord.ChannelID != "" {
		work = append(work, poll.CardsWork(after.ID, s.IDs.ULID("wrk"), s.IDs.ULID("trc"), now))
	}
	return work, nil
}

// applyTo makes the changes that a person asks for.
func (e EditGroup) applyTo(person Person, group *poll.Group) error {
	if e.Discord != nil {
		if !person.Admin {
			return errDiscordIsAdmins()
		}
		asked := *e.Discord
		group.Move(asked.GuildID, asked.ChannelID, person.ID)
		asked.Join = group.Discord.Join
		group.Discord = asked
	}
	if e.Join != nil {
		if group.CreatorID != person.ID {
			return fault.New(fault.Forbidden, "Only the creator of this group may say who takes part from its channel. Ask them.")
		}
		group.Discord.Join = *e.Join
	}
	if e.Name != nil {
		name, err := rules.Line("name", *e.Name, rules.MaxTitle)
		if err != nil {
			return err
		}
		group.Name = name
	}
	return e.changePeople(group)
}
