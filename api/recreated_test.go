package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Somebody deletes a poll directly, and another person uses its id before anything
// of ours comes by: neither they nor an admin read a word of the old one there.
func TestJournal_OfRecreatedPoll_ShowsNothingOfTheOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	path := "/v1/polls/" + made.ID
	w.want(
		200,
		call{as: "gm", method: "POST", path: path + "/finalize", body: map[string]any{"slot_id": made.Slots[0].ID, "create_event": false}},
		nil,
	)
	w.newAnnouncement(made.ID)
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Delete(poll.Path(made.ID)) }))
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(poll.Path(made.ID), map[string]any{
			"title": "Mine", "creatorId": "ana", "status": "OPEN", "participantIds": []any{"ana"}, "createdAt": begin,
		})
	}))
	var journal struct{ Entries []json.RawMessage }
	w.want(200, call{as: "ana", method: "GET", path: path + "/journal"}, &journal)
	if len(journal.Entries) != 0 {
		t.Errorf("ana reads %s", journal.Entries)
	}
	w.want(404, call{as: "gm", method: "GET", path: path}, nil)
	var inspected struct {
		Journal      []json.RawMessage
		Announcement struct{ Announced *json.RawMessage } `json:"told"`
	}
	got := w.want(200, call{as: "admin", method: "GET", path: "/admin/polls/" + made.ID}, &inspected)
	if len(inspected.Journal) != 0 || inspected.Announcement.Announced != nil {
		t.Errorf("an admin reads %s", got.text)
	}
}

// The slots and votes of the old poll are still there: the new poll of its id
// shows its own alone, when read and in the list.
func TestPoll_RecreatedOverSlotsAndVotes_ShowsItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	path := "/v1/polls/" + made.ID
	w.want(
		200,
		call{as: "gm", method: "POST", path: path + "/finalize", body: map[string]any{"slot_id": made.Slots[0].ID, "create_event": false}},
		nil,
	)
	old, own := map[string]string{made.Slots[0].ID: poll.Preferred}, map[string]string{"new": poll.Feasible}
	write := func(do func(tx store.Tx) error) {
		t.Helper()
		must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return do(tx) }))
	}
	vote := func(voter string, choices map[string]string) {
		write(func(tx store.Tx) error {
			return tx.Merge(poll.VotePath(made.ID, voter), poll.VoteUpdates(poll.Vote{UserID: voter, Choices: choices, UpdatedAt: begin})...)
		})
	}
	vote("cho", old)
	vote("ana", old)
	write(func(tx store.Tx) error { return tx.Delete(poll.Path(made.ID)) })
	write(func(tx store.Tx) error {
		if err := tx.Create(poll.SlotPath(made.ID, "new"),
			poll.EncodeSlot(poll.Slot{ID: "new", Start: begin, End: begin.Add(time.Hour)})); err != nil {
			return err
		}
		return tx.Create(poll.Path(made.ID), map[string]any{
			"title": "Mine", "creatorId": "ana", "status": "OPEN", "participantIds": []any{"ana"},
		})
	})
	vote("ana", own) // over the leftover of her old one
	type shown struct {
		Slots []struct {
			ID string
		}
		Votes []struct {
			UserID string `json:"user_id"`
		}
	}
	var one shown
	got := w.want(200, call{as: "ana", method: "GET", path: path}, &one)
	if len(one.Slots) != 1 || one.Slots[0].ID != "new" || strings.Contains(got.text, "cho") ||
		strings.Contains(got.text, made.Slots[0].ID+`","start`) {
		t.Errorf("ana is shown %s", got.text)
	}
	for _, parts := range []string{"slots", "votes", "slots,votes"} {
		if got := w.want(
			200, call{as: "ana", method: "GET", path: "/v1/polls?include=" + parts}, nil,
		); strings.Contains(got.text, "cho") || strings.Contains(got.text, `"id":"`+made.Slots[0].ID) {
			t.Errorf("with %s her list shows %s", parts, got.text)
		}
	}
	if !strings.Contains(got.text, `"ana"`) || !strings.Contains(got.text, poll.Feasible) {
		t.Errorf("ana's vote is not in %s", got.text)
	}
}
