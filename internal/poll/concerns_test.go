package poll_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
)

func TestConcerning_ManyOfEachKind_LeaveRoomToTheNext(t *testing.T) {
	t.Parallel()
	documents := open(t)
	write := func(kind string, n int, p poll.Poll) {
		for i := range n {
			p.CreatedAt = moment.Add(time.Duration(i) * time.Second)
			put(t, documents, poll.Path(fmt.Sprintf("%s%03d", kind, i)), poll.New(p))
		}
	}
	group := func(id, creator string, members ...any) {
		put(t, documents, poll.GroupPath(id), map[string]any{"creatorId": creator, "memberIds": members})
	}
	write("made", 120, poll.Poll{CreatorID: "gm"})
	write("joined", 120, poll.Poll{CreatorID: "ana", ParticipantIDs: []string{"gm"}})
	write("others", 3, poll.Poll{CreatorID: "ana", ParticipantIDs: []string{"ana"}})
	group("zz", "gm")
	write("own-group", 5, poll.Poll{CreatorID: "ana", GroupID: "zz"})
	for i := range 30 {
		id := fmt.Sprintf("aa%02d", i)
		group(id, "eve", "gm")
		write(id+"-", 50, poll.Poll{CreatorID: "eve", GroupID: id})
	}
	found, err := poll.Concerning(t.Context(), documents, "gm")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, p := range found {
		kind := p.ID[:4]
		if p.CreatorID == "eve" {
			kind = p.ID[:2] // each of another group
		}
		count[kind]++
	}
	same(t, "what is listed", count, map[string]int{"made": 50, "join": 30, "own-": 1, "aa": 19})
	same(t, "the first", found[0].ID, "made119")
	same(t, "the first of the next kind", found[50].ID, "joined119")
}

// TestConcerning_LargeGroup_LeavesRoomToOthers: a stranger's group has more polls
// than there is room for, and is asked first.
func TestConcerning_LargeGroup_LeavesRoomToOthers(t *testing.T) {
	t.Parallel()
	documents := open(t)
	write := func(group string, n int) {
		put(t, documents, poll.GroupPath(group), map[string]any{"creatorId": "eve", "memberIds": []any{"gm"}})
		for i := range n {
			p := poll.Poll{CreatorID: "eve", GroupID: group, CreatedAt: moment.Add(time.Duration(i) * time.Second)}
			put(t, documents, poll.Path(fmt.Sprintf("%s%03d", group, i)), poll.New(p))
		}
	}
	write("aa", 200)
	write("bb", 1)
	write("cc", 60)
	found, err := poll.Concerning(t.Context(), documents, "gm")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, p := range found {
		count[p.GroupID]++
	}
	same(t, "what is listed", count, map[string]int{"aa": 33, "bb": 1, "cc": 60})
}

// TestConcerning_GroupPollsListedBefore_TakeNoRoom: the newest polls of a group are
// the person's own anyway.
func TestConcerning_GroupPollsListedBefore_TakeNoRoom(t *testing.T) {
	t.Parallel()
	documents := open(t)
	put(t, documents, poll.GroupPath("party"), map[string]any{"creatorId": "ana", "memberIds": []any{"gm"}})
	for i := range 110 {
		p := poll.Poll{CreatorID: "gm", ParticipantIDs: []string{"gm"}, GroupID: "party", CreatedAt: moment.Add(time.Duration(i) * time.Second)}
		if i < 10 {
			p.CreatorID, p.ParticipantIDs = "ana", nil
		}
		put(t, documents, poll.Path(fmt.Sprintf("p%03d", i)), poll.New(p))
	}
	found, err := poll.Concerning(t.Context(), documents, "gm")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, p := range found {
		ids[p.ID] = true
	}
	if len(found) != poll.MostConcerning || len(ids) != len(found) || !ids["p010"] {
		t.Errorf("%d are listed, %d of them different", len(found), len(ids))
	}
}

func TestLoadWithGroups_GivesEachAsItIs(t *testing.T) {
	t.Parallel()
	documents := open(t)
	put(t, documents, poll.GroupPath("party"), map[string]any{"creatorId": "gm", "memberIds": []any{"cho"}})
	for id, group := range map[string]string{"none": "", "party": "party", "gone": "gone", "impossible": "a/b"} {
		put(t, documents, poll.Path(id), poll.New(poll.Poll{CreatorID: "gm", GroupID: group}))
	}
	ids := []string{"party", "none", "missing", "gone", "impossible"}
	loaded, err := poll.LoadWithGroups(t.Context(), documents, ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range loaded {
		if p.ID != ids[i] || (p.Poll == nil) != (p.ID == "missing") || (p.Group != nil) != (p.ID == "party") {
			t.Errorf("%s is given as %+v", ids[i], p)
		}
		if p.Concerns("gm") != (p.ID != "missing") || p.Concerns("cho") != (p.ID == "party") {
			t.Errorf("%s concerns others than it should", p.ID)
		}
		for _, who := range []string{"gm", "cho", "eve"} {
			if listed := slices.Contains(p.People(), who); listed != p.Concerns(who) {
				t.Errorf("%s concerns %s: %t; that they are listed: %t", p.ID, who, !listed, listed)
			}
		}
	}
}
