package transition

import (
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// What people do for themselves is no transition of the poll's state: nothing of it is
// journaled or announced, and the card alone changes.

// Vote writes a person's vote in place of an earlier one, and the counts in slots. It leaves the
// poll with the participants and invites of after, by which the person may come to take part.
// known are those who are recorded as named.
func (s *Step) Vote(after poll.Poll, vote poll.Vote, known []string, slots []poll.Slot) {
	s.countVotes(slots, append(s.votesWithout(vote.UserID), vote))
	if !s.ChangeMembers(after, vote.UserID, known, true) {
		s.Card = &s.Poll
	}
	s.Writes.Merge(poll.VotePath(s.Poll.ID, vote.UserID), poll.VoteUpdates(vote)...)
}

// Leave removes a participant, with their vote.
func (s *Step) Leave(personID string, known []string, slots []poll.Slot) {
	s.countVotes(slots, s.votesWithout(personID))
	s.Writes.Delete(poll.VotePath(s.Poll.ID, personID))
	s.setNamed(known, without(Named(known, s.Poll, s.Now), personID))
	after := s.Poll
	after.ParticipantIDs, after.UpdatedAt = without(after.ParticipantIDs, personID), store.Instant(s.Now)
	s.Edit(after.WithoutLeft())
}

// ChangeMembers leaves the poll with the participants and invites of after, and reports whether
// they changed. With joins, the person takes part by choice: that is recorded, and they no longer
// count as named.
func (s *Step) ChangeMembers(after poll.Poll, personID string, known []string, joins bool) (changed bool) {
	if joins {
		after = s.join(after, personID, known)
	} else {
		s.setNamed(known, Named(known, s.Poll, s.Now))
	}
	changed = !slices.Equal(s.Poll.ParticipantIDs, after.ParticipantIDs) || !slices.Equal(s.Poll.PendingInvites, after.PendingInvites)
	if changed {
		after.UpdatedAt = store.Instant(s.Now)
		s.Edit(after)
	}
	return changed
}

// join records that a person joined or voted, and was not only named, and returns the poll that it
// leaves. A new poll is marked as edited, or the next reader would name them again.
func (s *Step) join(after poll.Poll, personID string, known []string) poll.Poll {
	s.setNamed(known, without(Named(known, s.Poll, s.Now), personID))
	after = after.Joined(personID)
	if IsNew(s.Poll, s.Now) {
		after.UpdatedAt = store.Instant(s.Now)
	}
	s.After = &after
	return after
}

func (s *Step) votesWithout(personID string) []poll.Vote {
	return slices.DeleteFunc(slices.Clone(s.Votes), func(vote poll.Vote) bool { return vote.UserID == personID })
}

// countVotes updates the counts in slots, by the votes that every reader of the poll may see. Our own
// readers count anew, and clients from the votes.
func (s *Step) countVotes(slots []poll.Slot, votes []poll.Vote) {
	votes = s.Poll.VotesFor("", votes)
	for _, slot := range slots {
		feasible, preferred := poll.Count(votes, slot.ID)
		if feasible != slot.Feasible || preferred != slot.Preferred {
			s.Writes.Update(poll.SlotPath(s.Poll.ID, slot.ID),
				store.Update{Path: store.Field("stats", "feasible"), Value: feasible},
				store.Update{Path: store.Field("stats", "preferred"), Value: preferred})
		}
	}
}

func without(people []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(people), func(other string) bool { return other == id })
}
