package api_test

import (
	"context"
	"encoding/json"
	"testing"

	"questscheduler/poll"
	"questscheduler/store"
)

// Somebody deletes a poll directly, and another person uses its id before anything
// of ours comes by: neither they nor an admin read a word of the old one there.
func TestJournal_OfRecreatedPoll_ShowsNothingOfTheOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	path := "/v1/polls/" + made.ID
	w.want(200, call{as: "gm", method: "POST", path: path + "/finalize", body: map[string]any{"slot_id": made.Slots[0].ID, "create_event": false}}, nil)
	w.newTold(made.ID)
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
		Journal []json.RawMessage
		Told    struct{ Announced *json.RawMessage }
	}
	got := w.want(200, call{as: "admin", method: "GET", path: "/admin/polls/" + made.ID}, &inspected)
	if len(inspected.Journal) != 0 || inspected.Told.Announced != nil {
		t.Errorf("an admin reads %s", got.text)
	}
}
