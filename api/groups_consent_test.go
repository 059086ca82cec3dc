package api_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// joinGroup has somebody who was invited to a group accept.
func (w *world) joinGroup(group string, people ...string) {
	w.t.Helper()
	for _, person := range people {
		w.want(200, call{as: person, method: "POST", path: "/v1/groups/" + group + "/accept-invite"}, nil)
	}
}

// groupOf reads a group as somebody sees it.
func (w *world) groupOf(as, group string) (shown groupJSON) {
	w.t.Helper()
	w.want(200, call{as: as, method: "GET", path: "/v1/groups/" + group}, &shown)
	return shown
}

// patchGroup changes gm's group.
func (w *world) patchGroup(group string, body map[string]any) (changed groupJSON) {
	w.t.Helper()
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: body}, &changed)
	return changed
}

func wantPeople(t *testing.T, what string, got groupJSON, members, pending []string) {
	t.Helper()
	if !slices.Equal(got.MemberIDs, members) || !slices.Equal(got.PendingMemberIDs, pending) {
		t.Errorf("%s: members %v and pending %v, want %v and %v", what, got.MemberIDs, got.PendingMemberIDs, members, pending)
	}
}

func TestGroup_PersonAdded_IsPendingUntilTheyAccept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made groupJSON
	w.want(
		http.StatusCreated,
		call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "The party", "member_ids": []string{"gm", "ana", "ana"}}},
		&made,
	)
	wantPeople(t, "made", made, []string{"gm"}, []string{"ana"})
	wantPeople(
		t, "changed", w.patchGroup(made.ID, map[string]any{"add_member_ids": []string{"ben", "ana"}}), []string{"gm"},
		[]string{"ana", "ben"},
	)

	offered := w.newPoll(map[string]any{"group_id": made.ID, "participant_ids": []string{}, "pending_invites": []string{}})
	path := "/v1/polls/" + offered.ID
	vote := map[string]any{"votes": map[string]string{offered.Slots[0].ID: "FEASIBLE"}}
	w.want(404, call{as: "ana", method: "GET", path: path}, nil)
	w.want(404, call{as: "ana", method: "PUT", path: path + "/votes/me", body: vote}, nil)
	c := createCall(map[string]any{"title": "Mine", "slots": slots("2026-03-01T18:00:00Z"), "group_id": made.ID})
	c.as = "ana"
	wantField(t, w.want(400, c, nil), "group_id")

	// One who is invited sees what they are asked to join, and no more.
	shown := w.groupOf("ana", made.ID)
	want := groupJSON{ID: made.ID, Name: "The party", CreatorID: "gm", Invited: true, MemberIDs: []string{}, PendingMemberIDs: []string{}}
	want.Discord.NotifyRoleID, want.Discord.Notifications = "everyone", map[string]bool{}
	if !reflect.DeepEqual(shown, want) {
		t.Errorf("ana sees %+v, want %+v", shown, want)
	}

	w.joinGroup(made.ID, "ana", "ana") // the second time changes nothing
	wantPeople(t, "as ana sees it", w.groupOf("ana", made.ID), []string{"gm", "ana"}, []string{})
	wantPeople(t, "as gm sees it", w.groupOf("gm", made.ID), []string{"gm", "ana"}, []string{"ben"})
	wantPeople(t, "as an admin sees it", w.groupOf("admin", made.ID), []string{"gm", "ana"}, []string{"ben"})
	w.want(200, call{as: "ana", method: "PUT", path: path + "/votes/me", body: vote}, nil)
}

func TestGroup_InvitationDeclined_CannotBeAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	path := "/v1/groups/" + group
	w.patchGroup(group, map[string]any{"add_member_ids": []string{"ben"}})
	w.want(200, call{as: "ben", method: "POST", path: path + "/decline-invite"}, nil)
	wantPeople(t, "then", w.groupOf("gm", group), []string{"gm", "ana"}, []string{})
	for _, c := range []call{
		{as: "ben", method: "GET", path: path},
		{as: "ben", method: "POST", path: path + "/accept-invite"},
		{as: "ben", method: "POST", path: path + "/decline-invite"},
		{as: "ben", method: "POST", path: path + "/leave"},
	} {
		w.want(404, c, nil)
	}
	w.want(409, call{as: "ana", method: "POST", path: path + "/decline-invite"}, nil)
}

func TestGroup_MemberLeaves_AndNoLongerSeesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	path := "/v1/groups/" + group
	offered := w.newPoll(map[string]any{"group_id": group, "participant_ids": []string{}})
	w.want(200, call{as: "ana", method: "POST", path: path + "/leave"}, nil)
	w.want(404, call{as: "ana", method: "GET", path: path}, nil)
	w.want(404, call{as: "ana", method: "GET", path: "/v1/polls/" + offered.ID}, nil)
	w.want(409, call{as: "gm", method: "POST", path: path + "/leave"}, nil)
	wantPeople(t, "then", w.groupOf("gm", group), []string{"gm"}, []string{})
}

