package availability

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
)

// Slot is what is known of people at one slot of a poll.
type Slot struct {
	ID string
	// People are in the order of Poll.People.
	People []PersonState
}

// PersonState is one person at one slot.
type PersonState struct {
	ID    string
	State SlotState
}

// CodeOnlyNamed (Forbidden) is the error of an asker whom somebody else put into the poll, and who
// has not consented to it (poll.Consented).
const CodeOnlyNamed = "availability_only_named"

// ForPoll answers which of a poll's people can come to which of its slots. It shows the
// asker themselves, and others who consented to the poll (poll.Consented) and share their
// availability; everybody else, and everybody without a linked account, is unknown. The poll's own session counts for nobody: where a
// source does not tell it from other events, its time is unknown. So are slots before
// yesterday and those beyond MaxRange.
//
// NotFound: the asker is not among the poll's people. Forbidden with CodeOnlyNamed: they are only
// named. Conflict: the answer would be too large (slotsOf); it does not count. RateLimited: the poll or
// the asker had the answers of the day (perDay, perAsker). RateLimited and Unavailable with CodeBusy:
// enough answers are being worked out; this one does not count.
func (s *Service) ForPoll(ctx context.Context, pollID, askerID string) ([]Slot, error) {
	done, err := s.running.enter(askerID)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := poll.Load(ctx, s.Store, pollID)
	if err != nil {
		return nil, err
	}
	group, err := poll.LoadGroup(ctx, s.Store, p.GroupID)
	if err != nil {
		return nil, err
	}
	poll.TrustLists(s.MembersListed, group)
	people := peopleOf(p, group)
	if askerID == "" || !slices.Contains(people, askerID) {
		return nil, poll.ErrNotFound()
	}
	consented, err := poll.Consented(ctx, s.Store, p, group, people)
	if err != nil {
		return nil, err
	}
	if !consented[askerID] {
		return nil, &fault.Error{
			Kind: fault.Forbidden, Code: CodeOnlyNamed,
			Message: "Somebody else added you to this poll. Join it or vote in it first: availability is for people who take part by choice.",
		}
	}
	if err := s.refuseByChannel(ctx, p, group, askerID); err != nil {
		return nil, err
	}
	people = shownTo(askerID, p, group, people, consented)
	slots, err := s.slotsOf(ctx, p, len(people))
	if err != nil {
		return nil, err
	}
	if err := s.count(ctx, p.ID, askerID); err != nil {
		return nil, err
	}
	within, ok := s.rangeOf(p, slots)
	known := map[string]Answer{}
	if ok {
		known, err = s.knownOf(ctx, consented, askerID, within, sessionOf(p, slots))
		if err != nil {
			return nil, err
		}
	}
	answers := make([]Slot, len(slots))
	for i, slot := range slots {
		answers[i] = Slot{ID: slot.ID, People: statesAt(slotTime(slot, p), within, people, known)}
	}
	return answers, nil
}

// mostStates is how many states of people at slots one answer has, each of some 100 bytes of JSON: for
// as many slots as a poll has and people as its participants and its group may be over /v1.
const mostStates = poll.MaxSlotsAhead * 1002

// slotsOf reads the slots that an answer is about. Of a poll with more than poll.MaxSlots, as one of the
// web app that goes on for long, those that are past are left out: nothing is known of them anyway.
// Conflict where these, too, are more, or the states of that many people are.
func (s *Service) slotsOf(ctx context.Context, p poll.Poll, people int) ([]poll.Slot, error) {
	slots, all, err := poll.LoadSlotsAhead(ctx, s.Store, p.ID, s.Now().Add(-2*24*time.Hour)) // a day in any zone
	switch {
	case err != nil:
		return nil, err
	case !all:
		return nil, fault.Newf(fault.Conflict, "This poll has more than %d times ahead. Ask again once its host removed some.", poll.MaxSlotsAhead)
	case len(slots)*people > mostStates:
		return nil, fault.New(fault.Conflict, "This poll has too many people for its times. Ask again once its host removed some times.")
	}
	return slots, nil
}

// refuseByChannel is Forbidden for one who takes part by a press in the group's channel alone: the others
// share their availability with people whom the host or the group chose.
func (s *Service) refuseByChannel(ctx context.Context, p poll.Poll, group *poll.Group, askerID string) error {
	if group.Has(askerID) || p.CreatorID == askerID {
		return nil
	}
	known, err := poll.LoadAnnouncement(ctx, s.Store, p.ID)
	if err != nil || !slices.Contains(known.Pressed, askerID) {
		return err
	}
	return fault.New(fault.Forbidden, "You take part in this poll by its channel on Discord. Availability is for members of its group: ask its host.")
}

// peopleOf are the poll's creator, its participants and its group's members, each once.
func peopleOf(p poll.Poll, group *poll.Group) []string {
	people := p.People(group)
	if p.CreatorID != "" && !slices.Contains(people, p.CreatorID) {
		people = slices.Insert(people, 0, p.CreatorID)
	}
	return people
}

// shownTo leaves out members of the poll's group of whom the asker is not to know (poll.HidesMembers),
// but for those who voted, as the poll shows.
func shownTo(askerID string, p poll.Poll, group *poll.Group, people []string, consented map[string]bool) []string {
	if !p.HidesMembers(askerID, group) {
		return people
	}
	named := peopleOf(p, nil)
	return slices.DeleteFunc(people, func(id string) bool { return !consented[id] && !slices.Contains(named, id) })
}

// rangeOf spans the slots that can be answered; ok is false if there is none.
func (s *Service) rangeOf(p poll.Poll, slots []poll.Slot) (within Interval, ok bool) {
	first := s.Now().UTC().Add(-24 * time.Hour)
	for _, slot := range slots {
		at := slotTime(slot, p)
		if at.Start.Before(first) {
			continue
		}
		if !ok || at.Start.Before(within.Start) {
			within.Start = at.Start
		}
		if !ok || at.End.After(within.End) {
			within.End = at.End
		}
		ok = true
	}
	within.End = earlier(within.End, within.Start.Add(MaxRange))
	return within, ok && within.Start.Before(within.End)
}

// knownOf are the answers of those people whose availability the asker may know. The poll's own
// session (nil: none) occupies nobody.
func (s *Service) knownOf(
	ctx context.Context, consented map[string]bool, askerID string, within Interval, own *session,
) (map[string]Answer, error) {
	people := slices.Sorted(maps.Keys(consented))
	sharing, err := mirror.Sharing(ctx, s.Store, people)
	if err != nil {
		return nil, err
	}
	shown := slices.DeleteFunc(people, func(id string) bool { return id != askerID && !sharing[id] })
	linked, err := accounts.OfPeople(ctx, s.Store, shown)
	if err != nil {
		return nil, err
	}
	return s.read(ctx, linkedOnes(linked), within, own)
}

// statesAt are the states of people at a time; those of whom nothing is known are unknown.
func statesAt(at, within Interval, people []string, known map[string]Answer) []PersonState {
	states := make([]PersonState, len(people))
	for i, id := range people {
		states[i] = PersonState{ID: id, State: StateUnknown}
		answer, ok := known[id]
		inRange := !at.Start.Before(within.Start) && !at.End.After(within.End)
		if ok && inRange {
			states[i].State = State(at, answer.Busy, answer.Unknown)
		}
	}
	return states
}
