package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCancel_AnnouncedByTheApp_IsNotAnnouncedTwice: the web app writes the cancellation
// and announces it by its own functions.
func TestCancel_AnnouncedByTheApp_IsNotAnnouncedTwice(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if _, err := rw.Write([]byte(`{"result": {"eventId": "one"}}`)); err != nil {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(upstream.Close)
	o, documents := rawDemo(t, "QS_CALLABLES_UPSTREAM="+upstream.URL)
	d := newDirect(t, o, documents, "Announced by the app")
	ana := o.ready.Users["ana"].ID
	d.documents.set(
		d.doc,
		map[string]any{"participantIds": map[string]any{"arrayValue": map[string]any{"values": []any{text(o.ready.Users["gm"].ID), text(ana)}}}},
	)

	d.documents.set(d.doc, map[string]any{"status": text("CANCELLED"), "updatedAt": moment()})
	got := d.result("emitNotificationEvent", map[string]any{
		"eventType": "POLL_CANCELLED", "resource": map[string]any{"type": "poll", "id": d.id, "title": d.title},
		"actor": map[string]any{"uid": o.ready.Users["gm"].ID}, "recipients": map[string]any{"userIds": []any{ana}},
	})
	if got["eventId"] != "one" {
		t.Errorf("the app's function answers %v", got)
	}
	d.becomes("cancelled", false, false, isCancelled)
	eventually(t, "the announcement's state", func() error {
		return mustHave(plainFields(d.documents.get("announcements/"+d.id)), map[string]any{"announced.status": "CANCELLED", "pending": false})
	})
	for path, fields := range d.documents.below("users/" + ana + "/notifications") {
		if strings.Contains(fmt.Sprint(fields), d.id) {
			t.Errorf("ana was notified again: %s %v", path, fields)
		}
	}

	// By default the app does not announce a restore.
	d.documents.set(d.doc, map[string]any{"status": text("FINALIZED"), "updatedAt": moment()})
	d.result("emitNotificationEvent", map[string]any{
		"eventType": "POLL_RESTORED", "resource": map[string]any{"type": "poll", "id": d.id, "title": d.title},
		"actor": map[string]any{"uid": o.ready.Users["gm"].ID}, "recipients": map[string]any{"userIds": []any{ana}},
	})
	eventually(t, "ana is notified that it is on again", func() error {
		for _, fields := range d.documents.below("users/" + ana + "/notifications") {
			if said := fmt.Sprint(fields); strings.Contains(said, d.id) && strings.Contains(said, "SESSION_ON_AGAIN") {
				return nil
			}
		}
		return errors.New("she was not notified")
	})
}
