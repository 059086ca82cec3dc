package api_test

import (
	"context"
	"net/http"
	"reflect"
	"testing"

	"questscheduler/fault"
)

func TestPoll_FromCreationToCancellation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(map[string]any{"timezone": "Europe/Berlin", "description": "Bring dice."})
	if made.Status != "OPEN" || made.CreatorID != "gm" || !reflect.DeepEqual(made.ParticipantIDs, []string{"gm", "ana"}) {
		t.Errorf("made %+v", made)
	}
	if made.WinningSlot != nil || made.OriginalSlot != nil || made.GoogleEventID != nil || made.GroupID != nil || made.Votes == nil {
		t.Errorf("what is absent is not null, or a list is: %+v", made)
	}
	if len(made.Slots) != 2 || made.Slots[1].Start != "2026-03-02T18:00:00Z" || made.Slots[1].Source != "poll" {
		t.Errorf("slots %+v", made.Slots)
	}

	slot := made.Slots[1].ID
	path := "/v1/polls/" + made.ID
	var shown pollJSON
	w.want(
		200,
		call{as: "ana", method: "PUT", path: path + "/votes/me", body: map[string]any{"votes": map[string]string{slot: "PREFERRED"}}},
		&shown,
	)
	if len(shown.Votes) != 1 || shown.Votes[0].UserID != "ana" || shown.Votes[0].Votes[slot] != "PREFERRED" ||
		shown.Slots[1].Feasible != 1 || shown.Slots[1].Preferred != 1 {
		t.Errorf("after the vote: %+v %+v", shown.Votes, shown.Slots)
	}

	w.want(200, call{as: "gm", method: "POST", path: path + "/finalize", body: map[string]any{"slot_id": slot, "create_event": false}}, &shown)
	if shown.Status != "FINALIZED" || shown.WinningSlot == nil || shown.WinningSlot.ID != slot || shown.Sync.State != "" {
		t.Errorf("finalised %+v", shown)
	}
	got := w.want(409, call{as: "ana", method: "PUT", path: path + "/votes/me", body: map[string]any{"votes": map[string]string{}}}, nil)
	if got.Error.Code != "CONFLICT" {
		t.Errorf("a vote after the end: %s", got.text)
	}
	w.want(200, call{as: "gm", method: "POST", path: path + "/sync"}, &shown)

	w.want(200, call{as: "gm", method: "POST", path: path + "/cancel"}, &shown)
	if shown.Status != "CANCELLED" || shown.Sync.State != "CANCELLED" || shown.Sync.Cancelled == nil ||
		shown.Sync.Cancelled.Reason != "manual" || shown.WinningSlot == nil {
		t.Errorf("cancelled %+v", shown)
	}
	w.want(200, call{as: "gm", method: "POST", path: path + "/cancel", body: map[string]any{"delete_event": false}}, &shown)

	var journal struct {
		Entries []struct {
			ID, Command, Trace string
			Trigger            string `json:"hint"`
			Who                *string
			Result             struct{ Status string }
		}
	}
	w.want(200, call{as: "gm", method: "GET", path: path + "/journal"}, &journal)
	if len(journal.Entries) != 2 || journal.Entries[0].Result.Status != "CANCELLED" || journal.Entries[1].Result.Status != "FINALIZED" {
		t.Fatalf("journal %+v", journal)
	}
	if first := journal.Entries[1]; first.Trigger != "person" || first.Who == nil || *first.Who != "gm" || first.Trace[:4] != "req_" {
		t.Errorf("the entry does not say who and by which request: %+v", first)
	}
}

func TestPoll_WhoMayWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed, shared := w.newPoll(nil), w.newPoll(map[string]any{"allow_link_sharing": true})
	vote := map[string]any{"votes": map[string]string{}}
	finalize := func(p pollJSON) any { return map[string]any{"slot_id": p.Slots[0].ID, "create_event": false} }
	for _, row := range []struct {
		as, doing string
		method    string
		path      string
		body      any
		status    int
	}{
		{"ana", "a participant reads", "GET", closed.ID, nil, 200},
		{"ben", "an invitee reads", "GET", closed.ID, nil, 200},
		{"eve", "a stranger reads", "GET", closed.ID, nil, 404},
		{"eve", "a stranger with the link reads", "GET", shared.ID, nil, 200},
		{"admin", "an admin reads", "GET", closed.ID, nil, 200},
		{"ben", "an invitee votes", "PUT", closed.ID + "/votes/me", vote, 403},
		{"eve", "a stranger votes", "PUT", closed.ID + "/votes/me", vote, 404},
		{"eve", "a stranger with the link votes", "PUT", shared.ID + "/votes/me", vote, 403},
		{"ana", "a participant finalises", "POST", closed.ID + "/finalize", finalize(closed), 403},
		{"eve", "a stranger finalises", "POST", closed.ID + "/finalize", finalize(closed), 404},
		{"ana", "a participant cancels", "POST", closed.ID + "/cancel", nil, 403},
		{"eve", "a stranger cancels", "POST", closed.ID + "/cancel", nil, 404},
		{"ana", "a participant asks for a sync", "POST", closed.ID + "/sync", nil, 403},
		{"eve", "a stranger asks for a sync", "POST", closed.ID + "/sync", nil, 404},
		{"ana", "a participant reads the journal", "GET", closed.ID + "/journal", nil, 403},
		{"eve", "a stranger reads the journal", "GET", closed.ID + "/journal", nil, 404},
		{"admin", "an admin reads the journal", "GET", closed.ID + "/journal", nil, 200},
	} {
		t.Run(row.doing, func(t *testing.T) {
			before := w.store.writes.Load()
			got := w.do(call{as: row.as, method: row.method, path: "/v1/polls/" + row.path, body: row.body})
			code := map[int]string{200: "", 403: "FORBIDDEN", 404: "NOT_FOUND"}[row.status]
			if got.status != row.status || got.Error.Code != code {
				t.Errorf("status %d, want %d %s: %s", got.status, row.status, code, got.text)
			}
			if w.store.writes.Load() != before {
				t.Error("something was written")
			}
		})
	}
}

