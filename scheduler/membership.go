package scheduler

import (
	"context"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/transition"
)

// Join makes a person a participant of a poll that anybody with the link may
// join, or that they are invited to, or of their group. Joining twice changes nothing.
func (s *Service) Join(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.changeMembers(ctx, request{person, pollID, "join", cause}, func(p *poll.Poll, group *poll.Group) error {
		if p.CreatorID == person.ID || slices.Contains(p.ParticipantIDs, person.ID) {
			return nil
		}
		if group.Has(person.ID) && len(p.ParticipantIDs) >= MaxPeople {
			return nil // they take part anyway
		}
		if !p.AllowLinkSharing && !p.InvitedAs(person.Email) && !group.Has(person.ID) {
			return fault.New(fault.Forbidden, "This poll is by invitation. Ask its creator to invite you.")
		}
		p.ParticipantIDs = append(p.ParticipantIDs, person.ID)
		p.PendingInvites = withoutEmail(p.PendingInvites, person.Email)
		return nil
	})
}

// AcceptInvite makes an invitee a participant.
func (s *Service) AcceptInvite(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.changeMembers(ctx, request{person, pollID, "accept invite", cause}, func(p *poll.Poll, group *poll.Group) error {
		if !p.InvitedAs(person.Email) {
			if TakesPart(person, *p, group) {
				return nil
			}
			return errNotInvited()
		}
		*p = acceptedBy(person, *p)
		return nil
	})
}

// acceptedBy is a poll whose invitation a person accepted.
func acceptedBy(person Person, p poll.Poll) poll.Poll {
	p.PendingInvites = withoutEmail(p.PendingInvites, person.Email)
	if !slices.Contains(p.ParticipantIDs, person.ID) {
		p.ParticipantIDs = append(slices.Clone(p.ParticipantIDs), person.ID)
	}
	return p
}

// DeclineInvite takes a person's invitation away, and with it, as a rule, the
// right to see the poll.
func (s *Service) DeclineInvite(ctx context.Context, person Person, pollID string, cause Cause) error {
	return s.writeMembers(ctx, request{person, pollID, "decline invite", cause}, false, func(p *poll.Poll, _ *poll.Group) error {
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
	r := request{person, pollID, "leave", cause}
	return s.changePart(ctx, r, r.mayRead, func(p poll.Poll, _ *poll.Group) error {
		switch {
		case p.CreatorID == person.ID:
			return fault.New(fault.Conflict, "You created this poll. Cancel or delete it instead of leaving.")
		case !slices.Contains(p.ParticipantIDs, person.ID):
			return fault.New(fault.Conflict, "You are not among the participants. If you take part through a group, leave the group.")
		}
		return nil
	}, func(ctx context.Context, tx store.Tx, step *transition.Step, known poll.Announcement) error {
		slots, err := loadChoices(ctx, tx, step)
		if err == nil {
			step.Leave(person.ID, known.Named, slots)
			step.Press(known.Pressed)
		}
		return err
	})
}

// loadChoices reads the slots and votes of a poll.
func loadChoices(ctx context.Context, reader store.Reader, step *transition.Step) (slots []poll.Slot, err error) {
	slots, err = poll.LoadSlots(ctx, reader, step.Poll.ID)
	if err == nil {
		step.Votes, err = poll.LoadVotes(ctx, reader, step.Poll.ID)
	}
	return slots, err
}

// changeMembers writes what change does for a person who joins, and gives the poll
// as it then is.
func (s *Service) changeMembers(ctx context.Context, r request, change func(*poll.Poll, *poll.Group) error) (View, error) {
	if err := s.writeMembers(ctx, r, true, change); err != nil {
		return View{}, err
	}
	return s.View(ctx, r.person, r.pollID)
}

// writeMembers writes what change does to a poll's participants and invites. joins:
// the person means to take part, and counts as named by nobody.
func (s *Service) writeMembers(ctx context.Context, r request, joins bool, change func(*poll.Poll, *poll.Group) error) error {
	anybody := func(poll.Poll, *poll.Group) error { return nil }
	return s.changePart(ctx, r, r.mayRead, anybody,
		func(_ context.Context, _ store.Tx, step *transition.Step, known poll.Announcement) error {
			after := step.Poll
			after.ParticipantIDs, after.PendingInvites = slices.Clone(after.ParticipantIDs), slices.Clone(after.PendingInvites)
			if err := change(&after, step.Group); err != nil {
				return err
			}
			changed := step.ChangeMembers(after, r.person.ID, known.Named, joins)
			if changed && len(after.ParticipantIDs) > MaxPeople {
				return errFull()
			}
			if changed {
				step.Press(known.Pressed)
			}
			return nil
		})
}

// changePart changes the part of a person in a poll that they may see by sees, and that check
// does not refuse. work gets the record of who was named, who entered and who pressed.
func (s *Service) changePart(
	ctx context.Context, r request, sees func(poll.Poll, *poll.Group) bool, check func(poll.Poll, *poll.Group) error,
	work func(ctx context.Context, tx store.Tx, step *transition.Step, known poll.Announcement) error,
) error {
	err := s.transact(ctx, s.Store.Run, r.cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		p, group, err := readableTo(ctx, tx, r.pollID, sees)
		if err == nil {
			err = check(p, group)
		}
		if err != nil {
			return nil, err
		}
		announcement, err := poll.LoadAnnouncement(ctx, tx, r.pollID)
		if err != nil {
			return nil, err
		}
		step := s.step(transition.State{Poll: p, Group: group}, r.cause)
		once(step, r.cause)
		return step, work(ctx, tx, step, announcement)
	})
	return r.failed(err)
}

func withoutEmail(emails []string, email string) []string {
	return slices.DeleteFunc(slices.Clone(emails), func(other string) bool { return strings.EqualFold(other, email) })
}

func errFull() error { return fault.New(fault.Conflict, "This poll is full: 500 people take part.") }

func errNotInvited() error {
	return fault.New(fault.Conflict, "There is no invitation to this poll for your e-mail address.")
}
