package api_test

import (
	"slices"
	"testing"
)

// TestInvites_OfOthers_AreTheCreatorsAlone goes through every answer that holds a
// poll.
func TestInvites_OfOthers_AreTheCreatorsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := []string{"ben@example.com", "fay@example.com"}
	p := w.newPoll(map[string]any{"pending_invites": all, "allow_link_sharing": true})
	path := "/v1/polls/" + p.ID
	wants := func(answered string, shown, want []string) {
		t.Helper()
		if !slices.Equal(shown, want) || shown == nil {
			t.Errorf("%s has the invitations %q, want %q", answered, shown, want)
		}
	}
	wants("the answer to its creation", p.PendingInvites, all)
	for as, want := range map[string][]string{"gm": all, "admin": all, "ana": {}, "eve": {}, "ben": all[:1]} {
		var shown pollJSON
		w.want(200, call{as: as, method: "GET", path: path}, &shown)
		wants("a poll for "+as, shown.PendingInvites, want)
	}
	for as, role := range map[string]string{"gm": "creator", "ana": "participant"} {
		var list struct{ Polls []pollJSON }
		w.want(200, call{as: as, method: "GET", path: "/v1/polls?role=" + role}, &list)
		wants("a list for "+as, list.Polls[0].PendingInvites, map[string][]string{"gm": all, "ana": {}}[as])
	}
	var inspected struct{ Poll pollJSON }
	w.want(200, call{as: "admin", method: "GET", path: "/admin/polls/" + p.ID}, &inspected)
	wants("an inspection", inspected.Poll.PendingInvites, all)

	listeners := map[string]*listener{"gm": w.listen("gm"), "ana": w.listen("ana")}
	var shown pollJSON
	w.want(
		200,
		call{as: "ana", method: "PUT", path: path + "/votes/me", body: map[string]any{"votes": map[string]string{p.Slots[0].ID: "FEASIBLE"}}},
		&shown,
	)
	wants("the answer to a vote", shown.PendingInvites, []string{})
	for as, l := range listeners {
		l.wantsPoll(as, p.ID) // with the tag of what they may see
	}
	w.want(200, call{as: "ben", method: "POST", path: path + "/accept-invite"}, &shown)
	wants("the answer to who accepts", shown.PendingInvites, []string{})
	w.want(200, call{as: "eve", method: "POST", path: path + "/join"}, &shown)
	wants("the answer to who joins", shown.PendingInvites, []string{})
	w.want(200, call{as: "gm", method: "PATCH", path: path, body: map[string]any{"title": "Session 13"}}, &shown)
	wants("the answer to an edit", shown.PendingInvites, all[1:])
}

// TestInvites_HiddenFromTheReader_AreNotInTheTag: the tag is of what is answered.
func TestInvites_HiddenFromTheReader_AreNotInTheTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newPoll(nil)
	path := "/v1/polls/" + p.ID
	tags := map[string]string{}
	for _, as := range []string{"gm", "admin", "ana", "ben"} {
		tags[as] = w.want(200, call{as: as, method: "GET", path: path}, nil).header.Get("ETag")
	}
	if tags["gm"] != tags["admin"] || tags["gm"] != tags["ben"] || tags["gm"] == tags["ana"] {
		t.Errorf("the tags are %v", tags)
	}
	if got := w.patch(p, "Renamed", tags["ana"]); got.status != 412 {
		t.Errorf("with the tag of a poll without its invitations: %d", got.status)
	}
	if got := w.patch(p, "Renamed", tags["admin"]); got.status != 200 {
		t.Errorf("with the tag of the whole poll: %d", got.status)
	}
}
