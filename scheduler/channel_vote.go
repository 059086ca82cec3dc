package scheduler

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/poll"
)

// letsIn reports whether a person may come to take part in a poll by the form (nil: none).
func (f *VoteForm) letsIn(p poll.Poll, group *poll.Group) bool {
	return f != nil && f.ByChannel && group.Admits(p, f.Guild, f.Channel)
}

// ViewFrom reads a poll for a person who takes no part in it, and may by voting from a channel: the
// channel of the poll's group, where the group's creator opened its polls to the channel. NotFound
// otherwise, and Forbidden for somebody who took part before: whom the host removed, a press does
// not bring back.
func (s *Service) ViewFrom(ctx context.Context, person Person, pollID string, at Place) (View, error) {
	p, group, err := readableTo(ctx, s.Store, pollID, func(p poll.Poll, group *poll.Group) bool {
		return group.Admits(p, at.GuildID, at.ChannelID)
	})
	if err != nil {
		return View{}, err
	}
	known, err := poll.LoadAnnouncement(ctx, s.Store, pollID)
	if err != nil {
		return View{}, err
	}
	view, err := viewOf(ctx, s.Store, p, group)
	if err == nil && cameBefore(person, known, view.Votes) {
		err = errCameBefore()
	}
	return view.For(person), err
}

// cameBefore reports whether a person who takes no part in a poll did, as far as is recorded: they
// voted, or entered.
func cameBefore(person Person, known poll.Announcement, votes []poll.Vote) bool {
	voted := slices.ContainsFunc(votes, func(vote poll.Vote) bool { return vote.UserID == person.ID })
	return voted || slices.Contains(known.Entered, person.ID) || len(known.Entered) >= poll.MostEntered
}

func errCameBefore() error {
	return fault.New(fault.Forbidden, "You do not take part in this poll any more. Ask the host to add you again.")
}
