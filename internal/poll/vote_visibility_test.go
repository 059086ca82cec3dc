package poll_test

import (
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Each row is what the web app wrote of who sees votes, and how many of the two
// votes ana sees, who voted, and ben, who chose nothing, and dan, who did neither.
func TestVotesFor_AreThoseThatTheWebAppShows(t *testing.T) {
	t.Parallel()
	votes := []poll.Vote{
		{UserID: "ana", Choices: map[string]string{"one": poll.Feasible}},
		{UserID: "ben"},
	}
	for name, row := range map[string]struct {
		fields        map[string]any
		ana, ben, dan int
	}{
		"nothing":              {map[string]any{}, 2, 2, 2},
		"full visibility":      {map[string]any{"voteVisibility": "full_visibility", "hideVoterIdentities": true}, 2, 2, 2},
		"words of nobody's":    {map[string]any{"voteVisibility": "sometimes", "hideVoterIdentities": true}, 2, 2, 2},
		"hidden, voters known": {map[string]any{"voteVisibility": "hidden", "hideVoterIdentities": false}, 2, 2, 2},
		"hidden": {
			map[string]any{"voteVisibility": "hidden", "hideVoterIdentities": true, "votesAllSubmitted": true, "status": "FINALIZED"},
			1, 1, 0,
		},
		"hidden while voting":     {map[string]any{"voteVisibility": "hidden_while_voting", "hideVoterIdentities": true}, 2, 1, 0},
		"until all, voters known": {map[string]any{"voteVisibility": "hidden_until_all_voted"}, 2, 2, 2},
		"until finalised, known":  {map[string]any{"voteVisibility": "hidden_until_finalized"}, 2, 2, 2},
		"hidden until all voted":  {map[string]any{"voteVisibility": "hidden_until_all_voted", "hideVoterIdentities": true}, 1, 1, 0},
		"all voted": {
			map[string]any{"voteVisibility": "hidden_until_all_voted", "hideVoterIdentities": true, "votesAllSubmitted": true}, 2,
			2, 2,
		},
		"hidden until it is finalised": {map[string]any{"voteVisibility": "hidden_until_finalized", "hideVoterIdentities": true}, 1, 1, 0},
		"finalised": {
			map[string]any{"voteVisibility": "hidden_until_finalized", "hideVoterIdentities": true, "status": "FINALIZED"}, 2, 2, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.fields["creatorId"] = "gm"
			p := poll.Decode(store.Document{Path: poll.Path("p"), Data: row.fields})
			for person, want := range map[string]int{"gm": 2, "ana": row.ana, "ben": row.ben, "dan": row.dan} {
				visible := p.VotesFor(person, votes)
				if len(visible) != want || want == 1 && visible[0].UserID != person {
					t.Errorf("%s sees %v", person, visible)
				}
			}
		})
	}
}

// To say that no slot fits is to have voted.
func TestVotesFor_VoterWhomNoSlotFits_SeesAll(t *testing.T) {
	t.Parallel()
	fields := map[string]any{"voteVisibility": "hidden_while_voting", "hideVoterIdentities": true}
	p := poll.Decode(store.Document{Path: poll.Path("p"), Data: fields})
	votes := []poll.Vote{{UserID: "ana", NoTimesWork: true}, {UserID: "ben"}}
	if ana, ben := p.VotesFor("ana", votes), p.VotesFor("ben", votes); len(ana) != 2 || len(ben) != 1 {
		t.Errorf("ana sees %v, ben %v", ana, ben)
	}
}