func TestInvitee_WhoseAddressIsNotVerified_ReadsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(map[string]any{"pending_invites": []string{"new@example.com"}})
	for verified, status := range map[bool]int{true: 200, false: 404} {
		person := signinPerson("new", "new@example.com", verified)
		w.tokens["new"] = w.token(person)
		w.want(status, call{as: "new", method: "GET", path: "/v1/polls/" + made.ID}, nil)
	}
}

func TestFinalise_WithoutALinkedAccount_SaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	finalize := call{as: "gm", method: "POST", path: "/v1/polls/" + made.ID + "/finalize", body: map[string]any{"slot_id": made.Slots[0].ID}}
	refuse := func(err error) { w.accounts.refuse = func(context.Context) error { return err } }
	refuse(&fault.Error{Kind: fault.Revoked, Code: "token_expired", Message: "Link your calendar again."})
	before := w.store.writes.Load()
	got := w.want(422, finalize, nil)
	if got.Error.Code != "ACCOUNT_REVOKED" || got.Error.Message != "Link your calendar again." || got.Error.Detail.Reason != "token_expired" {
		t.Errorf("answered %s", got.text)
	}
	refuse(fault.New(fault.Unavailable, "Google does not answer."))
	got = w.want(503, finalize, nil)
	if got.Error.Code != "UNAVAILABLE" || got.header.Get("Retry-After") == "" {
		t.Errorf("answered %s with %v", got.text, got.header)
	}
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
}

func TestPolls_AreListedInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made []string
	for range 5 {
		made = append(made, w.newPoll(nil).ID)
	}
	w.want(
		http.StatusCreated,
		call{as: "ana", method: "POST", path: "/v1/polls", body: map[string]any{"title": "hers", "slots": slots("2026-03-01T18:00:00Z")}},
		nil,
	)
	listed := func(as, query string) (ids []string, next string) {
		t.Helper()
		var list struct{ Polls []pollJSON }
		got := w.want(200, call{as: as, method: "GET", path: "/v1/polls?" + query}, &list)
		for _, p := range list.Polls {
			ids = append(ids, p.ID)
		}
		return ids, got.Meta.NextCursor
	}
	first, next := listed("gm", "limit=2")
	w.newPoll(nil) // a new poll moves no page
	second, next := listed("gm", "limit=2&cursor="+next)
	third, next := listed("gm", "limit=2&cursor="+next)
	if got, want := append(append(first, second...), third...),
		[]string{made[4], made[3], made[2], made[1], made[0]}; !reflect.DeepEqual(got, want) || next != "" {
		t.Errorf("listed %v then %q, want %v", got, next, want)
	}
	if ids, _ := listed("ana", "role=creator"); len(ids) != 1 {
		t.Errorf("ana made %v", ids)
	}
	if ids, _ := listed("ana", "status=OPEN"); len(ids) != 7 {
		t.Errorf("ana takes part in %v", ids)
	}
	if ids, _ := listed("gm", "status=CANCELLED"); ids != nil {
		t.Errorf("cancelled %v", ids)
	}
}

func TestCursor_OfAnotherList_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newPoll(nil)
	w.newPoll(nil)
	const all, open, cancelled, created = "/v1/polls?", "/v1/polls?status=OPEN&", "/v1/polls?status=CANCELLED&", "/v1/polls?role=creator&"
	for list, others := range map[string][]string{
		all: {"/v1/notifications?", created, open}, open: {all, cancelled, "/v1/polls?role=creator&status=OPEN&"}, created: {all},
	} {
		next := w.want(200, call{as: "gm", method: "GET", path: list + "limit=1"}, nil).Meta.NextCursor
		w.want(200, call{as: "gm", method: "GET", path: list + "cursor=" + next}, nil)
		for _, other := range others {
			got := w.want(400, call{as: "gm", method: "GET", path: other + "cursor=" + next}, nil)
			if len(got.Error.Detail.Fields) != 1 || got.Error.Detail.Fields[0].Field != "cursor" {
				t.Errorf("a cursor of %s is taken by %s: %s", list, other, got.text)
			}
		}
	}
}
