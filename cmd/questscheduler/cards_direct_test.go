package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// written is a poll in the party's group that the web app wrote directly.
type written struct {
	*outside
	documents *raw
	id, doc   string
	slots     []string
}

// slotFields are the fields of a slot as the web app writes it.
func slotFields(start time.Time) map[string]any {
	const layout = "2006-01-02T15:04:05.000Z"
	none := map[string]any{"integerValue": "0"}
	return map[string]any{
		"start": text(start.Format(layout)), "end": text(start.Add(2 * time.Hour).Format(layout)),
		"stats": map[string]any{"mapValue": map[string]any{"fields": map[string]any{"feasible": none, "preferred": none}}},
	}
}

// newWritten creates a poll as the web app does: the poll first, then its slots.
func newWritten(t *testing.T, o *outside, documents *raw, title string) *written {
	t.Helper()
	w := &written{outside: &outside{t, o.ready}, documents: &raw{t, documents.host, documents.project}, id: uuid.NewString()}
	w.doc = "schedulers/" + w.id
	gm := text(o.ready.Users["gm"].ID)
	w.documents.set(w.doc, map[string]any{
		"title": text(title), "description": text(""), "creatorId": gm, "creatorEmail": text(o.ready.Users["gm"].Email), "status": text("OPEN"),
		"participantIds":   map[string]any{"arrayValue": map[string]any{"values": []any{gm}}},
		"pendingInvites":   map[string]any{"arrayValue": map[string]any{}},
		"allowLinkSharing": map[string]any{"booleanValue": false}, "timezone": null, "timezoneMode": text("utc"),
		"winningSlotId": null, "googleEventId": null,
		"questingGroupId": text(o.ready.GroupID), "questingGroupName": text("The party"), "createdAt": moment(),
	})
	for i := range 2 {
		slot := fmt.Sprintf("slot%d", i)
		w.documents.set(w.doc+"/slots/"+slot, slotFields(time.Now().UTC().Truncate(time.Hour).Add(time.Duration(200+i)*time.Hour)))
		w.slots = append(w.slots, slot)
	}
	return w
}

// votes writes a member's vote as the web app does.
func (w *written) votes(person, slot string) {
	w.t.Helper()
	id := w.ready.Users[person].ID
	w.documents.set(w.doc+"/votes/"+id, map[string]any{
		"voterId": text(id), "userEmail": text(w.ready.Users[person].Email), "votes." + slot: text("FEASIBLE"),
		"noTimesWork": map[string]any{"booleanValue": false}, "updatedAt": moment(),
	})
}

// showsOnce waits until the poll has one card in the channel, which shows the texts.
func (w *written) showsOnce(what string, texts ...string) {
	w.t.Helper()
	eventually(w.t, what, func() error {
		all, err := w.messages()
		if err != nil {
			return err
		}
		var cards []string
		for _, message := range all {
			shown, err := json.Marshal(message)
			if err != nil {
				return err
			}
			if isCardOf(w.id, string(shown)) {
				cards = append(cards, string(shown))
			}
		}
		if len(cards) != 1 {
			return fmt.Errorf("it has %d cards", len(cards))
		}
		for _, text := range texts {
			if !strings.Contains(cards[0], text) {
				return fmt.Errorf("the card does not show %q: %s", text, cards[0])
			}
		}
		return nil
	})
}

// TestCards_OfWhatTheAppWrites_FollowIt: the web app writes polls, titles, slots and
// votes directly, and the server listens for the document changes.
func TestCards_OfWhatTheAppWrites_FollowIt(t *testing.T) {
	t.Parallel()
	o, documents := rawDemo(t)
	w := newWritten(t, o, documents, "Written by the app")
	w.showsOnce("its card", "Written by the app", `"OPEN"`, "2 available", "0/4 voted")
	w.documents.set(w.doc, map[string]any{"title": text("Named anew"), "updatedAt": moment()})
	w.showsOnce("its new title", "Named anew")
	w.votes("ana", w.slots[0])
	w.showsOnce("a vote", "1/4 voted")
	w.documents.set(w.doc+"/slots/late", slotFields(time.Now().UTC().Truncate(time.Hour).Add(300*time.Hour)))
	w.showsOnce("a slot", "3 available")
	w.documents.remove(w.doc + "/votes/" + o.ready.Users["ana"].ID)
	w.showsOnce("a vote that was taken back", "0/4 voted")
}
