package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"questscheduler/demo"
)

// TestDemo_SpareAccounts_AreLinkedAndActedIn: several accounts can be linked, and with
// the printed token a client moves and deletes events in each calendar, as its owner
// does.
func TestDemo_SpareAccounts_AreLinkedAndActedIn(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	if len(o.ready.Spares) < 2 {
		t.Fatalf("the spare accounts are %v", o.ready.Spares)
	}
	_, page := newBrowser(t).visit(o.ready.API+"/demo/commands", "none", nil)
	if !strings.Contains(page, o.ready.DiscordGuild) || !strings.Contains(page, o.ready.DiscordChannel) {
		t.Error("the demo does not name guild and channel")
	}
	for i, spare := range o.ready.Spares {
		if !strings.Contains(page, spare.Email) || !strings.Contains(page, spare.GoogleToken) {
			t.Errorf("the demo does not name %s", spare.Email)
		}
		b := newBrowser(t)
		at, _ := b.visit(o.ready.API+"/demo/link?user=gm", "same-origin", nil)
		key, _, _ := strings.Cut(spare.Email, "@")
		at, text := b.visit(at.String(), "same-origin", url.Values{"user": {key}, "decision": {"allow"}})
		id := at.Query().Get("account_id")
		if id == "" {
			t.Fatalf("%s is not linked: %s", spare.Email, text)
		}
		actInCalendar(t, o, spare, id, i)
	}
}

// TestDemo_SecondAccount_IsTheGameMastersToo: it is linked behind the first, with every
// feature, and its token opens its calendar.
func TestDemo_SecondAccount_IsTheGameMastersToo(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	gm := o.ready.Users["gm"]
	if gm.Second == nil || o.ready.Users["ana"].Second != nil {
		t.Fatalf("second accounts: %+v", o.ready.Users)
	}
	answered, err := o.v1("gm", "GET", "/accounts", nil)
	if err != nil {
		t.Fatal(err)
	}
	linked := list(answered["accounts"])
	if len(linked) != 2 || linked[0]["email"] != gm.Email || linked[0]["default"] != true || linked[1]["id"] != gm.Second.AccountID ||
		linked[1]["email"] != gm.Second.Email || fmt.Sprint(linked[1]["features"]) != "[availability mirrors]" {
		t.Errorf("linked: %v", linked)
	}
	actInCalendar(t, o, gm.Second.Account, gm.Second.AccountID, 9)
}

// actInCalendar finalises a new poll in an account's calendar, and moves and deletes
// its event there.
func actInCalendar(t *testing.T, o *outside, spare demo.Account, account string, day int) {
	t.Helper()
	at := func(hour int) string { return fmt.Sprintf("2031-05-%02dT%02d:00:00Z", day+1, hour) }
	poll, err := o.v1("gm", "POST", "/polls", map[string]any{
		"title": spare.Email, "slots": []any{map[string]any{"start": at(10), "end": at(12)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/polls/" + fmt.Sprint(poll["id"])
	finalize := map[string]any{"slot_id": list(poll["slots"])[0]["id"], "account_id": account}
	poll, err = o.v1("gm", "POST", path+"/finalize", finalize)
	if err != nil {
		t.Fatal(err)
	}
	event := o.ready.Google + "/calendar/v3/calendars/primary/events/" + fmt.Sprint(poll["google_event_id"])
	move := map[string]any{"start": map[string]any{"dateTime": at(14)}, "end": map[string]any{"dateTime": at(16)}}
	for _, step := range []struct {
		method string
		body   any
		status int
		want   map[string]any
	}{
		{"PATCH", move, http.StatusOK, map[string]any{"status": "FINALIZED", "sync.state": "RESCHEDULED", "winning_slot.start": at(14)}},
		{"DELETE", nil, http.StatusNoContent, map[string]any{"status": "CANCELLED"}},
	} {
		if got, err := o.try(step.method, event, "Bearer "+spare.GoogleToken, step.body); err != nil || got.status != step.status {
			t.Fatalf("%s: %v, %v", step.method, got, err)
		}
		eventually(t, step.method+" of "+spare.Email, func() error {
			poll, err := o.v1("gm", "GET", path, nil)
			if err != nil {
				return err
			}
			return expect(poll, step.want)
		})
	}
}