// TestGroup_MemberIDs_ChangeByWhatDiffers: the list says who must belong. Members
// whom it names keep their places, and nobody becomes a member by it. Those who are
// invited stay so: only the creator and admins are shown them, in another list.
func TestGroup_MemberIDs_ChangeByWhatDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	w.patchGroup(group, map[string]any{"add_member_ids": []string{"ben"}})
	for _, step := range []struct {
		name             string
		body             map[string]any
		members, pending []string
	}{
		{"a name alone", map[string]any{"name": "Others"}, []string{"gm", "ana"}, []string{"ben"}},
		{"the same people", map[string]any{"member_ids": []string{"ben", "ana"}}, []string{"gm", "ana"}, []string{"ben"}},
		{"the members as they were shown", map[string]any{"member_ids": []string{"gm", "ana"}}, []string{"gm", "ana"}, []string{"ben"}},
		{"another one", map[string]any{"member_ids": []string{"cho", "ana"}}, []string{"gm", "ana"}, []string{"ben", "cho"}},
		{"without a member", map[string]any{"member_ids": []string{"gm", "cho"}}, []string{"gm"}, []string{"ben", "cho"}},
		{
			"one out, one in", map[string]any{"remove_member_ids": []string{"cho", "gm"}, "add_member_ids": []string{"dan"}},
			[]string{"gm"}, []string{"ben", "dan"},
		},
		{"nobody", map[string]any{"member_ids": []string{}}, []string{"gm"}, []string{"ben", "dan"}},
	} {
		wantPeople(t, step.name, w.patchGroup(group, step.body), step.members, step.pending)
	}
	both := call{
		as: "gm", method: "PATCH", path: "/v1/groups/" + group,
		body: map[string]any{"member_ids": []string{"ana"}, "add_member_ids": []string{"ben"}},
	}
	wantField(t, w.want(400, both, nil), "member_ids")
}

func TestGroup_SamePersonAddedAndRemoved_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	before := w.store.writes.Load()
	got := w.want(400, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{
		"add_member_ids": []string{"ben", "cho"}, "remove_member_ids": []string{"ana", "cho"},
	}}, nil)
	wantField(t, got, "remove_member_ids")
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
}

// TestGroup_MaxMembers_HoldsThemBesideItsCreator: the creator does not count, and
// the bound holds only for requests that add somebody.
func TestGroup_MaxMembers_HoldsThemBesideItsCreator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made groupJSON
	everybody := many(500, "p%d")
	w.want(
		http.StatusCreated,
		call{
			as: "gm", method: "POST", path: "/v1/groups",
			body: map[string]any{"name": "The guild", "member_ids": append([]string{"gm"}, everybody...)},
		},
		&made,
	)
	wantPeople(t, "made", made, []string{"gm"}, everybody)
	w.want(
		400,
		call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "The guild", "member_ids": many(501, "p%d")}},
		nil,
	)

	wantPeople(
		t, "invited again", w.patchGroup(made.ID, map[string]any{"member_ids": append([]string{"gm"}, everybody...)}),
		[]string{"gm"}, everybody,
	)
	more := call{as: "gm", method: "PATCH", path: "/v1/groups/" + made.ID, body: map[string]any{"add_member_ids": []string{"one-more"}}}
	w.want(409, more, nil)
	w.patchGroup(made.ID, map[string]any{"remove_member_ids": everybody[:1]})
	w.want(200, more, nil)

	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { // the web app adds people beyond the bound
		return tx.Update(poll.GroupPath(made.ID), poll.Set("memberIds", []any{"gm", "ana", "ben", "cho"}))
	}))
	for _, body := range []map[string]any{
		{"name": "The guild again"}, {"member_ids": []string{"gm", "ana", "ben"}}, {"add_member_ids": []string{"ana"}},
		{"remove_member_ids": []string{"ben"}},
	} {
		w.patchGroup(made.ID, body)
	}
	wantPeople(t, "then", w.groupOf("gm", made.ID), []string{"gm", "ana"}, append(slices.Clone(everybody[1:]), "one-more"))
}

