package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// Vote is a person's choices.
type Vote struct {
	Choices     map[string]string // by slot id poll.Feasible or poll.Preferred
	NoTimesWork bool
}

// Vote writes a person's own vote, in place of an earlier one. Participants
// and members of the poll's group vote, while it is open.
func (s *Service) Vote(ctx context.Context, person Person, pollID string, ask Vote, cause Cause) (View, error) {
	err := s.changePart(ctx, person, pollID, "vote", cause, func(p poll.Poll, group *poll.Group) error {
		if !takesPart(person, p, group) {
			return fault.New(fault.Forbidden, "Only participants vote. Join the poll first.")
		}
		_, err := rules.Apply(p.Rules("", nil, nil), rules.CommandVote)
		return err
	}, func(ctx context.Context, tx store.Tx, step *transition.Step, named []string) error {
		slots, err := loadChoices(ctx, tx, step)
		if err != nil {
			return err
		}
		vote := poll.Vote{
			UserID: person.ID, Email: person.Email, Choices: ask.Choices, NoTimesWork: ask.NoTimesWork, UpdatedAt: store.Instant(step.Now),
		}
		if err := checkVote(vote, slots); err != nil {
			return err
		}
		step.Vote(vote, named, slots)
		return nil
	})
	if err != nil {
		return View{}, err
	}
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
