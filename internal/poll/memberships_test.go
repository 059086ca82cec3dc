package poll_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// unread answers no read of many documents.
type unread struct{ store.Reader }

var errUnread = errors.New("the store does not answer")

func (unread) GetAll(context.Context, []store.Path) ([]store.Document, error) { return nil, errUnread }

func TestGroupsOfPolls_AreThoseOfThePerson_UntilEnough(t *testing.T) {
	t.Parallel()
	documents := open(t)
	var polls []poll.Poll
	for i := range 3 {
		id := fmt.Sprintf("own%d", i)
		put(t, documents, poll.GroupPath(id), map[string]any{"creatorId": "gm", "memberIds": []any{"ana"}})
		polls = append(polls, poll.Poll{GroupID: id}, poll.Poll{GroupID: id})
	}
	put(t, documents, poll.GroupPath("others"), map[string]any{"creatorId": "ana", "memberIds": []any{"ben"}})
	polls = append(polls, poll.Poll{GroupID: "others"})
	for _, row := range []struct{ enough, found int }{{1, 1}, {9, 3}} {
		found := 0
		for group, err := range poll.GroupsOfPolls(t.Context(), documents, false, "gm", polls) {
			if err != nil || group.CreatorID != "gm" {
				t.Fatalf("%+v, %v", group, err)
			}
			found++
			if found == row.enough {
				break
			}
		}
		if found != row.found {
			t.Errorf("%d groups of at most %d", found, row.enough)
		}
	}
}

func TestGroupsOfPolls_UnreadGroups_AreAnError(t *testing.T) {
	t.Parallel()
	var errs []error
	for _, err := range poll.GroupsOfPolls(t.Context(), unread{open(t)}, false, "gm", []poll.Poll{{GroupID: "g"}}) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], errUnread) {
		t.Errorf("yielded %v", errs)
	}
}
