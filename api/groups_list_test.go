package api_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// groupsPage reads a page of somebody's groups.
func (w *world) groupsPage(as, query string) (groups []groupJSON, bytes int, next string) {
	w.t.Helper()
	var data struct{ Groups []groupJSON }
	got := w.want(200, call{as: as, method: "GET", path: "/v1/groups?" + query}, &data)
	return data.Groups, len(got.Data), got.Meta.NextCursor
}

func TestGroups_Listed_ShowAsToTheirPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newGroupOf("cho")
	asked := w.newGroup()
	w.want(200, call{as: "admin", method: "PATCH", path: "/v1/groups/" + asked, body: map[string]any{"discord": here}}, nil)
	w.patchGroup(asked, map[string]any{"add_member_ids": []string{"ben"}})
	for as, want := range map[string]int{"gm": 2, "ana": 1, "ben": 1, "cho": 1, "eve": 0, "admin": 0} {
		groups, _, next := w.groupsPage(as, "")
		if len(groups) != want || groups == nil || next != "" {
			t.Errorf("%s is listed %d groups, want %d (%q)", as, len(groups), want, next)
		}
		for _, group := range groups {
			if shown := w.groupOf(as, group.ID); !reflect.DeepEqual(group, shown) {
				t.Errorf("%s is listed %+v, and shown %+v", as, group, shown)
			}
		}
	}
	invited, _, _ := w.groupsPage("ben", "")
	want := groupJSON{ID: asked, Name: "The party", CreatorID: "gm", Invited: true, MemberIDs: []string{}, PendingMemberIDs: []string{}}
	want.Discord.NotifyRoleID, want.Discord.Notifications = "everyone", map[string]bool{}
	if !reflect.DeepEqual(invited, []groupJSON{want}) {
		t.Errorf("ben is listed %+v, want %+v", invited, want)
	}
	for _, step := range []struct {
		path   string
		listed int
	}{{"/accept-invite", 1}, {"/leave", 0}} {
		w.want(200, call{as: "ben", method: "POST", path: "/v1/groups/" + asked + step.path}, nil)
		if groups, _, _ := w.groupsPage("ben", ""); len(groups) != step.listed {
			t.Errorf("after %s ben is listed %d groups, want %d", step.path, len(groups), step.listed)
		}
	}
}

// TestGroups_OfManyBytes_ComeInPages: a page ends before 1 MiB, whatever limit asks
// for, and the pages together list every group once.
func TestGroups_OfManyBytes_ComeInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	people := []any{"gm"}
	for i := range 500 {
		people = append(people, fmt.Sprint(strings.Repeat("x", 120), i))
	}
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprintf("group-%02d", i))
	}
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, id := range want {
			if err := tx.Create(poll.GroupPath(id), map[string]any{"name": "Guild", "creatorId": "ana", "memberIds": people}); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, limit := range []int{7, 100} {
		var listed []string
		pages, after := 0, ""
		for {
			groups, bytes, next := w.groupsPage("gm", fmt.Sprintf("limit=%d&cursor=%s", limit, after))
			if len(groups) > limit || bytes > 1<<20+1000 {
				t.Errorf("a page of %d has %d groups of %d bytes", limit, len(groups), bytes)
			}
			for _, group := range groups {
				listed = append(listed, group.ID)
			}
			pages++
			if next == "" || pages > 100 {
				break
			}
			after = next
		}
		if !slices.Equal(listed, want) || pages < 3 {
			t.Errorf("in pages of %d: %d pages list %v", limit, pages, listed)
		}
	}
}

func TestGroups_CursorOfAnotherList_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newGroup()
	w.newGroup()
	_, _, next := w.groupsPage("gm", "limit=1")
	if next == "" {
		t.Fatal("there is no second page")
	}
	w.newPoll(nil)
	w.newPoll(nil)
	polls := w.want(200, call{as: "gm", method: "GET", path: "/v1/polls?limit=1"}, nil)
	for _, path := range []string{"/v1/groups?cursor=" + polls.Meta.NextCursor, "/v1/polls?cursor=" + next, "/v1/groups?cursor=" + next[1:]} {
		wantField(t, w.want(400, call{as: "gm", method: "GET", path: path}, nil), "cursor")
	}
}
