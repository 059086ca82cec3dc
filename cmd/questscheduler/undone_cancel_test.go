package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestCancel_UndoneDirectly_IsNotAnnounced: no document change reports the app's
// Restore.
func TestCancel_UndoneDirectly_IsNotAnnounced(t *testing.T) {
	t.Parallel()
	o, documents := rawDemo(t, "QS_DOCUMENT_HINTS=off", "QS_NOTIFY_SETTLE=8s")
	d := newDirect(t, o, documents, "Undone at once")
	ana := o.ready.Users["ana"].ID
	d.documents.set(
		d.doc,
		map[string]any{"participantIds": map[string]any{"arrayValue": map[string]any{"values": []any{text(o.ready.Users["gm"].ID), text(ana)}}}},
	)
	if _, err := d.v1("gm", "POST", "/polls/"+d.id+"/cancel", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	d.documents.set(d.doc, map[string]any{"status": text("FINALIZED"), "updatedAt": moment()})
	d.becomes("restored", false, false, isRestored)
	eventually(t, "the announcement's state", func() error {
		return mustHave(plainFields(d.documents.get("announcements/"+d.id)), map[string]any{"announced.status": "FINALIZED", "pending": false})
	})
	for path, fields := range d.documents.below("users/" + ana + "/notifications") {
		if strings.Contains(fmt.Sprint(fields), d.id) {
			t.Errorf("ana was notified by %s: %v", path, fields)
		}
	}
}
