package api_test

import (
	"context"
	"net/http"
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

func TestUpdate_AbsentFields_StayAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.newPoll(map[string]any{"timezone": "Europe/Berlin", "description": "Bring dice."})
	path := "/v1/polls/" + before.ID
	w.want(
		200,
		call{
			as: "ana", method: "PUT", path: path + "/votes/me",
			body: map[string]any{"votes": map[string]string{before.Slots[0].ID: "PREFERRED", before.Slots[1].ID: "FEASIBLE"}},
		},
		nil,
	)
	w.want(200, call{as: "gm", method: "GET", path: path}, &before)

	want := before
	change := func(body any) {
		t.Helper()
		var after pollJSON
		w.want(200, call{as: "gm", method: "PATCH", path: path, body: body}, &after)
		if !reflect.DeepEqual(after, want) {
			t.Errorf("%v made it %+v, want %+v", body, after, want)
		}
	}
	change(map[string]any{})
	change(`{"title": null, "participant_ids": null, "slots": null}`)
	want.Title, want.AllowLinkSharing = "Session 13", true
	change(map[string]any{"title": "  Session 13 ", "allow_link_sharing": true})
	want.Timezone = nil
	change(map[string]any{"timezone": ""})
	want.PendingInvites = []string{}
	change(map[string]any{"pending_invites": []string{}})
	want.ParticipantIDs = []string{"gm", "ben"}
	change(map[string]any{"participant_ids": []string{"ben"}})

	kept := before.Slots[1]
	var after pollJSON
	kept.Start, kept.End = "2026-03-05T18:00:00Z", "2026-03-05T21:00:00Z"
	w.want(200, call{as: "gm", method: "PATCH", path: path, body: map[string]any{"slots": []map[string]string{
		{"id": kept.ID, "start": kept.Start, "end": kept.End}, {"start": "2026-03-06T18:00:00Z", "end": "2026-03-06T21:00:00Z"},
	}}}, &after)
	if len(after.Slots) != 2 || after.Slots[0] != kept || after.Slots[1].ID == before.Slots[0].ID ||
		after.Slots[1].Start != "2026-03-06T18:00:00Z" {
		t.Errorf("slots %+v", after.Slots)
	}
	if got := after.Votes[0].Votes; !reflect.DeepEqual(got, map[string]string{kept.ID: "FEASIBLE"}) {
		t.Errorf("the votes are %v", got)
	}
}

func TestUpdate_OfAFinalisedPoll_TakesNoSlots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	path := "/v1/polls/" + made.ID
	w.want(
		200,
		call{as: "gm", method: "POST", path: path + "/finalize", body: map[string]any{"slot_id": made.Slots[0].ID, "create_event": false}},
		nil,
	)
	w.want(409, call{as: "gm", method: "PATCH", path: path, body: map[string]any{"title": "x", "slots": slots("2026-03-01T18:00:00Z")}}, nil)
	w.want(200, call{as: "gm", method: "PATCH", path: path, body: map[string]any{"title": "The end"}}, nil)
}

func TestPoll_ArchiveReopenDelete_ChangesItsStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	path := "/v1/polls/" + made.ID
	finalised := w.finalise(made)
	var shown pollJSON
	for _, step := range []struct{ doing, status string }{
		{"archive", "ARCHIVED"}, {"archive", "ARCHIVED"}, {"unarchive", "FINALIZED"}, {"reopen", "OPEN"}, {"reopen", "OPEN"},
	} {
		w.want(200, call{as: "gm", method: "POST", path: path + "/" + step.doing}, &shown)
		if shown.Status != step.status {
			t.Errorf("%s made it %s", step.doing, shown.Status)
		}
	}
	if shown.WinningSlot != nil || shown.Sync.State != "" || shown.GoogleEventID == nil {
		t.Errorf("reopened it is %+v", shown)
	}

	// Reopened again, its event goes where that is asked for.
	w.finalise(finalised)
	w.want(200, call{as: "gm", method: "POST", path: path + "/reopen", body: map[string]any{"delete_event": true}}, &shown)
	if shown.GoogleEventID != nil || w.intents(made.ID) == 0 {
		t.Errorf("the event %v stays; %d intents", shown.GoogleEventID, w.intents(made.ID))
	}

	var deleted struct{ Deleted bool }
	w.want(200, call{as: "gm", method: "DELETE", path: path}, &deleted)
	if !deleted.Deleted {
		t.Error("it does not say that it was deleted")
	}
	w.want(404, call{as: "gm", method: "GET", path: path}, nil)
	w.want(404, call{as: "gm", method: "DELETE", path: path}, nil)
}

func TestDelete_EventChoice_IsFollowed(t *testing.T) {
	t.Parallel()
	for query, gone := range map[string]bool{"": true, "?delete_event=true": true, "?delete_event=false": false} {
		w := newWorld(t)
		made := w.finalise(w.newPoll(nil))
		w.want(200, call{as: "gm", method: "DELETE", path: "/v1/polls/" + made.ID + query}, nil)
		deletion, err := poll.LoadIntent(t.Context(), w.store, poll.IntentID("acc_gm", "gm@example.com", *made.GoogleEventID))
		must(t, err)
		if (deletion != nil) != gone {
			t.Errorf("%q: the event is to go: %t", query, deletion != nil)
		}
	}
}

