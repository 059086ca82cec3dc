package main

import (
	"context"
	"net/http"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

// The requests of the examples, in the order in which they are made. gm leads The Party
// with ana and ben; cho plays with them, and is in no group. Session 11 is their poll.

func (w *exampleWorld) health() {
	w.show(ask{operation: "health"})
	w.show(ask{operation: "health-alias"})
	w.show(ask{operation: "ready"})
}

func (w *exampleWorld) accounts() {
	w.show(ask{as: "gm", operation: "list-accounts"})
	w.show(ask{as: "gm", operation: "get-account", at: []string{"{list-accounts.accounts.0.id}"}})
	w.show(ask{as: "gm", operation: "list-account-calendars", at: []string{"{list-accounts.accounts.0.id}"}})
	w.show(ask{as: "gm", operation: "link-account", body: `{}`})
	w.prepare("account-of-ana", ask{as: "ana", operation: "list-accounts"})
}

func (w *exampleWorld) group() {
	w.show(ask{as: "gm", operation: "create-group", body: `{"name": "The Party", "member_ids": ["ana", "ben"]}`})
	at := []string{"{create-group.id}"}
	w.show(ask{as: "ana", operation: "accept-group-invite", at: at})
	w.prepare("accepted", ask{as: "ben", operation: "accept-group-invite", at: at})
	w.show(ask{as: "gm", operation: "update-group", at: at, body: `{"add_member_ids": ["cho"]}`})
	w.show(ask{as: "cho", operation: "decline-group-invite", at: at})
	w.prepare("channel", ask{as: demo.Admin, operation: "update-group", at: at,
		body: `{"discord": {"guild_id": "` + demo.GuildID + `", "channel_id": "` + demo.ChannelID + `", "notify_role_id": "everyone"}}`})
	w.show(ask{as: "ana", operation: "get-group", at: at})
	w.show(ask{as: "ana", operation: "list-groups"})
}

// session11 are three evenings.
const session11 = `{
	"title": "Session 11: The Long Road", "timezone": "Europe/Berlin",
	"slots": [
		{"start": "2026-03-06T18:00:00Z", "end": "2026-03-06T22:00:00Z"},
		{"start": "2026-03-07T18:00:00Z", "end": "2026-03-07T22:00:00Z"}
	],
	"participant_ids": ["ana"], "pending_invites": ["cho@party.example"], "group_id": "{create-group.id}"
}`

func (w *exampleWorld) poll() {
	w.show(ask{as: "gm", operation: "create-poll", body: session11, headers: map[string]string{"Idempotency-Key": "session-11-of-the-party"}})
	at := []string{"{create-poll.id}"}
	w.show(ask{as: "gm", operation: "update-poll", at: at, body: `{"description": "Bring dice."}`})
	w.show(ask{as: "cho", operation: "accept-invite", at: at})
	w.show(ask{as: "ana", operation: "vote", at: at,
		body: `{"votes": {"{create-poll.slots.0.id}": "PREFERRED", "{create-poll.slots.1.id}": "FEASIBLE"}}`})
	w.prepare("voted", ask{as: "cho", operation: "vote", at: at, body: `{"votes": {"{create-poll.slots.0.id}": "FEASIBLE"}}`})
}

// otherPoll is Session 12, which cho is not sure about.
func (w *exampleWorld) otherPoll() {
	w.prepare("session-12", ask{as: "gm", operation: "create-poll", body: `{
		"title": "Session 12: The Sunken Keep", "timezone": "Europe/Berlin",
		"slots": [{"start": "2026-03-13T18:00:00Z", "end": "2026-03-13T22:00:00Z"}],
		"pending_invites": ["cho@party.example"], "allow_link_sharing": true
	}`})
	at := []string{"{session-12.id}"}
	w.show(ask{as: "cho", operation: "decline-invite", at: at})
	w.show(ask{as: "cho", operation: "join-poll", at: at})
	w.show(ask{as: "cho", operation: "leave-poll", at: at})
	w.show(ask{as: "gm", operation: "list-polls", query: "role=creator&status=OPEN"})
}

func (w *exampleWorld) availability() {
	w.show(ask{as: "ana", operation: "set-availability-sharing", body: `{"share": true}`})
	w.show(ask{as: "ana", operation: "get-availability-sharing"})
	w.googleOf("ana", "POST", "", map[string]any{
		"summary": "Choir", "start": map[string]any{"dateTime": "2026-03-07T19:00:00Z"},
		"end": map[string]any{"dateTime": "2026-03-07T21:00:00Z"},
	})
	w.show(ask{as: "ana", operation: "own-availability", query: "start=2026-03-06T00:00:00Z&end=2026-03-09T00:00:00Z"})
	w.show(ask{as: "gm", operation: "poll-availability", at: []string{"{create-poll.id}"}})
}

// session finalises Session 11, whose event is then moved in the calendar, twice.
func (w *exampleWorld) session() {
	at := []string{"{create-poll.id}"}
	w.show(ask{as: "gm", operation: "finalize-poll", at: at, body: `{"slot_id": "{create-poll.slots.0.id}"}`,
		headers: map[string]string{"Idempotency-Key": "first-evening-of-session-11"}})
	w.show(ask{as: demo.Admin, operation: "inspect-poll", at: at})
	w.moveSession("2026-03-08T17:00:00Z", "2026-03-08T21:00:00Z")
	w.show(ask{as: "ana", operation: "get-poll", at: at})
	w.show(ask{as: "gm", operation: "restore-original-time", at: at})
	w.moveSession("2026-03-06T19:00:00Z", "2026-03-06T23:00:00Z")
	w.prepare("moved", ask{as: "gm", operation: "get-poll", at: at})
	w.show(ask{as: "gm", operation: "accept-new-time", at: at, body: `{"fingerprint": "{moved.sync.fingerprint}"}`})
	w.show(ask{as: "gm", operation: "sync-poll", at: at})
	w.show(ask{as: "gm", operation: "sync-status"})
	w.show(ask{as: "gm", operation: "list-journal", at: at, query: "limit=1"})
}

func (w *exampleWorld) notifications() {
	w.show(ask{as: "ana", operation: "list-notifications", query: "limit=2"})
	w.show(ask{as: "ana", operation: "read-notification", at: []string{"{list-notifications.notifications.0.id}"}})
	w.show(ask{as: "ana", operation: "read-all-notifications"})
	w.showStream()
}

// calendars: two events are deleted while pushes are lost and the sync token has expired,
// so that a person must confirm what it means.
func (w *exampleWorld) calendars() {
	w.prepare("session-12-finalised", ask{
		as: "gm", operation: "finalize-poll", at: []string{"{session-12.id}"}, body: `{"slot_id": "{session-12.slots.0.id}"}`,
	})
	w.plant("push", map[string]any{"drop": true})
	w.googleOf("gm", "DELETE", w.text("{moved.google_event_id}"), nil)
	w.googleOf("gm", "DELETE", w.text("{session-12-finalised.google_event_id}"), nil)
	w.sim("POST", "expire-sync-tokens", nil)
	w.prepare("lost", ask{as: "gm", operation: "sync-poll", at: []string{"{create-poll.id}"}})
	w.heal()
	w.show(ask{as: "gm", operation: "account-sync-status", at: []string{"{list-accounts.accounts.0.id}"}})
	w.show(ask{as: "gm", operation: "confirm-cancellations", at: []string{"{account-sync-status.calendars.0.key}"},
		body: `{"poll_ids": ["{create-poll.id}"]}`})
}

func (w *exampleWorld) lifecycle() {
	at := []string{"{create-poll.id}"}
	w.show(ask{as: "gm", operation: "reopen-poll", at: at})
	w.prepare("again", ask{as: "gm", operation: "finalize-poll", at: at, body: `{"slot_id": "{create-poll.slots.1.id}"}`})
	w.show(ask{as: "gm", operation: "cancel-poll", at: at, body: `{"delete_event": true}`})
	w.show(ask{as: "gm", operation: "archive-poll", at: at})
	w.show(ask{as: "gm", operation: "unarchive-poll", at: at})
	w.show(ask{as: "gm", operation: "delete-poll", at: []string{"{session-12.id}"}})
}

// mirrors: the second account of gm shows when the first is busy.
func (w *exampleWorld) mirrors() {
	w.show(ask{as: "gm", operation: "create-policy", body: `{"name": "Work and play"}`})
	w.show(ask{as: "gm", operation: "set-policy-edges", at: []string{"{create-policy.id}"}, body: `{"edges": [
		{"from_account_id": "{list-accounts.accounts.0.id}", "to_account_id": "{list-accounts.accounts.1.id}", "detail": "BUSY"}
	]}`})
	w.show(ask{as: "gm", operation: "get-policy", at: []string{"{create-policy.id}"}})
	w.show(ask{as: "gm", operation: "list-policies"})
	w.show(ask{as: "gm", operation: "rename-policy", at: []string{"{create-policy.id}"}, body: `{"name": "Work, play"}`})
	w.show(ask{as: "gm", operation: "create-event", body: `{
		"account_id": "{list-accounts.accounts.0.id}", "title": "Paint miniatures", "timezone": "Europe/Berlin",
		"start_ts": "2026-03-09T17:00:00Z", "end_ts": "2026-03-09T19:00:00Z"
	}`})
	at := []string{"{create-event.canonical_event_id}"}
	w.show(ask{as: "gm", operation: "get-event", at: at})
	w.show(ask{as: "gm", operation: "list-events", query: "start=2026-03-09T00:00:00Z&end=2026-03-10T00:00:00Z"})
	w.show(ask{as: "gm", operation: "sync-journal", query: "limit=1"})
	w.show(ask{as: "gm", operation: "update-event", at: at, body: `{"start_ts": "2026-03-09T18:00:00Z", "end_ts": "2026-03-09T20:00:00Z"}`})
	w.show(ask{as: "gm", operation: "delete-event", at: at})
	w.show(ask{as: "gm", operation: "event-journal", at: at, query: "limit=1"})
	w.show(ask{as: "gm", operation: "delete-policy", at: []string{"{create-policy.id}"}})
}

func (w *exampleWorld) groupEvents() {
	w.show(ask{
		as: "ana", operation: "connect-group-account", at: []string{"{create-group.id}"},
		body: `{"account_id": "{account-of-ana.accounts.0.id}"}`,
	})
	w.show(ask{as: "ana", operation: "list-group-connections", at: []string{"{create-group.id}"}})
	w.show(ask{as: "ana", operation: "create-group-event", at: []string{"{create-group.id}"}, body: `{
		"title": "Game fair", "start": "2026-03-14T10:00:00+01:00", "end": "2026-03-14T16:00:00+01:00",
		"timezone": "Europe/Berlin", "location": "Hall 3"
	}`})
	at := []string{"{create-group.id}", "{create-group-event.id}"}
	w.show(ask{as: "ana", operation: "get-group-event", at: at})
	w.show(ask{as: "ana", operation: "list-group-events", at: at[:1]})
	w.show(ask{as: "ana", operation: "update-group-event", at: at, body: `{"location": "Hall 5"}`})
	w.show(ask{as: "ana", operation: "delete-group-event", at: at})
	w.show(ask{
		as: "ana", operation: "disconnect-group-account", at: []string{"{create-group.id}", "{account-of-ana.accounts.0.id}"},
		query: "delete_events=true",
	})
}

func (w *exampleWorld) admin() {
	session := []string{"{create-poll.id}"}
	w.show(ask{as: demo.Admin, operation: "admin-sync-poll", at: session})
	w.show(ask{as: demo.Admin, operation: "resend-announcement", at: session})
	w.show(ask{as: demo.Admin, operation: "list-watches", query: "limit=1"})
	w.show(ask{as: demo.Admin, operation: "channel-status", query: "limit=1"})
	w.show(ask{as: demo.Admin, operation: "register-watches"})
	w.show(ask{as: demo.Admin, operation: "force-register-channels"})
	w.show(ask{as: demo.Admin, operation: "reload-mappings"})
	w.failWork()
	w.show(ask{as: demo.Admin, operation: "retry-task", at: []string{"{failing-work.id}"}})
}

func (w *exampleWorld) feed() {
	w.show(ask{as: "ana", operation: "create-feed"})
	w.show(ask{as: "ana", operation: "delete-feed"})
}

func (w *exampleWorld) discord() {
	w.t.Helper()
	const code = "ABCDEFGHJKLMN"
	err := w.demo.documents.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(store.Doc("discordLinkCodes", ids.Of(code).Hex(32)), map[string]any{
			"type": "user-link", "discordUserId": "2200000000000000001", "username": "ana", "expiresAt": w.demo.now().Add(time.Minute),
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.show(ask{as: "ana", operation: "link-my-discord", body: `{"code": "ABCD-EFGH-JKLMN", "confirm": true}`})
	w.show(ask{as: "ana", operation: "get-my-discord"})
	w.show(ask{as: "ana", operation: "unlink-my-discord"})
	w.show(ask{as: "gm", operation: "make-discord-link-code", at: []string{"{create-group.id}"}})
}

// end: what ends a membership or a link.
func (w *exampleWorld) end() {
	w.show(ask{as: "ben", operation: "leave-group", at: []string{"{create-group.id}"}})
	w.show(ask{as: "gm", operation: "unlink-account", at: []string{"{list-accounts.accounts.1.id}"}})
}

// failWork records work that kept failing.
func (w *exampleWorld) failWork() {
	w.t.Helper()
	w.answers["failing-work"] = map[string]any{"id": failingWork(w.t, w.demo.program)}
}

// text is what a reference stands for.
func (w *exampleWorld) text(reference string) string { return w.resolve(reference) }

// googleOf changes an event in somebody's own calendar.
func (w *exampleWorld) googleOf(who, method, id string, body any) {
	w.t.Helper()
	got, err := w.eventOf(who, method, id, body)
	if err != nil || got.status != http.StatusOK && got.status != http.StatusNoContent {
		w.t.Fatalf("%s event of %s: %v %v", method, who, got, err)
	}
	w.settle()
}

// moveSession moves the event of Session 11 in the calendar of gm.
func (w *exampleWorld) moveSession(start, end string) {
	w.t.Helper()
	w.googleOf("gm", "PATCH", w.text("{finalize-poll.google_event_id}"), map[string]any{
		"start": map[string]any{"dateTime": start}, "end": map[string]any{"dateTime": end},
	})
}
