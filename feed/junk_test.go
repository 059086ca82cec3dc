package feed_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// junk has eve's client write so many documents, which no rules of the web app refuse.
func junk(t *testing.T, documents store.Store, count int, at func(i int) store.Path, data map[string]any) {
	t.Helper()
	for first := 0; first < count; first += 100 {
		err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			for i := first; i < min(count, first+100); i++ {
				if err := tx.Set(at(i), data); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// forge has eve vote in embedded polls in ana's name, at a time that no vote of hers has.
func forge(t *testing.T, documents store.Store, count int) {
	t.Helper()
	at := func(i int) store.Path {
		holder := poll.Path("eve0000")
		if i%2 == 1 {
			holder = poll.GroupPath("eves")
		}
		return holder.Doc("basicPolls", fmt.Sprint("b", i)).Doc("votes", "eve")
	}
	junk(t, documents, count, at, map[string]any{"voterId": "ana", "updatedAt": now.AddDate(50, 0, 0)})
}

// enlist has eve make groups that say ana is a member, listed before all others.
func enlist(t *testing.T, documents store.Store, person string, count int) {
	t.Helper()
	junk(t, documents, count, func(i int) store.Path { return poll.GroupPath(fmt.Sprintf("0%04d", i)) },
		map[string]any{"creatorId": "eve0", "memberIds": []any{"eve0", person}})
}

func TestFeed_StrangerForgesVotes_PushesNothingOut(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "mine", 1, nil)
	vote(t, documents, "mine", "ana")
	flood(t, documents, 1024)
	forge(t, documents, 1100)
	wantByStatus(t, s, map[string]string{"CONFIRMED": "mine", "TENTATIVE": "eve1021, eve1022, eve1023"})
}

// What is read of forged votes does not grow with their number.
func TestFeed_StrangerForgesVotes_BoundsItsReads(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "mine", 1, nil)
	vote(t, documents, "mine", "ana")
	flood(t, documents, 4)
	forge(t, documents, 6000)
	secret := renewed(t, s, "ana")
	documents.documents.Store(0)
	readFeed(t, s, secret)
	if read := documents.documents.Load(); read > 5100 {
		t.Errorf("%d documents", read)
	}
}

func TestFeed_StrangerListsHerInGroups_PushesNothingOut(t *testing.T) {
	t.Parallel()
	party := map[string]any{"creatorId": "gm", "memberIds": []any{"gm", "ana"}}
	inParty := map[string]any{"questingGroupId": "party"}
	const confirmed, tentative = "CONFIRMED", "TENTATIVE"
	for name, row := range map[string]struct {
		groups, sessions int
		poll             map[string]any
		after            func(t *testing.T, documents store.Store)
		want             string
	}{
		"her group's":                   {1100, 0, inParty, nil, confirmed},
		"her group's, of many sessions": {900, 1024, inParty, nil, confirmed},
		"named by a fellow":             {900, 4, nil, nil, tentative},
		"named by a fellow, of many":    {900, 1024, nil, nil, tentative},
		"her group's, where she voted once": {1100, 1024, inParty, func(t *testing.T, documents store.Store) {
			put(t, documents, "open", 1, map[string]any{"questingGroupId": "party", "status": "OPEN"})
			vote(t, documents, "open", "ana")
		}, confirmed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, documents := newService(t)
			write(t, documents, poll.GroupPath("party"), party)
			write(t, documents, poll.AcceptedPath("party"), map[string]any{"creatorId": party["creatorId"], "acceptedIds": []any{"ana"}})
			put(t, documents, "mine", 1, row.poll)
			if row.poll == nil { // older ones than three others of hers
				for i := range 3 {
					put(t, documents, fmt.Sprint("more", i), 2+i, map[string]any{"createdAt": now.Add(time.Duration(i) * time.Minute)})
				}
			}
			if row.after != nil {
				row.after(t, documents)
			}
			flood(t, documents, row.sessions)
			enlist(t, documents, "ana", row.groups)
			want := map[string]string{}
			if row.sessions > 0 {
				want[tentative] = fmt.Sprintf("eve%04d, eve%04d, eve%04d", row.sessions-3, row.sessions-2, row.sessions-1)
			}
			if row.want == confirmed {
				want[confirmed] = "mine"
			} else {
				want[tentative] += ", mine, more0, more1, more2"
			}
			wantByStatus(t, s, want)
		})
	}
}

// A poll can be of a group that the person does not belong to, and only its members know each other.
// No document below a group is one.
func TestFeed_PollsOfNoGroupOfHers_AreAStrangers(t *testing.T) {
	t.Parallel()
	listing := map[string]any{"creatorId": "eve", "memberIds": []any{"eve", "ana"}}
	for name, group := range map[string]string{"another's": "eves", "none": "gone", "below a group": "eves/basicPolls/b1", "no path": "/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, documents := newService(t)
			write(t, documents, poll.GroupPath("eves"), map[string]any{
				"creatorId": "eve", "memberIds": []any{"eve"}, "pendingMemberIds": []any{"ana"},
			})
			write(t, documents, poll.GroupPath("eves").Doc("basicPolls", "b1"), listing)
			for i := range 5 {
				put(t, documents, fmt.Sprint("p", i), 1+i, map[string]any{"creatorId": "eve", "questingGroupId": group})
			}
			wantByStatus(t, s, map[string]string{"TENTATIVE": "p2, p3, p4"})
		})
	}
}

// A group may have any number of members, of whom a feed keeps few that made no poll for the person.
func TestFeed_FellowBehindALargeGroup_IsAcquainted(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	members := []any{"ana"}
	for i := range 10_000 {
		members = append(members, fmt.Sprintf("x%05d", i))
	}
	write(t, documents, poll.GroupPath("0000"), map[string]any{"creatorId": "eve0", "memberIds": members})
	write(t, documents, poll.GroupPath("party"), map[string]any{"creatorId": "fay", "memberIds": []any{"ana", "gm"}})
	write(t, documents, poll.AcceptedPath("0000"), map[string]any{"creatorId": "eve0", "acceptedIds": []any{"ana"}})
	write(t, documents, poll.AcceptedPath("party"), map[string]any{"creatorId": "fay", "acceptedIds": []any{"ana"}})
	for i := range 5 {
		put(t, documents, fmt.Sprint("p", i), 1+i, nil)
	}
	wantByStatus(t, s, map[string]string{"TENTATIVE": "p0, p1, p2, p3, p4"})
}
