package worldtest

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// DeleteDirectly deletes a poll as the web app does: slots and votes, then the
// poll. What is closed to the app stays.
func (w *World) DeleteDirectly(pollID string) {
	w.t.Helper()
	for _, below := range w.Below(pollID) {
		w.Remove(below)
	}
	w.Remove(poll.Path(pollID))
}

// Recreate makes a poll of an id as the web app does, under firestore.rules: in one
// commit, with the slots Ten and Three, and without any field of the server's.
func (w *World) Recreate(pollID, person string) (slots []string) {
	w.t.Helper()
	by := Person(person)
	w.must(w.Documents.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		slots = nil
		err := tx.Create(poll.Path(pollID), map[string]any{
			"title": "Session of " + person, "description": "", "creatorId": by.ID, "creatorEmail": by.Email,
			"status": string(rules.Open), "participantIds": []any{by.ID}, "pendingInvites": []any{}, "allowLinkSharing": false,
			"timezone": "Europe/Berlin", "timezoneMode": "auto", "winningSlotId": nil, "googleEventId": nil,
			"questingGroupId": nil, "questingGroupName": nil, "createdAt": w.Clock.Now(),
		})
		for _, times := range []Slot{Ten, Three} {
			id := w.uuid()
			slots = append(slots, id)
			data := poll.EncodeSlot(poll.Slot{ID: id, Start: times.Start, End: times.End})
			if err == nil {
				err = tx.Create(poll.SlotPath(pollID, id), data)
			}
		}
		return err
	}))
	w.past.former[pollID] = latestRef(w.past.notices[pollID])
	delete(w.past.unknown, poll.Path(pollID)) // what the web app kept in the deleted one is not in this one
	return slots
}
