package api_test

import (
	"net/http"
	"reflect"
	"testing"
)

type groupJSON struct {
	ID, Name  string
	CreatorID string   `json:"creator_id"`
	MemberIDs []string `json:"member_ids"`
	// PendingMemberIDs are given to creators and admins alone.
	PendingMemberIDs []string `json:"pending_member_ids"`
	Invited          bool
	Discord          struct {
		GuildID       *string `json:"guild_id"`
		ChannelID     *string `json:"channel_id"`
		NotifyRoleID  string  `json:"notify_role_id"`
		Notifications map[string]bool
	}
}

func TestGroup_CreateReadUpdate_ShowsTheChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made, shown, changed groupJSON
	w.want(
		http.StatusCreated,
		call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "The party", "member_ids": []string{"ana"}}},
		&made,
	)
	w.joinGroup(made.ID, "ana")
	w.want(200, call{as: "admin", method: "PATCH", path: "/v1/groups/" + made.ID, body: map[string]any{
		"discord": map[string]any{"guild_id": "1", "channel_id": "22", "notifications": map[string]bool{"voteSubmitted": true}},
	}}, &made)
	if made.CreatorID != "gm" || !reflect.DeepEqual(made.MemberIDs, []string{"gm", "ana"}) ||
		made.Discord.NotifyRoleID != "everyone" || !made.Discord.Notifications["voteSubmitted"] {
		t.Errorf("made %+v", made)
	}
	w.want(200, call{as: "ana", method: "GET", path: "/v1/groups/" + made.ID}, &shown)
	if !reflect.DeepEqual(made, shown) {
		t.Errorf("made %+v, read %+v", made, shown)
	}
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + made.ID, body: map[string]any{"name": "The others"}}, &changed)
	shown.Name = "The others"
	if !reflect.DeepEqual(changed, shown) {
		t.Errorf("changed %+v, want %+v", changed, shown)
	}

	// Its members see its polls, and vote in them.
	withGroup := w.newPoll(map[string]any{"group_id": made.ID, "participant_ids": []string{}})
	if withGroup.GroupID == nil || *withGroup.GroupID != made.ID {
		t.Errorf("the poll's group is %v", withGroup.GroupID)
	}
	w.want(
		200,
		call{
			as: "ana", method: "PUT", path: "/v1/polls/" + withGroup.ID + "/votes/me",
			body: map[string]any{"votes": map[string]string{withGroup.Slots[0].ID: "FEASIBLE"}},
		},
		nil,
	)
}

func TestGroup_WhoMayWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/v1/groups/" + w.newGroup()
	before := w.store.writes.Load()
	for _, row := range []struct {
		as, method string
		status     int
	}{{"ana", "GET", 200}, {"eve", "GET", 404}, {"ana", "PATCH", 403}, {"eve", "PATCH", 404}, {"admin", "GET", 200}} {
		c := call{as: row.as, method: row.method, path: path}
		if row.method == "PATCH" {
			c.body = map[string]any{"name": "Mine now"}
		}
		w.want(row.status, c, nil)
	}
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
}
