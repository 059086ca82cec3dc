package feed_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/feed"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

func write(t *testing.T, documents store.Store, path store.Path, data map[string]any) {
	t.Helper()
	if err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(path, data) }); err != nil {
		t.Fatal(err)
	}
}

// join has a person join polls over the API.
func join(t *testing.T, documents store.Store, person string, polls ...string) {
	t.Helper()
	for _, id := range polls {
		err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Update(poll.Path(id), poll.Set("joinedIds", []any{person}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func vote(t *testing.T, documents store.Store, pollID, person string) {
	t.Helper()
	write(t, documents, poll.VotePath(pollID, person), map[string]any{
		"voterId": person, "votes": map[string]any{"s1": "FEASIBLE"}, "updatedAt": now,
	})
}

// flood has eve name ana in so many sessions, all newer than others.
func flood(t *testing.T, documents store.Store, count int) {
	t.Helper()
	for i := range count {
		put(t, documents, fmt.Sprintf("eve%04d", i), 1+i%300, map[string]any{
			"creatorId": "eve", "participantIds": []any{"eve", "ana"},
			"createdAt": now.AddDate(0, 1, 0).Add(time.Duration(i) * time.Second), "description": "by eve",
		})
	}
}

// byStatus are the titles in ana's feed without "Session ", sorted, by status.
func byStatus(t *testing.T, s *feed.Service) map[string]string {
	t.Helper()
	listed := map[string][]string{}
	for _, event := range readFeed(t, s, renewed(t, s, "ana")) {
		status := value(t, event, "STATUS")
		listed[status] = append(listed[status], strings.TrimPrefix(value(t, event, "SUMMARY"), "Session "))
	}
	found := map[string]string{}
	for status, titles := range listed {
		slices.Sort(titles)
		found[status] = strings.Join(titles, ", ")
	}
	return found
}

func wantByStatus(t *testing.T, s *feed.Service, want map[string]string) {
	t.Helper()
	if got := byStatus(t, s); !maps.Equal(got, want) {
		t.Errorf("the feed has %q, want %q", got, want)
	}
}

// mine is how ana comes to the poll "mine", older than everything of eve's, and what the feed
// holds of it.
var mine = map[string]struct {
	poll  map[string]any
	after func(t *testing.T, documents store.Store)
	want  string
}{
	"she created it": {poll: map[string]any{"creatorId": "ana"}, want: "CONFIRMED"},
	"she joined":     {after: func(t *testing.T, documents store.Store) { join(t, documents, "ana", "mine") }, want: "CONFIRMED"},
	"she voted":      {after: func(t *testing.T, documents store.Store) { vote(t, documents, "mine", "ana") }, want: "CONFIRMED"},
	"her group's": {poll: map[string]any{"questingGroupId": "party"}, after: func(t *testing.T, documents store.Store) {
		write(t, documents, poll.GroupPath("party"), map[string]any{"creatorId": "gm", "memberIds": []any{"ana"}})
		write(t, documents, poll.AcceptedPath("party"), map[string]any{"creatorId": "gm", "acceptedIds": []any{"ana"}})
	}, want: "CONFIRMED"},
	"named, and she voted in another": {after: func(t *testing.T, documents store.Store) {
		put(t, documents, "open", 1, map[string]any{"status": string(rules.Open)})
		vote(t, documents, "open", "ana")
	}, want: "TENTATIVE"},
	"named by a fellow of a group": {after: func(t *testing.T, documents store.Store) {
		write(t, documents, poll.GroupPath("party"), map[string]any{"creatorId": "ana", "memberIds": []any{"gm"}})
	}, want: "TENTATIVE"},
}

func TestFeed_StrangerNamesThousandTimes_PushesNothingOut(t *testing.T) {
	t.Parallel()
	for name, row := range mine {
		for _, many := range []int{4, 1024} {
			t.Run(fmt.Sprint(name, ", eve ", many), func(t *testing.T) {
				t.Parallel()
				s, documents := newService(t)
				put(t, documents, "mine", 1, row.poll)
				if row.after != nil {
					row.after(t, documents)
				}
				flood(t, documents, many)
				eves := fmt.Sprintf("eve%04d, eve%04d, eve%04d", many-3, many-2, many-1)
				want := map[string]string{"TENTATIVE": eves, row.want: "mine"}
				if row.want == "TENTATIVE" {
					want = map[string]string{"TENTATIVE": eves + ", mine"}
				}
				wantByStatus(t, s, want)
			})
		}
	}
}

// A stranger's client can list anybody in a group.
func TestFeed_ListedInAStrangersGroup_IsOnlyNamed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		listed bool
		want   map[string]string
	}{
		"by a client":             {want: map[string]string{"TENTATIVE": "p1, p2, p3, p4"}},
		"by herself or by nobody": {listed: true, want: map[string]string{"CONFIRMED": "p0, p1", "TENTATIVE": "p2, p3, p4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, documents := newService(t)
			s.MembersListed = row.listed
			write(t, documents, poll.GroupPath("trap"), map[string]any{"creatorId": "eve", "memberIds": []any{"eve", "ana"}})
			for i := range 5 {
				fields := map[string]any{"creatorId": "eve"}
				if i < 2 {
					fields["questingGroupId"] = "trap"
				}
				put(t, documents, fmt.Sprintf("p%d", i), 1+i, fields)
			}
			if !row.listed {
				put(t, documents, "p1", 2, map[string]any{"creatorId": "eva", "questingGroupId": "trap"})
			}
			wantByStatus(t, s, row.want)
		})
	}
}

// party has ana accept the invitation of gm's group, with others as its members.
func party(t *testing.T, documents store.Store, id string, others ...any) {
	t.Helper()
	write(t, documents, poll.GroupPath(id), map[string]any{"creatorId": "gm", "memberIds": append([]any{"gm", "ana"}, others...)})
	write(t, documents, poll.AcceptedPath(id), map[string]any{"creatorId": "gm", "acceptedIds": []any{"ana"}})
}

// A poll keeps its group when its creator leaves, and clients of other rules may name any group.
func TestFeed_CreatorWhoIsNotInTheGroup_IsAStranger(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	party(t, documents, "party", "eve")
	for i := range 5 {
		put(t, documents, fmt.Sprint("p", i), 1+i, map[string]any{
			"creatorId": "eve", "questingGroupId": "party", "description": "by eve",
		})
	}
	wantByStatus(t, s, map[string]string{"CONFIRMED": "p0, p1, p2, p3, p4"})
	party(t, documents, "party")
	wantByStatus(t, s, map[string]string{"TENTATIVE": "p2, p3, p4"})
	for _, event := range readFeed(t, s, renewed(t, s, "ana")) {
		if event.Props.Get("DESCRIPTION") != nil {
			t.Errorf("%s is described", value(t, event, "SUMMARY"))
		}
	}
	vote(t, documents, "p0", "ana")
	wantByStatus(t, s, map[string]string{"CONFIRMED": "p0", "TENTATIVE": "p1, p2, p3, p4"})
}

// Anybody in a group makes polls in it, and a feed keeps few of a group's people.
func TestFeed_PollsOfOrdinaryMembers_AreConsentedTo(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		after func(t *testing.T, documents store.Store)
		eves  int
	}{
		"among the newest":                      {eves: 4},
		"behind the newest, found by its group": {eves: 1024},
		"behind the newest, as another's poll is of the same group": {eves: 1024, after: func(t *testing.T, documents store.Store) {
			put(t, documents, "open", 1, map[string]any{"questingGroupId": "party", "status": "OPEN"})
			join(t, documents, "ana", "open")
		}},
		"behind the newest, of which one is of the same group": {eves: 1024, after: func(t *testing.T, documents store.Store) {
			put(t, documents, "eve1023", 300, map[string]any{
				"creatorId": "eve", "questingGroupId": "party", "createdAt": now.AddDate(1, 0, 0),
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, documents := newService(t)
			party(t, documents, "party", "ben", "cho")
			party(t, documents, "other", "dan")
			flood(t, documents, row.eves)
			put(t, documents, "bens", 1, map[string]any{"creatorId": "ben", "questingGroupId": "party"})
			put(t, documents, "chos", 2, map[string]any{"creatorId": "cho", "questingGroupId": "party"})
			put(t, documents, "gms", 3, map[string]any{"questingGroupId": "party"})
			put(t, documents, "dans", 4, map[string]any{"creatorId": "dan", "questingGroupId": "party"})
			if row.after != nil {
				row.after(t, documents)
			}
			got := byStatus(t, s)
			if got["CONFIRMED"] != "bens, chos, gms" || !strings.HasPrefix(got["TENTATIVE"], "dans, eve") {
				t.Errorf("the feed has %q", got)
			}
		})
	}
}

// What strangers have in the feed, and does not become an acquaintance's.
func TestFeed_OnlyNamed_IsThreeOfEachCreatorAndFifty(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	for i := range 80 {
		put(t, documents, fmt.Sprintf("p%02d", i), 1+i, map[string]any{"creatorId": fmt.Sprintf("eve%02d", i/4)})
	}
	// She is invited to eve's group, has not accepted, and reads a poll of eve's by its link.
	write(t, documents, poll.GroupPath("trap"), map[string]any{"creatorId": "eve19", "memberIds": []any{}, "pendingMemberIds": []any{"ana"}})
	put(t, documents, "link", 1, map[string]any{"creatorId": "eve19", "participantIds": []any{}, "allowLinkSharing": true})
	byCreator, all := map[string]int{}, 0
	for title := range strings.SplitSeq(byStatus(t, s)["TENTATIVE"], ", ") {
		var number int
		if _, err := fmt.Sscanf(title, "p%02d", &number); err != nil {
			t.Fatal(title)
		}
		byCreator[fmt.Sprint(number/4)]++
		all++
	}
	for creator, count := range byCreator {
		if count > 3 {
			t.Errorf("%d sessions of eve%s", count, creator)
		}
	}
	if all != 50 || byCreator["19"] != 3 || byCreator["16"] != 3 {
		t.Errorf("%d sessions, by creator %v", all, byCreator)
	}
}

func TestFeed_Acquaintance_NamesWithoutBound(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	for i := range 60 {
		put(t, documents, fmt.Sprintf("p%02d", i), 1+i, nil)
	}
	if got := byStatus(t, s)["TENTATIVE"]; strings.Count(got, ",") != 2 {
		t.Errorf("of a stranger there is %q", got)
	}
	put(t, documents, "archived", 1, map[string]any{"status": string(rules.Archived)})
	vote(t, documents, "archived", "ana")
	if got := byStatus(t, s)["TENTATIVE"]; strings.Count(got, ",") != 59 {
		t.Errorf("of an acquaintance there is %q", got)
	}
}

func TestFeed_CreatorOfASessionSheJoined_NamesWithoutBound(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	for i := range 6 {
		put(t, documents, fmt.Sprint("p", i), 1+i, nil)
	}
	join(t, documents, "ana", "p0")
	wantByStatus(t, s, map[string]string{"CONFIRMED": "p0", "TENTATIVE": "p1, p2, p3, p4, p5"})
}

// Everything that is shown comes from acquaintances, so no bound leaves a poll out.
func TestFeed_FellowNamesThousandTimes_PushesNothingOut(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "mine", 1, nil)
	join(t, documents, "ana", "mine")
	write(t, documents, poll.GroupPath("party"), map[string]any{"creatorId": "eve", "memberIds": []any{"ana"}})
	flood(t, documents, feed.MaxSessions)
	if got := byStatus(t, s)["CONFIRMED"]; got != "mine" {
		t.Errorf("confirmed are %q", got)
	}
}

// A vote that a deleted poll of the same id left proves nothing, nor do the votes of others,
// or the uid in a document that is not hers.
func TestFeed_AnothersVote_IsNoConsent(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	write(t, documents, poll.EntryPath("p1", "j1"), map[string]any{"creatorId": "gm", "at": now.Add(-time.Hour)})
	write(t, documents, poll.VotePath("p1", "ana"), map[string]any{
		"voterId": "ana", "votes": map[string]any{"old": "FEASIBLE"}, "updatedAt": now,
	})
	put(t, documents, "p1", 1, map[string]any{"creatorId": "eve"})
	put(t, documents, "p2", 2, map[string]any{"creatorId": "eve"})
	write(t, documents, poll.VotePath("p2", "eve"), map[string]any{"voterId": "ana", "updatedAt": now})
	write(t, documents, poll.Path("p2").Doc("basicPolls", "b1").Doc("votes", "ana"), map[string]any{"voterId": "ana", "updatedAt": now})
	put(t, documents, "p3", 3, map[string]any{"creatorId": "eve", "joinedIds": []any{"ana"}, "participantIds": []any{"eve"}})
	put(t, documents, "p4", 4, map[string]any{"creatorId": "eve", "joinedIds": []any{"ben"}})
	put(t, documents, "p5", 5, map[string]any{"creatorId": "eve"})
	wantByStatus(t, s, map[string]string{"TENTATIVE": "p2, p4, p5"}) // three of p1, p2, p4 and p5
}

func TestFeed_OnlyNamed_HasTitleAlone(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	text := map[string]any{"description": "Call this number"}
	put(t, documents, "p1", 1, text)
	put(t, documents, "p2", 2, map[string]any{
		"description": "Called off", "status": string(rules.Cancelled),
		"cancelled": map[string]any{"at": now, "reason": "manual"},
	})
	for _, event := range readFeed(t, s, renewed(t, s, "ana")) {
		if description := event.Props.Get("DESCRIPTION"); description != nil {
			t.Errorf("%s is described: %s", value(t, event, "SUMMARY"), description.Value)
		}
	}
	wantByStatus(t, s, map[string]string{"TENTATIVE": "p1", "CANCELLED": "p2"})
	vote(t, documents, "p1", "ana")
	vote(t, documents, "p2", "ana")
	for _, event := range readFeed(t, s, renewed(t, s, "ana")) {
		if !strings.HasPrefix(value(t, event, "DESCRIPTION"), "Call") {
			t.Errorf("%s is not described", value(t, event, "SUMMARY"))
		}
	}
}

// What polls without anything to show do: they take no place of those that have.
func TestFeed_NothingToShow_TakesNoPlace(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	for i := range 3 {
		put(t, documents, fmt.Sprint("shown", i), 1+i, nil)
		put(t, documents, fmt.Sprint("never", i), 10+i, map[string]any{"winningSlotId": nil, "status": string(rules.Cancelled)})
	}
	wantByStatus(t, s, map[string]string{"TENTATIVE": "shown0, shown1, shown2"})
}

// The reads of a feed under attack do not grow with the polls of the stranger.
func TestFeed_UnderAttack_BoundsItsReads(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "mine", 1, nil)
	vote(t, documents, "mine", "ana")
	flood(t, documents, 2000)
	secret := renewed(t, s, "ana")
	documents.documents.Store(0)
	documents.queries.Store(0)
	readFeed(t, s, secret)
	if read, queries := documents.documents.Load(), documents.queries.Load(); read > 2100 || queries > 30 {
		t.Errorf("%d documents by %d queries", read, queries)
	}
}

// The poll does not change when a person consents, and calendar programs ignore what has no greater
// SEQUENCE.
func TestFeed_TentativeTurnsConfirmed_SequenceGrows(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "p1", 1, nil)
	sequence := func() (number int) {
		t.Helper()
		if _, err := fmt.Sscan(value(t, readFeed(t, s, renewed(t, s, "ana"))[0], "SEQUENCE"), &number); err != nil {
			t.Fatal(err)
		}
		return number
	}
	tentative := sequence()
	vote(t, documents, "p1", "ana")
	if confirmed := sequence(); confirmed <= tentative {
		t.Errorf("%d after %d", confirmed, tentative)
	}
}

