package poll_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"questscheduler/internal/poll"
)

// A group proves that its members consented to the polls of its own people alone.
func TestConsented_CreatorIsNotInTheGroup_ProvesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		members, pending []any
		want             bool
	}{
		"a member":          {[]any{"gm", "ana", "ben"}, nil, true},
		"removed":           {[]any{"gm", "ana"}, nil, false},
		"invited":           {[]any{"gm", "ana"}, []any{"ben"}, false},
		"without the asked": {[]any{"gm", "ben"}, nil, false},
	} {
		for _, listed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", listed), func(t *testing.T) {
				t.Parallel()
				documents := open(t)
				put(t, documents, poll.GroupPath("party"), map[string]any{
					"creatorId": "gm", "memberIds": row.members, "pendingMemberIds": row.pending,
				})
				put(t, documents, poll.AcceptedPath("party"), map[string]any{"creatorId": "gm", "acceptedIds": []any{"ana"}})
				p := poll.Poll{ID: "p1", CreatorID: "ben", GroupID: "party", ParticipantIDs: []string{"ana"}}
				group, err := poll.LoadGroup(t.Context(), documents, "party")
				if err != nil {
					t.Fatal(err)
				}
				poll.TrustLists(listed, group)
				ofPeople, err := poll.Consented(t.Context(), documents, p, group, []string{"ana", "ben"})
				ofPolls, failure := poll.ConsentedTo(t.Context(), documents, "ana", []poll.Poll{p}, []poll.Group{*group})
				if err != nil || failure != nil || ofPeople["ana"] != row.want || ofPolls["p1"] != row.want || !ofPeople["ben"] {
					t.Errorf("consented are %v, to %v (%v, %v)", ofPeople, ofPolls, err, failure)
				}
			})
		}
	}
}

// ben, an ordinary member of two groups, left one.
func TestAnswers_ByTheGroup_AreOfCreatorsInIt(t *testing.T) {
	t.Parallel()
	documents := open(t)
	for group, members := range map[string][]any{"party": {"gm", "ana", "ben"}, "left": {"gm", "ana"}} {
		put(t, documents, poll.GroupPath(group), map[string]any{"creatorId": "gm", "memberIds": members})
		put(t, documents, poll.AcceptedPath(group), map[string]any{"creatorId": "gm", "acceptedIds": []any{"ana"}})
	}
	for i, group := range []string{"party", "left", "left"} {
		put(t, documents, poll.Path(fmt.Sprint("p", i)), poll.New(poll.Poll{
			CreatorID: "ben", GroupID: group, ParticipantIDs: []string{"ben", "ana"}, CreatedAt: moment.Add(time.Duration(i) * time.Minute),
		}))
	}
	people := []string{"ana"}
	namings, err := poll.LoadNamings(t.Context(), documents, poll.Poll{CreatorID: "ben"}, people, 3)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := namings.Answers(t.Context(), documents, false, people)
	if err != nil || namings.Unanswered("ana", answers) != 2 {
		t.Errorf("%d are unanswered (%v): the answers are %v", namings.Unanswered("ana", answers), err, maps.Collect(maps.All(answers)))
	}
}
