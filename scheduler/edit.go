package scheduler

import (
	"context"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// Edit is a change of a poll; nil leaves a field as it is.
type Edit struct {
	Title            *string
	Description      *string
	Timezone         *string
	ParticipantIDs   *[]string
	PendingInvites   *[]string
	AllowLinkSharing *bool
	// Slots are all slots the poll is to have: those with an id are kept and moved, others are
	// made, and slots that are not named are removed with their votes.
	Slots *[]SlotEdit
	// Demand, where set, checks the poll before the edit (without SyncedAt) in the edit's
	// transaction, which may rerun. Its error ends the edit with nothing changed.
	Demand func(View) error
}

// SlotEdit is one slot of an Edit; ID is "" for a new one.
type SlotEdit struct {
	ID string
	Times
}

// Edit changes a poll. Its slots cannot be changed while it is finalised; an
// edit of them clears what is left of a reschedule.
func (s *Service) Edit(ctx context.Context, person Person, pollID string, ask Edit, cause Cause) (View, error) {
	if err := ask.check(); err != nil {
		return View{}, err
	}
	r := request{person, pollID, "edit", cause}
	named, err := s.inquireEdit(ctx, person, pollID, ask)
	if err != nil {
		return View{}, r.failed(err)
	}
	err = s.change(ctx, s.Store.Run, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return nil, err
		}
		if ask.Demand != nil {
			view, err := viewOf(ctx, tx, st.Poll, st.Group)
			if err != nil {
				return nil, err
			}
			if err := ask.Demand(view); err != nil {
				return nil, err
			}
		}
		if _, err := rules.Apply(st.Rules(), rules.CommandEdit); err != nil {
			return nil, err
		}
		if err := ask.checkPeople(st.Poll); err != nil {
			return nil, err
		}
		if ask.ParticipantIDs == nil {
			step, err := s.editStep(ctx, tx, r, ask, st)
			if err == nil {
				step.NameFirst()
			}
			return step, err
		}
		if err := named.check(ctx, tx, st.Poll, st.Group, ask.newly(st.Poll)); err != nil {
			return nil, err
		}
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return nil, err
		}
		step, err := s.editStep(ctx, tx, r, ask, st)
		if err == nil {
			step.Name(announcement.Named, person.ID)
			step.Press(announcement.Pressed)
			step.Enter(announcement.Entered, without(st.Poll.ParticipantIDs, step.After.ParticipantIDs...)...)
		}
		return step, err
	})
	if err != nil {
		return View{}, r.failed(err)
	}
	return s.shown(ctx, rules.CommandEdit, r)
}

// inquireEdit inquires about the people whom an edit newly names. The edit's transaction refuses
// what is not the person's.
func (s *Service) inquireEdit(ctx context.Context, person Person, pollID string, ask Edit) (naming, error) {
	if ask.ParticipantIDs == nil {
		return naming{listed: s.MembersListed}, nil
	}
	p, err := poll.Load(ctx, s.Store, pollID)
	gone := fault.Is(err, fault.NotFound)
	if err != nil && !gone {
		return naming{}, err
	}
	if gone || p.CreatorID != person.ID || ask.checkPeople(p) != nil {
		return naming{listed: s.MembersListed}, nil //nolint:nilerr // the command itself refuses such a poll
	}
	return inquire(ctx, s.Store, s.MembersListed, p, ask.newly(p))
}

// newly are the people whom an edit adds to a poll.
func (e Edit) newly(p poll.Poll) []string {
	return withPerson(p.CreatorID, without(*e.ParticipantIDs, p.ParticipantIDs...))
}

// editStep works an edit out but for whom it names, for which the slots and votes are read where
// it is of them.
func (s *Service) editStep(
	ctx context.Context, tx store.Tx, r request, ask Edit, st transition.State,
) (step *transition.Step, err error) {
	var slots []poll.Slot
	if ask.Slots != nil {
		if _, err := rules.Apply(st.Rules(), rules.CommandEditSlots); err != nil {
			return nil, err
		}
		slots, err = poll.LoadSlots(ctx, tx, st.Poll.ID)
		if err != nil {
			return nil, err
		}
		st.Votes, err = poll.LoadVotes(ctx, tx, st.Poll.ID)
		if err != nil {
			return nil, err
		}
	}
	step = s.step(st, r.cause)
	after := ask.edited(st.Poll, store.Instant(step.Now))
	step.Edit(after)
	if ask.Slots != nil {
		var wanted []transition.Times
		for _, slot := range *ask.Slots {
			wanted = append(wanted, transition.Times{ID: slot.ID, At: rules.Timed(slot.Start, slot.End)})
		}
		if err := step.EditSlots(r.person.ID, slots, wanted); err != nil {
			return nil, err
		}
	}
	return step, nil
}

func (e Edit) check() error {
	if err := checkTexts(e.Title, e.Description, e.Timezone); err != nil {
		return err
	}
	if e.PendingInvites != nil {
		if err := checkInvites(*e.PendingInvites); err != nil {
			return err
		}
	}
	if e.Slots != nil {
		slots := make([]Times, len(*e.Slots))
		for i, slot := range *e.Slots {
			slots[i] = slot.Times
		}
		return checkSlots(slots)
	}
	return nil
}

func (e Edit) checkPeople(p poll.Poll) error {
	if e.ParticipantIDs == nil {
		return nil
	}
	return checkPeople("participant_ids", p.CreatorID, *e.ParticipantIDs)
}

// edited is a poll with the fields that the edit names.
func (e Edit) edited(p poll.Poll, now time.Time) poll.Poll {
	p.UpdatedAt = now
	if e.Title != nil {
		p.Title = strings.TrimSpace(*e.Title)
	}
	if e.Description != nil {
		p.Description = *e.Description
	}
	if e.Timezone != nil {
		p.Timezone = *e.Timezone
	}
	if e.ParticipantIDs != nil {
		p.ParticipantIDs = withPerson(p.CreatorID, *e.ParticipantIDs)
	}
	if e.PendingInvites != nil {
		p.PendingInvites = lowerAll(*e.PendingInvites)
	}
	if e.AllowLinkSharing != nil {
		p.AllowLinkSharing = *e.AllowLinkSharing
	}
	return p
}
