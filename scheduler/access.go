package scheduler

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// MayRead reports whether a person may see a poll: creator, participants, group members (nil:
// none), invitees, admins, and with link sharing anybody signed in.
func MayRead(person Person, p poll.Poll, group *poll.Group) bool {
	switch {
	case person.ID == "":
		return false
	case person.Admin, p.CreatorID == person.ID, p.AllowLinkSharing:
		return true
	default:
		return TakesPart(person, p, group) || p.InvitedAs(person.Email)
	}
}

// TakesPart reports whether a person is a participant or a member of the group.
func TakesPart(person Person, p poll.Poll, group *poll.Group) bool {
	return slices.Contains(p.ParticipantIDs, person.ID) || group.Has(person.ID)
}

// readable loads a poll that a person may see, and its group. One they may not
// see is NotFound, as one that is not there.
func readable(ctx context.Context, reader store.Reader, person Person, pollID string) (poll.Poll, *poll.Group, error) {
	return readableTo(ctx, reader, pollID, func(p poll.Poll, group *poll.Group) bool { return MayRead(person, p, group) })
}

func readableTo(
	ctx context.Context, reader store.Reader, pollID string, sees func(poll.Poll, *poll.Group) bool,
) (poll.Poll, *poll.Group, error) {
	p, err := poll.Load(ctx, reader, pollID)
	if err != nil {
		return poll.Poll{}, nil, err
	}
	group, err := poll.LoadGroup(ctx, reader, p.GroupID)
	if err != nil {
		return poll.Poll{}, nil, err
	}
	if !sees(p, group) {
		return poll.Poll{}, nil, poll.ErrNotFound()
	}
	return p, group, nil
}

// created loads a poll that a person may see and created, and its group. Forbidden
// for others who may see it, unless they are admins.
func created(ctx context.Context, reader store.Reader, person Person, pollID string) (poll.Poll, *poll.Group, error) {
	p, group, err := readable(ctx, reader, person, pollID)
	if err == nil && p.CreatorID != person.ID && !person.Admin {
		err = fault.New(fault.Forbidden, "Only the creator of this poll may do that. Ask them.")
	}
	return p, group, err
}
