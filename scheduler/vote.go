package scheduler

import (
	"context"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Vote is what a person chooses.
type Vote struct {
	Choices     map[string]string // by slot id poll.Feasible or poll.Preferred
	NoTimesWork bool
}

// Vote writes a person's own vote, in place of an earlier one. Participants
// and members of the poll's group vote, while it is open.
func (s *Service) Vote(ctx context.Context, person Person, pollID string, ask Vote, cause Cause) (View, error) {
	var p poll.Poll
	now := store.Instant(s.Now())
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var group *poll.Group
		var err error
		if p, group, err = readable(ctx, tx, person, pollID); err != nil {
			return err
		}
		if !takesPart(person, p, group) {
			return fault.New(fault.Forbidden, "Only participants vote. Join the poll first.")
		}
		if _, err := rules.Apply(p.Rules("", nil, nil), rules.CommandVote); err != nil {
			return err
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
		vote := poll.Vote{UserID: person.ID, Email: person.Email, Choices: ask.Choices, NoTimesWork: ask.NoTimesWork, UpdatedAt: now}
		if err := checkVote(vote, slots); err != nil {
			return err
		}
		if err := writeStats(tx, pollID, slots, withVote(votes, vote)); err != nil {
			return err
		}
		if err := s.unname(tx, announcement, p, person.ID); err != nil {
			return err
		}
		if err := oweCard(tx, p); err != nil {
			return err
		}
		return tx.Merge(poll.VotePath(pollID, person.ID), poll.VoteUpdates(vote)...)
	})
	if err != nil {
		return View{}, pollError(pollID, "vote", err)
	}
	s.cardSoon(ctx, p, person.ID+"/"+now.String(), cause)
	return s.View(ctx, person, pollID)
}

func checkVote(vote poll.Vote, slots []poll.Slot) error {
	known := make(map[string]bool, len(slots))
	for _, slot := range slots {
		known[slot.ID] = true
	}
	for _, slot := range vote.Chosen() {
		if !known[slot] {
			return fault.Field("votes", "must name slots of this poll")
		}
		if choice := vote.Choices[slot]; choice != poll.Feasible && choice != poll.Preferred {
			return fault.Field("votes", "must say FEASIBLE or PREFERRED for each slot")
		}
	}
	if vote.NoTimesWork && len(vote.Choices) > 0 {
		return fault.Field("no_times_work", "cannot stand beside votes for slots")
	}
	return nil
}

func withVote(votes []poll.Vote, vote poll.Vote) []poll.Vote {
	all := []poll.Vote{vote}
	for _, other := range votes {
		if other.UserID != vote.UserID {
			all = append(all, other)
		}
	}
	return all
}

// writeStats brings the counts that stand in the slots up to date.
func writeStats(tx store.Tx, pollID string, slots []poll.Slot, votes []poll.Vote) error {
	for _, slot := range slots {
		feasible, preferred := poll.Count(votes, slot.ID)
		if feasible == slot.Feasible && preferred == slot.Preferred {
			continue
		}
		err := tx.Update(poll.SlotPath(pollID, slot.ID),
			store.Update{Path: store.Field("stats", "feasible"), Value: feasible},
			store.Update{Path: store.Field("stats", "preferred"), Value: preferred})
		if err != nil {
			return err
		}
	}
	return nil
}