// TestGroup_AppWritesConcurrently_NothingIsLost: the web app adds a person and sets a
// field of its own between a transaction's reads and its commit.
func TestGroup_AppWritesConcurrently_NothingIsLost(t *testing.T) {
	t.Parallel()
	change := map[string]any{"name": "Others", "add_member_ids": []string{"eve"}, "remove_member_ids": []string{"ana"}}
	for _, row := range []struct {
		name             string
		c                call
		members, pending []string
	}{
		{"changed", call{as: "gm", method: "PATCH", body: change}, []string{"gm", "cho"}, []string{"ben", "eve"}},
		{"accepted", call{as: "ben", method: "POST", path: "/accept-invite"}, []string{"gm", "ana", "cho", "ben"}, nil},
		{"declined", call{as: "ben", method: "POST", path: "/decline-invite"}, []string{"gm", "ana", "cho"}, nil},
		{"left", call{as: "ana", method: "POST", path: "/leave"}, []string{"gm", "cho"}, []string{"ben"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			group := w.newGroup()
			w.patchGroup(group, map[string]any{"add_member_ids": []string{"ben"}})
			written := false
			w.store.updating = func(path store.Path) {
				if written || path.Collection() != "questingGroups" {
					return
				}
				written = true
				must(t, w.store.Store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					return tx.Update(path, poll.Set("memberIds", []any{"gm", "ana", "cho"}), poll.Set("theme", "dark"),
						store.Update{Path: store.Field("discord", "channelId"), Value: "77"})
				}))
			}
			row.c.path = "/v1/groups/" + group + row.c.path
			w.want(200, row.c, nil)
			doc, err := w.store.Get(t.Context(), poll.GroupPath(group))
			must(t, err)
			got := poll.DecodeGroup(doc)
			if !slices.Equal(got.MemberIDs, row.members) || !slices.Equal(got.PendingMemberIDs, row.pending) {
				t.Errorf("members %v and pending %v, want %v and %v", got.MemberIDs, got.PendingMemberIDs, row.members, row.pending)
			}
			if !written || doc.Data["theme"] != "dark" || got.Discord.ChannelID != "77" {
				t.Errorf("the app's write is lost: %v", doc.Data)
			}
		})
	}
}

func TestGroup_AppsMembers_CountAsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(poll.GroupPath("of-the-app"), map[string]any{
			"name": "The app's", "creatorId": "gm", "memberIds": []any{"gm", "ana"},
			"discord": map[string]any{"guildId": "1", "channelId": "2"},
		})
	}))
	wantPeople(t, "read", w.groupOf("ana", "of-the-app"), []string{"gm", "ana"}, []string{})
	changed := w.patchGroup("of-the-app", map[string]any{"name": "New", "member_ids": []string{"gm", "ana", "ben"}})
	wantPeople(t, "changed", changed, []string{"gm", "ana"}, []string{"ben"})
	if changed.Discord.ChannelID == nil || *changed.Discord.ChannelID != "2" {
		t.Errorf("its channel is %v", changed.Discord.ChannelID)
	}
	w.joinGroup("of-the-app", "ana", "ben")
}

func TestGroups_OfOneCreator_AreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Scheduler.GroupsPerPerson = 3
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { // the app's count too
		return tx.Create(poll.GroupPath("of-the-app"), map[string]any{"name": "The app's", "creatorId": "gm", "memberIds": []any{"gm"}})
	}))
	ask := func(as string) call {
		return call{as: as, method: "POST", path: "/v1/groups", body: map[string]any{"name": fmt.Sprintf("Party of %s", as)}}
	}
	for range 2 {
		w.want(http.StatusCreated, ask("gm"), nil)
	}
	before := w.store.writes.Load()
	got := w.want(409, ask("gm"), nil)
	if got.Error.Detail.Reason != "too_many_groups" || !strings.Contains(got.Error.Message, "3 groups") {
		t.Errorf("answered %s", got.text)
	}
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
	w.want(http.StatusCreated, ask("ana"), nil)
}

// TestGroups_CreatedAtOnce_AreLimited: all transactions count the person's groups
// before one of them commits.
func TestGroups_CreatedAtOnce_AreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const atOnce, most = 5, 2
	w.options.Scheduler.GroupsPerPerson = most
	var merges atomic.Int64
	var counted sync.WaitGroup
	counted.Add(atOnce)
	w.store.updating = func(path store.Path) {
		if path.Collection() == "questingGroups" && merges.Add(1) <= atOnce {
			counted.Done()
			counted.Wait()
		}
	}
	statuses := make([]int, atOnce)
	var done sync.WaitGroup
	for i := range atOnce {
		done.Go(func() {
			statuses[i] = w.do(call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "Party"}}).status
		})
	}
	done.Wait()
	slices.Sort(statuses)
	made, err := poll.GroupsOf(t.Context(), w.store, "gm", 100)
	must(t, err)
	if !slices.Equal(statuses, []int{201, 201, 409, 409, 409}) || made != most {
		t.Errorf("answered %v, and %d groups are there, want %d", statuses, made, most)
	}
}