func TestMovedSession_CreatorDecides_IsRestoredOrAccepted(t *testing.T) {
	t.Parallel()
	later := rules.Timed(begin.AddDate(0, 2, 0), begin.AddDate(0, 2, 0).Add(time.Hour))
	w := newWorld(t)
	made := w.finalise(w.newPoll(nil))
	path := "/v1/polls/" + made.ID
	w.want(409, call{as: "gm", method: "POST", path: path + "/restore-original-time"}, nil)

	var moved, shown pollJSON
	w.moveEvent(made, later)
	w.want(200, call{as: "gm", method: "GET", path: path}, &moved)
	if moved.Sync.State != "RESCHEDULED" || moved.OriginalSlot == nil || !moved.ParticipantsHidden {
		t.Fatalf("moved it is %+v", moved)
	}
	w.want(200, call{as: "gm", method: "POST", path: path + "/restore-original-time"}, &shown)
	if shown.Sync.State != "OK" || *shown.WinningSlot != *made.WinningSlot || shown.OriginalSlot != nil {
		t.Errorf("restored it is %+v", shown)
	}

	w.moveEvent(made, later)
	w.want(200, call{as: "gm", method: "GET", path: path}, &moved)
	accept := func(fingerprint string) call {
		return call{as: "gm", method: "POST", path: path + "/accept-new-time", body: map[string]any{"fingerprint": fingerprint}}
	}
	w.want(409, accept(made.Sync.Fingerprint), nil)
	w.want(200, accept(moved.Sync.Fingerprint), &shown)
	if shown.Sync.State != "OK" || shown.WinningSlot.ID != moved.WinningSlot.ID || shown.WinningSlot.Source != "poll" ||
		shown.ParticipantsHidden {
		t.Errorf("accepted it is %+v", shown)
	}
}

func TestPeople_InviteJoinLeave_ChangesParticipants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil) // with ana; ben is invited
	path := "/v1/polls/" + made.ID
	var shown pollJSON
	w.want(200, call{as: "ben", method: "POST", path: path + "/accept-invite"}, &shown)
	if !reflect.DeepEqual(shown.ParticipantIDs, []string{"gm", "ana", "ben"}) || len(shown.PendingInvites) != 0 {
		t.Errorf("ben came: %v, %v", shown.ParticipantIDs, shown.PendingInvites)
	}
	w.want(200, call{as: "ben", method: "POST", path: path + "/join"}, &shown)

	var left struct{ Left bool }
	w.want(200, call{as: "ben", method: "POST", path: path + "/leave"}, &left)
	if !left.Left {
		t.Error("it does not say that ben left")
	}
	w.want(404, call{as: "ben", method: "GET", path: path}, nil)
	w.want(404, call{as: "eve", method: "POST", path: path + "/join"}, nil)
	w.want(200, call{as: "gm", method: "PATCH", path: path, body: map[string]any{"allow_link_sharing": true}}, nil)
	w.want(200, call{as: "eve", method: "POST", path: path + "/join"}, &shown)
	if !reflect.DeepEqual(shown.ParticipantIDs, []string{"gm", "ana", "eve"}) {
		t.Errorf("eve came: %v", shown.ParticipantIDs)
	}
}

func TestInvitee_WhoDeclines_IsAnsweredWhichPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	path := "/v1/polls/" + made.ID
	var declined struct{ Declined bool }
	w.want(200, call{as: "ben", method: "POST", path: path + "/decline-invite"}, &declined)
	if !declined.Declined {
		t.Error("it does not say that ben declined")
	}
	w.want(404, call{as: "ben", method: "GET", path: path}, nil)
}

func TestConfirm_HeldEvents_AreCheckedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.finalise(w.newPoll(nil))
	key := poll.CalendarKey("acc_gm", "gm@example.com")
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Merge(calendars.Path(key), poll.Set("ownerId", "gm"),
			calendars.Defer(*made.GoogleEventID, calendars.DeferredHeld, time.Unix(1, 0)))
	}))
	var answer struct {
		Rechecked *int `json:"looked_at"`
	}
	for _, row := range []struct {
		polls []string
		count int
	}{{[]string{"00000000-0000-4000-8000-000000000000"}, 0}, {[]string{made.ID}, 1}, {[]string{made.ID}, 0}} {
		w.want(
			200,
			call{as: "gm", method: "POST", path: "/v1/calendars/" + key + "/confirm-cancellations", body: map[string]any{"poll_ids": row.polls}},
			&answer,
		)
		if answer.Rechecked == nil || *answer.Rechecked != row.count {
			t.Errorf("confirming %v checks %v events, want %d", row.polls, answer.Rechecked, row.count)
		}
	}
	got := w.do(call{
		as: "eve", method: "POST", path: "/v1/calendars/" + key + "/confirm-cancellations",
		body: map[string]any{"poll_ids": []string{made.ID}},
	})
	if got.status != http.StatusNotFound {
		t.Errorf("eve is answered %d", got.status)
	}
}

// finalise finalises a poll of gm's with an event for its first slot.
func (w *world) finalise(p pollJSON) pollJSON {
	w.t.Helper()
	var finalised pollJSON
	w.want(
		200,
		call{as: "gm", method: "POST", path: "/v1/polls/" + p.ID + "/finalize", body: map[string]any{"slot_id": p.Slots[0].ID}},
		&finalised,
	)
	return finalised
}

// intents counts the intents of a poll.
func (w *world) intents(pollID string) int {
	w.t.Helper()
	var count int
	must(w.t, w.store.Run(w.t.Context(), func(ctx context.Context, tx store.Tx) error {
		found, err := poll.IntentsOf(ctx, tx, pollID)
		count = len(found)
		return err
	}))
	return count
}
