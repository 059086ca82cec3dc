package scheduler

import (
	"cmp"
	"context"
	"slices"

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
	// Form is where the choices were made, if it is a form that the slots may have outlived; nil
	// otherwise.
	Form *VoteForm
}

// VoteForm is a form of Discord. Its choices name slots by poll.Slot.Option. A person whom the
// poll invites accepts by it.
type VoteForm struct {
	// Shown is poll.ShownSlots of the slots that it offered. Others are Conflict with
	// CodeSlotsChanged.
	Shown string
	// Guild is where it was opened: no other guild than that of the poll's group.
	Guild string
	// Channel is where it was opened, and ByChannel says that a person may come to take part by
	// voting there (Admits of poll.Group).
	Channel   string
	ByChannel bool
	// Avatar is the voter's picture; "" for none.
	Avatar string
	// Makes, where set, makes the voter a person, in the vote's transaction.
	Makes func(ctx context.Context, tx store.Tx) error
}

// CodeSlotsChanged is of Conflict: the slots are not those that a form offered.
const CodeSlotsChanged = "slots_changed"

// Vote writes a person's own vote, in place of an earlier one. Participants
// and members of the poll's group vote, while it is open.
func (s *Service) Vote(ctx context.Context, person Person, pollID string, ask Vote, cause Cause) (View, error) {
	if _, err := s.Cast(ctx, person, pollID, ask, cause); err != nil {
		return View{}, err
	}
	return s.View(ctx, person, pollID)
}

// Ballot is a vote as it was written, with the poll as it was before and the slots that it is for.
type Ballot struct {
	Poll  poll.Poll
	Vote  poll.Vote
	Slots []poll.Slot
}

// Cast is Vote, and reads nothing after it.
func (s *Service) Cast(ctx context.Context, person Person, pollID string, ask Vote, cause Cause) (ballot Ballot, err error) {
	sees := func(p poll.Poll, group *poll.Group) bool {
		return MayRead(person, p, group) || ask.Form.letsIn(p, group)
	}
	err = s.changePart(ctx, request{person, pollID, "vote", cause}, sees, func(p poll.Poll, group *poll.Group) error {
		if ask.Form != nil && !group.InGuild(ask.Form.Guild) {
			return fault.New(fault.Forbidden, "This poll belongs to another server on Discord. Vote there, or in the app.")
		}
		if !TakesPart(person, p, group) && !(ask.Form != nil && p.InvitedAs(person.Email)) && !ask.Form.letsIn(p, group) {
			return fault.New(fault.Forbidden, "Only participants vote. Join the poll first.")
		}
		_, err := rules.Apply(p.Rules("", nil, nil), rules.CommandVote)
		return err
	}, func(ctx context.Context, tx store.Tx, step *transition.Step, known poll.Announcement) error {
		slots, err := loadChoices(ctx, tx, step)
		if err != nil {
			return err
		}
		vote, err := ask.by(person, step, slots)
		if err != nil {
			return err
		}
		after, pressed, err := entered(person, vote, step, known)
		if err != nil {
			return err
		}
		ballot = Ballot{Poll: step.Poll, Vote: vote, Slots: slots}
		step.Vote(after, vote, known.Named, slots)
		step.Press(known.Pressed, pressed...)
		if ask.Form != nil && step.Group.Admits(step.Poll, ask.Form.Guild, ask.Form.Channel) && !step.Group.Has(person.ID) {
			step.Enter(known.Entered, person.ID)
		}
		if ask.Form != nil && ask.Form.Makes != nil {
			return ask.Form.Makes(ctx, tx)
		}
		return nil
	})
	return ballot, err
}

// by is the vote that a person casts for the slots of a poll.
func (v Vote) by(person Person, step *transition.Step, slots []poll.Slot) (vote poll.Vote, err error) {
	vote = poll.Vote{
		UserID: person.ID, Email: cmp.Or(person.Email, votedWith(person, step.Votes)), Choices: v.Choices,
		NoTimesWork: v.NoTimesWork, UpdatedAt: store.Instant(step.Now),
	}
	if v.Form != nil {
		vote, err = v.Form.fill(vote, slots)
	}
	if err == nil {
		err = checkVote(vote, slots)
	}
	return vote, err
}

// entered is the poll with a voter who did not take part in it, and pressed names them where a
// press on Discord alone lets them in.
func entered(
	person Person, vote poll.Vote, step *transition.Step, known poll.Announcement,
) (after poll.Poll, pressed []string, err error) {
	after = step.Poll
	if TakesPart(person, after, step.Group) {
		return after, nil, nil
	}
	invited := after.InvitedAs(person.Email)
	switch {
	case !invited && cameBefore(person, known, step.Votes):
		return after, nil, errCameBefore()
	case !vote.Given():
		return after, nil, fault.Field("votes", "must have a time of one who does not take part yet, or say that none works")
	}
	if !invited {
		pressed = []string{person.ID}
	}
	after = acceptedBy(person, after)
	if len(after.ParticipantIDs) > MaxPeople {
		return after, nil, errFull()
	}
	return after, pressed, nil
}

// fill gives a vote of a form the ids of slots, and what the web app keeps of a vote on Discord.
func (f VoteForm) fill(vote poll.Vote, slots []poll.Slot) (poll.Vote, error) {
	if poll.ShownSlots(slots) != f.Shown {
		return vote, &fault.Error{
			Kind: fault.Conflict, Code: CodeSlotsChanged, Message: "The times changed since you opened this. Press Vote again.",
		}
	}
	options := vote.Choices
	vote.Choices = make(map[string]string, len(options))
	for _, slot := range slots {
		if choice, chosen := options[slot.Option()]; chosen {
			vote.Choices[slot.ID] = choice
		}
	}
	vote.Source, vote.LastVotedFrom, vote.Avatar = poll.FromDiscord, poll.FromDiscord, f.Avatar
	return vote, nil
}

// votedWith is the address of a person's earlier vote. They may have none that is verified now.
func votedWith(person Person, votes []poll.Vote) string {
	if i := slices.IndexFunc(votes, func(vote poll.Vote) bool { return vote.UserID == person.ID }); i >= 0 {
		return votes[i].Email
	}
	return ""
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
