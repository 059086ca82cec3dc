package api_test

import "testing"

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