// What a feed is read from may have 1 MiB each.
func TestFeed_LargeDocuments_AreNotHeldAtOnce(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	large := strings.Repeat("x", 1<<20-4000)
	for i := range 3 {
		id := fmt.Sprint("p", i)
		put(t, documents, id, 1+i, map[string]any{"field": large, "participantIds": []any{"gm", "ana", "ben"}, "description": "Bring dice"})
		join(t, documents, "ana", id)
	}
	put(t, documents, "text", 9, map[string]any{"creatorId": "ana", "description": strings.Repeat("é", 500_000)})
	polls, err := poll.Sessions(t.Context(), documents, "ana", feed.MaxSessions)
	proven, failure := poll.ProvenPolls(t.Context(), documents, "ana", feed.MaxSessions)
	if err != nil || failure != nil || len(polls) != 4 || len(proven) != 4 {
		t.Fatal(polls, proven, err, failure)
	}
	for _, p := range append(polls, proven...) {
		if held := len(fmt.Sprintf("%+v %+v", p, p.Stored())); held > 40_000 {
			t.Errorf("%s holds %d bytes", p.ID, held)
		}
	}
	for _, event := range readFeed(t, s, renewed(t, s, "ana")) {
		if text := value(t, event, "DESCRIPTION"); !strings.HasPrefix(text, "Bring dice") &&
			!strings.HasPrefix(text, strings.Repeat("é", 2000)+"…") {
			t.Errorf("it is described by %d bytes", len(text))
		}
	}
	documents.most.Store(0)
	for i := range 250 {
		put(t, documents, fmt.Sprintf("many%d", i), 20+i, nil)
		vote(t, documents, fmt.Sprintf("many%d", i), "ana")
	}
	readFeed(t, s, renewed(t, s, "ana"))
	if most := documents.most.Load(); most > 100 {
		t.Errorf("%d documents were read at once", most)
	}
}
