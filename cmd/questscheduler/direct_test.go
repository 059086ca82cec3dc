package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"questscheduler/internal/test/tokentest"
)

// direct is a poll that follows its event, in a demo that listens for document changes.
type direct struct {
	*outside
	documents  *raw
	id, event  string
	slot       string
	start, end time.Time
	title, doc string
}

// newDirect creates a poll by our API and finalises it by the app's call.
func newDirect(t *testing.T, o *outside, documents *raw, title string) *direct {
	t.Helper()
	d := &direct{outside: &outside{t, o.ready}, documents: &raw{t, documents.host, documents.project}, title: title}
	d.start = time.Now().UTC().Truncate(time.Hour).Add(100 * time.Hour)
	d.end = d.start.Add(2 * time.Hour)
	made, err := d.v1("gm", "POST", "/polls", map[string]any{
		"title": title, "slots": []any{map[string]any{"start": d.start.Format(time.RFC3339), "end": d.end.Format(time.RFC3339)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.id = fmt.Sprint(made["id"])
	d.doc, d.slot = "schedulers/"+d.id, d.slotsOf(d.id)[0]
	linked := d.result("googleCalendarFinalizePoll", map[string]any{"schedulerId": d.id, "slotId": d.slot})
	d.event = fmt.Sprint(linked["eventId"])
	return d
}

// becomes waits until the poll's document has these fields, the event exists or not,
// and the index has it or not.
func (d *direct) becomes(what string, eventLives, followed bool, want map[string]any) {
	d.t.Helper()
	eventually(d.t, what, func() error {
		if err := mustHave(d.documents.poll(d.id), want); err != nil {
			return err
		}
		if indexed := d.documents.get("calendarEventIndex/"+d.event) != nil; indexed != followed {
			return fmt.Errorf("the event is in the index: %t", indexed)
		}
		got, err := d.outside.event("GET", d.event, nil)
		if err != nil {
			return err
		}
		if lives := got.status == http.StatusOK && got.body["status"] != "cancelled"; lives != eventLives {
			return fmt.Errorf("the event is %v", got.body["status"])
		}
		return nil
	})
}

// moveBy moves the event by a duration.
func (d *direct) moveBy(by time.Duration) {
	d.t.Helper()
	got, err := d.outside.event("PATCH", d.event, map[string]any{
		"start": map[string]any{"dateTime": d.start.Add(by).Format(time.RFC3339)},
		"end":   map[string]any{"dateTime": d.end.Add(by).Format(time.RFC3339)},
	})
	if err != nil || got.status != http.StatusOK {
		d.t.Fatalf("%v, %v", got, err)
	}
}

// Fields of polls that follow no event.
var (
	isCancelled = map[string]any{
		"status": "CANCELLED", "calendarSync.state": "CANCELLED", "calendarSync.cancelled.at": present, "cancelled.at": present,
		"cancelled.reason": "manual", "googleEventId": nil,
	}
	isRestored = map[string]any{
		"status": "FINALIZED", "calendarSync.state": nil, "calendarSync.cancelled": nil, "cancelled": nil, "googleEventId": nil,
		"winningSlotId": present,
	}
	isReopened = map[string]any{
		"status": "OPEN", "calendarSync.state": nil, "calendarSync.rescheduled": nil, "calendarSync.baseline": nil, "winningSlotId": nil,
	}
)

// TestDirectWrites_AreRepairedWithinSeconds: the web app writes directly, without a
// call, and the server listens for the document changes.
func TestDirectWrites_AreRepairedWithinSeconds(t *testing.T) {
	t.Parallel()
	o, documents := rawDemo(t)
	cancel := func(d *direct) {
		d.documents.set(d.doc, map[string]any{"status": text("CANCELLED"), "updatedAt": moment()})
	}
	reopen := func(d *direct) { d.documents.set(d.doc, map[string]any{"status": text("OPEN"), "winningSlotId": null}) }
	for name, do := range map[string]func(d *direct){
		"cancel, and restore": func(d *direct) {
			cancel(d)
			d.becomes("cancelled", false, false, isCancelled)
			d.documents.set(d.doc, map[string]any{"status": text("FINALIZED"), "updatedAt": moment()})
			d.becomes("restored", false, false, isRestored)
		},
		"reopen": func(d *direct) {
			reopen(d)
			d.becomes("reopened", true, false, isReopened)
		},
		"reopen what was moved": func(d *direct) {
			d.moveBy(24 * time.Hour)
			d.becomes("rescheduled", true, true, map[string]any{"calendarSync.state": "RESCHEDULED"})
			reopen(d)
			d.becomes("reopened", true, false, isReopened)
			if slots := d.documents.below(d.doc + "/slots"); len(slots) != 1 {
				d.t.Errorf("its slots are %v", slots)
			}
		},
		"reopen without the event": func(d *direct) {
			if got := d.result("googleCalendarDeleteEvent", map[string]any{"schedulerId": d.id}); got["deleted"] != true {
				d.t.Errorf("deleted: %v", got)
			}
			reopen(d)
			d.becomes("reopened", false, false, isReopened)
		},
		"delete": func(d *direct) {
			for slot := range d.documents.below(d.doc + "/slots") {
				d.documents.remove(slot)
			}
			d.documents.remove(d.doc)
			eventually(d.t, "deleted", func() error {
				got, err := d.outside.event("GET", d.event, nil)
				if err == nil && (got.body["status"] != "cancelled" || d.documents.get("calendarEventIndex/"+d.event) != nil) {
					err = fmt.Errorf("the event is %v", got.body["status"])
				}
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(newDirect(t, o, documents, name))
		})
	}
}

// TestDirectWrites_AreNoLoop: the program's own writes cause no further
// repair.
func TestDirectWrites_AreNoLoop(t *testing.T) {
	t.Parallel()
	o, documents := rawDemo(t)
	d := newDirect(t, o, documents, "No loop")
	d.documents.set(d.doc, map[string]any{"status": text("CANCELLED"), "updatedAt": moment()})
	d.becomes("cancelled", false, false, isCancelled)
	other := newDirect(t, o, documents, "Another") // its document changes arrive after those of the first poll
	other.documents.set(other.doc, map[string]any{"status": text("OPEN"), "winningSlotId": null})
	other.becomes("reopened", true, false, isReopened)
	if entries := len(d.documents.below(d.doc + "/journal")); entries != 2 {
		t.Errorf("its journal has %d entries, want the finalisation and the cancellation", entries)
	}
}

// TestDirectWrites_KeepCalendarEvents_LeavesThem: a creator may choose to keep the
// events in the calendar. Eventarc delivers the document changes, as in production.
func TestDirectWrites_KeepCalendarEvents_LeavesThem(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	const machine, audience = "hints@party.iam.gserviceaccount.com", "https://tasks.party.example"
	o, documents := rawDemo(t, "QS_MACHINE_ISSUER="+issuer.URL, "QS_MACHINE_ACCOUNTS="+machine, "QS_TASKS_AUDIENCE="+audience,
		"QS_DOCUMENT_HINTS=off")
	deliver := func(d *direct) {
		token := "Bearer " + issuer.Sign(tokentest.Machine(issuer.URL, machine, audience, time.Now()))
		got, err := o.try("POST", o.ready.API+"/webhooks/documents", token, nil, "Ce-Specversion", "1.0",
			"Ce-Type", "google.cloud.firestore.document.v1.written", "Ce-Subject", "documents/"+d.doc)
		if err != nil || got.status != http.StatusAccepted {
			t.Fatalf("the document change is answered with %v, %v", got, err)
		}
	}
	gone := newDirect(t, o, documents, "Goes")
	gone.documents.set(gone.doc, map[string]any{"status": text("CANCELLED"), "updatedAt": moment()})
	deliver(gone)
	gone.becomes("cancelled", false, false, isCancelled)

	documents.set("users/gm", map[string]any{"settings.keepCalendarEvents": map[string]any{"booleanValue": true}})
	kept := newDirect(t, o, documents, "Stays")
	kept.documents.set(kept.doc, map[string]any{"status": text("CANCELLED"), "updatedAt": moment()})
	deliver(kept)
	kept.becomes("cancelled", true, false, map[string]any{
		"status": "CANCELLED", "calendarSync.state": "CANCELLED", "googleEventId": kept.event,
	})
	kept.documents.remove(kept.doc)
	deleted := newDirect(t, o, documents, "Stays too")
	deleted.documents.remove(deleted.doc)
	deliver(deleted)
	deleted.becomes("deleted", true, false, nil)
}
