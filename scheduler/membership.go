package scheduler

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Join makes a person a participant of a poll that anybody with the link may
// join, or that they are invited to. Joining twice changes nothing.
func (s *Service) Join(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.changeMembers(ctx, person, pollID, "join", cause, func(p *poll.Poll, group *poll.Group) error {
		if takesPart(person, *p, group) {
			return nil
		}
		if !p.AllowLinkSharing && !p.InvitedAs(person.Email) {
			return fault.New(fault.Forbidden, "This poll is by invitation. Ask its creator to invite you.")
		}
		p.ParticipantIDs = append(p.ParticipantIDs, person.ID)
		p.PendingInvites = withoutEmail(p.PendingInvites, person.Email)
		return nil
	})
}

// AcceptInvite makes an invitee a participant.
func (s *Service) AcceptInvite(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.changeMembers(ctx, person, pollID, "accept invite", cause, func(p *poll.Poll, group *poll.Group) error {
		if !p.InvitedAs(person.Email) {
			if takesPart(person, *p, group) {
				return nil
			}
			return errNotInvited()
		}
		p.PendingInvites = withoutEmail(p.PendingInvites, person.Email)
		if !slices.Contains(p.ParticipantIDs, person.ID) {
			p.ParticipantIDs = append(p.ParticipantIDs, person.ID)
		}
		return nil
	})
}

// DeclineInvite takes a person's invitation away, and with it, as a rule, the
// right to see the poll.
func (s *Service) DeclineInvite(ctx context.Context, person Person, pollID string, cause Cause) error {
	return s.writeMembers(ctx, person, pollID, "decline invite", cause, false, func(p *poll.Poll, _ *poll.Group) error {
		if !p.InvitedAs(person.Email) {
			return errNotInvited()
		}
		p.PendingInvites = withoutEmail(p.PendingInvites, person.Email)
		return nil
	})
}

// Leave ends a person's part in a poll, and takes their vote back. The creator
// cannot leave; who takes part through the group leaves the group.
func (s *Service) Leave(ctx context.Context, person Person, pollID string, cause Cause) error {
	var p poll.Poll
	now := store.Instant(s.Now())
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var err error
		if p, _, err = readable(ctx, tx, person, pollID); err != nil {
			return err
		}
		switch {
		case p.CreatorID == person.ID:
			return fault.New(fault.Conflict, "You created this poll. Cancel or delete it instead of leaving.")
		case !slices.Contains(p.ParticipantIDs, person.ID):
			return fault.New(fault.Conflict, "You are not among the participants. If you take part through a group, leave the group.")
		}
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return err
		}
		slots, err := poll.LoadSlots(ctx, tx, pollID)
		if err != nil {
			return err
		}
		votes, err := poll.LoadVotes(ctx, tx, pollID)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(votes, func(vote poll.Vote) bool { return vote.UserID == person.ID })
		if err := writeStats(tx, pollID, slots, left); err != nil {
			return err
		}
		if err := tx.Delete(poll.VotePath(pollID, person.ID)); err != nil {
			return err
		}
		if err := writeNamed(tx, announcement, pollID, without(s.named(announcement, p), person.ID)); err != nil {
			return err
		}
		after := p
		after.ParticipantIDs, after.UpdatedAt = without(p.ParticipantIDs, person.ID), now
		if err := after.Write(tx); err != nil {
			return err
		}
		return oweCard(tx, p)
	})
	if err != nil {
		return pollError(pollID, "leave", err)
	}
	s.cardSoon(ctx, p, "leave/"+person.ID+"/"+now.String(), cause)
	return nil
}

// changeMembers writes what change does for a person who joins, and gives the poll
// as it then is.
func (s *Service) changeMembers(ctx context.Context, person Person, pollID, doing string, cause Cause, change func(*poll.Poll, *poll.Group) error) (View, error) {
	if err := s.writeMembers(ctx, person, pollID, doing, cause, true, change); err != nil {
		return View{}, err
	}
	return s.View(ctx, person, pollID)
}

// writeMembers writes what change does to a poll's participants and invites. joins: the person
// means to take part, and counts as named by nobody.
func (s *Service) writeMembers(ctx context.Context, person Person, pollID, doing string, cause Cause, joins bool, change func(*poll.Poll, *poll.Group) error) error {
	var p poll.Poll
	now := store.Instant(s.Now())
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var group *poll.Group
		var err error
		if p, group, err = readable(ctx, tx, person, pollID); err != nil {
			return err
		}
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return err
		}
		before := p
		before.ParticipantIDs, before.PendingInvites = slices.Clone(p.ParticipantIDs), slices.Clone(p.PendingInvites)
		if err := change(&p, group); err != nil {
			return err
		}
		if joins {
			err = s.unname(tx, announcement, before, person.ID)
		} else {
			err = writeNamed(tx, announcement, pollID, s.named(announcement, before))
		}
		if err != nil {
			return err
		}
		if slices.Equal(before.ParticipantIDs, p.ParticipantIDs) && slices.Equal(before.PendingInvites, p.PendingInvites) {
			return nil
		}
		if len(p.ParticipantIDs) > MaxPeople {
			return fault.New(fault.Conflict, "This poll is full: 500 people take part.")
		}
		p.UpdatedAt = now
		if err := p.Write(tx); err != nil {
			return err
		}
		return oweCard(tx, p)
	})
	if err != nil {
		return pollError(pollID, doing, err)
	}
	s.cardSoon(ctx, p, doing+"/"+person.ID+"/"+now.String(), cause)
	return nil
}

func withoutEmail(emails []string, email string) []string {
	return slices.DeleteFunc(slices.Clone(emails), func(other string) bool { return strings.EqualFold(other, email) })
}

func errNotInvited() error {
	return fault.New(fault.Conflict, "There is no invitation to this poll for your e-mail address.")
}
