package poll

import (
	"slices"
	"strings"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// VoteVisibility is who sees the votes of others in a poll: by its zero value, every reader. The
// web app alone writes it, and firestore.rules hold clients to it.
type VoteVisibility struct {
	// hidden reports whether the identities of voters are hidden (hideVoterIdentities).
	hidden bool
	// when names the event until which votes are hidden (voteVisibility).
	when string
	// allIn reports whether everybody voted (votesAllSubmitted).
	allIn bool
}

func decodeVoteVisibility(f store.Fields) VoteVisibility {
	return VoteVisibility{f.Bool("hideVoterIdentities"), f.String("voteVisibility"), f.Bool("votesAllSubmitted")}
}

// VotesFor are those of a poll's votes that a reader may see: all, or where others' are hidden
// their own.
func (p Poll) VotesFor(userID string, votes []Vote) []Vote {
	isOwn := func(vote Vote) bool { return vote.UserID == userID }
	if p.CreatorID == userID || p.Votes.shownIn(p.Status) {
		return votes
	}
	if own := slices.IndexFunc(votes, isOwn); p.Votes.when == "hidden_while_voting" && own >= 0 && votes[own].Given() {
		return votes
	}
	return slices.DeleteFunc(slices.Clone(votes), func(vote Vote) bool { return !isOwn(vote) })
}

// InvitesFor are the pending invites that a reader may see: the creator all, anybody else
// their own.
func (p Poll) InvitesFor(userID, email string) []string {
	if p.CreatorID == userID {
		return p.PendingInvites
	}
	return slices.DeleteFunc(slices.Clone(p.PendingInvites), func(invited string) bool {
		return email == "" || !strings.EqualFold(invited, email)
	})
}

// shownIn reports whether every reader sees all votes while the poll is in a status.
func (s VoteVisibility) shownIn(status rules.Status) bool {
	switch s.when {
	case "hidden", "hidden_while_voting":
		return !s.hidden
	case "hidden_until_all_voted":
		return !s.hidden || s.allIn
	case "hidden_until_finalized":
		return !s.hidden || status == rules.Finalized
	default:
		return true
	}
}

// Given reports whether somebody chose a slot, or said that none fits.
func (v Vote) Given() bool { return v.NoTimesWork || len(v.Choices) > 0 }
