package api_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Who manages a group makes codes for it, a few an hour.
func TestDiscordLinkCode_IsMadeByWhoManagesTheGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group struct{ ID string }
	w.want(201, call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "Party", "member_ids": []any{"cho"}}}, &group)
	w.want(200, call{as: "cho", method: "POST", path: "/v1/groups/" + group.ID + "/accept-invite"}, nil)
	code := func(as string) call {
		return call{as: as, method: "POST", path: "/v1/groups/" + group.ID + "/discord-link-code"}
	}
	var made struct {
		Code      string
		ExpiresAt time.Time `json:"expires_at"`
	}
	w.want(201, code("gm"), &made)
	if !regexp.MustCompile(`^[0-9A-F]{8}$`).MatchString(made.Code) || made.ExpiresAt.IsZero() {
		t.Errorf("made is %+v", made)
	}
	w.want(403, code("cho"), nil)
	err := w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Merge(poll.GroupPath(group.ID), store.Set("memberManaged", true))
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		w.want(201, code("cho"), nil)
	}
	if got := w.do(code("cho")); got.status != 429 || got.Error.Code != "RATE_LIMITED" || got.header.Get("Retry-After") == "" {
		t.Errorf("beyond the bound it is answered with %d %s", got.status, got.text)
	}
	w.want(201, code("gm"), nil)
}

// A code links the caller, once they confirm whom it names; deleting ends the link.
func TestMyDiscord_IsLinkedByACode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code := w.newDiscordCode()
	type link struct {
		Linked   bool
		Username *string
	}
	linked := func(want bool) {
		t.Helper()
		var got link
		w.want(200, call{as: "ana", method: "GET", path: "/v1/me/discord"}, &got)
		if got.Linked != want {
			t.Errorf("linked is %v, want %v", got.Linked, want)
		}
	}
	with := func(as string, confirm bool) call {
		return call{as: as, method: "POST", path: "/v1/me/discord", body: map[string]any{"code": code, "confirm": confirm}}
	}
	linked(false)
	var named link
	w.want(200, with("ana", false), &named)
	if named.Linked || named.Username == nil || *named.Username != "somebody" {
		t.Fatalf("the code is of %+v", named)
	}
	linked(false)
	w.want(200, with("ana", true), nil)
	linked(true)
	w.want(404, with("ben", true), nil)
	w.want(200, call{as: "ana", method: "DELETE", path: "/v1/me/discord"}, nil)
	linked(false)
}
