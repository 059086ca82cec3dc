package scheduler

import (
	"context"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// MostUnanswered is how many polls in a row, in the order of their creation, a creator may put a
// person into who consents to none of them.
const MostUnanswered = 3

// checkNamed refuses people whom a request newly names in a poll, and who would then not have
// consented (poll.Consented) to more than MostUnanswered polls in a row that name them; a poll
// without an ID is being made. So naming people in polls older than one that they answered is
// bounded, too. Members of
// the poll's group (nil: none), and of any group of the creator's, may always be named if they
// belong to it by choice.
//
// It runs in the transaction that names them, so that requests at once cannot exceed the bound.
// Each person outside the poll's group costs one query of MostUnanswered polls, two for a
// poll that exists, and a vote of each until one is answered.
func (s *Service) checkNamed(ctx context.Context, tx store.Reader, in poll.Poll, group *poll.Group, people []string) error {
	poll.TrustLists(s.MembersListed, group)
	if err := poll.Prove(ctx, tx, people, group); err != nil {
		return err
	}
	var groups []poll.Group
	loaded := false
	for _, id := range people {
		if id == in.CreatorID || group.ByChoice(id) {
			continue
		}
		unanswered, err := poll.Unanswered(ctx, tx, in, id, MostUnanswered)
		if err != nil {
			return err
		}
		if unanswered < MostUnanswered {
			continue
		}
		if !loaded {
			if groups, err = poll.Memberships(ctx, tx, in.CreatorID); err == nil {
				poll.TrustLists(s.MembersListed, poll.Pointers(groups)...)
				err = poll.Prove(ctx, tx, people, poll.Pointers(groups)...)
			}
			if err != nil {
				return err
			}
			loaded = true
		}
		if !poll.ShareGroup(groups, id) {
			return errUnanswered(id)
		}
	}
	return nil
}

func errUnanswered(personID string) error {
	refused := fault.Field("participant_ids", "must not name people who have not answered the last 3 polls that you added them to")
	refused.Message = "participant_ids must not name " + personID + ", who has not answered the last 3 polls that you added them to. " +
		"Ask them to join one of these or to vote, invite them by e-mail, send them the link of this poll, or make it in a group that they belong to."
	return refused
}
