package gcal_test

import (
	"maps"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

func TestInsert_TheEventIsThereWithWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	event := session("abcde1")
	event.Attendees = []string{"ana@example.test"}
	inserted := w.insert(t, event)

	got := w.get(t, "abcde1")
	if got.ID != "abcde1" || got.Summary != "Session" || got.Description != "Bring dice" || got.EventState != rules.Present ||
		got.Fingerprint != rules.Timed(noon, noon.Add(2*time.Hour)) || !maps.Equal(got.Private, event.Private) ||
		got.ETag == "" || got.ETag != inserted.ETag || !got.Updated.Equal(noon) {
		t.Errorf("got %+v", got)
	}
	if inserted.Fingerprint != got.Fingerprint {
		t.Errorf("insert answered %v, get %v", inserted.Fingerprint, got.Fingerprint)
	}
	copied, err := w.client.Get(t.Context(), gcal.Ref{Account: "ana", Calendar: "primary"}, "abcde1")
	if err != nil || copied.Fingerprint != got.Fingerprint {
		t.Errorf("the guest's copy: %+v, %v", copied, err)
	}
}

func TestInsert_WholeDaysHaveDates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	event := session("abcde1")
	event.AllDay = true
	event.Start, event.End = time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	if got, want := w.insert(t, event).Fingerprint.String(), "2026-03-07|2026-03-09|true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInsert_AnIdThatIsTakenIsAConflictEvenAfterItsDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insert(t, session("abcde1"))
	_, err := w.client.Insert(t.Context(), mine, session("abcde1"))
	wantKind(t, err, fault.Conflict, gcal.CodeDuplicate)

	if _, err := w.client.Delete(t.Context(), mine, "abcde1"); err != nil {
		t.Fatal(err)
	}
	_, err = w.client.Insert(t.Context(), mine, session("abcde1"))
	wantKind(t, err, fault.Conflict, gcal.CodeDuplicate)
	if got := w.get(t, "abcde1"); got.EventState != rules.Gone || !got.Fingerprint.IsZero() {
		t.Errorf("a deleted event is read as %+v", got)
	}
}

func TestInsert_LostAnswer_IsUnavailableAndTheEventExists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	if err := w.sim.Control().Plant(control.Rule{Match: "events.insert", LostAnswer: true, Times: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.Insert(t.Context(), mine, session("abcde1"))
	wantKind(t, err, fault.Unavailable, "")
	if got := w.get(t, "abcde1"); got.EventState != rules.Present {
		t.Errorf("got %+v", got)
	}
}

func TestPatchTimes_MovesAndTurnsWholeDaysIntoHoursAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	event := w.insert(t, session("abcde1"))
	days, err := rules.Days("2026-03-07", "2026-03-08")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []rules.Fingerprint{
		rules.Timed(noon.Add(time.Hour), noon.Add(4*time.Hour)), days,
		rules.Timed(noon.Add(24*time.Hour), noon.Add(26*time.Hour)),
	} {
		moved, err := w.client.PatchTimes(t.Context(), mine, "abcde1", event.ETag, to, "Europe/Zurich")
		if err != nil {
			t.Fatalf("to %s: %v", to, err)
		}
		if got := w.get(t, "abcde1"); got.Fingerprint != to || moved.Fingerprint != to || got.Summary != "Session" {
			t.Errorf("to %s: answered %s, is at %s, titled %q", to, moved.Fingerprint, got.Fingerprint, got.Summary)
		}
		event = moved
	}
}

func TestPatchTimes_OfAChangedEvent_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	old := w.insert(t, session("abcde1"))
	first, second := rules.Timed(noon.Add(time.Hour), noon.Add(2*time.Hour)), rules.Timed(noon.Add(3*time.Hour), noon.Add(4*time.Hour))
	if _, err := w.client.PatchTimes(t.Context(), mine, "abcde1", old.ETag, first, ""); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.PatchTimes(t.Context(), mine, "abcde1", old.ETag, second, "")
	wantKind(t, err, fault.Conflict, gcal.CodeStale)
	if got := w.get(t, "abcde1").Fingerprint; got != first {
		t.Errorf("it is at %s, want %s", got, first)
	}
	if _, err := w.client.PatchTimes(t.Context(), mine, "abcde1", "", second, ""); err != nil {
		t.Errorf("without an etag: %v", err)
	}
}

func TestPatchTimes_NoTimeIsRefusedWithoutACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	_, err := w.client.PatchTimes(t.Context(), mine, "abcde1", "", rules.Fingerprint{}, "")
	wantKind(t, err, fault.Invalid, "")
	if calls := w.sim.Control().Calls(); len(calls) != 0 {
		t.Errorf("calls were made: %v", calls)
	}
}

func TestDelete_ReportsWhetherItDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insert(t, session("abcde1"))
	for i, step := range []struct {
		id   string
		want bool
	}{{"abcde1", true}, {"abcde1", false}} {
		if deleted, err := w.client.Delete(t.Context(), mine, step.id); deleted != step.want || err != nil {
			t.Errorf("step %d: got %v, %v", i, deleted, err)
		}
	}
	_, err := w.client.Delete(t.Context(), mine, "neverwas")
	wantKind(t, err, fault.NotFound, "")
	if err := w.sim.Control().Plant(control.Rule{Match: "events.delete", Status: 503}); err != nil {
		t.Fatal(err)
	}
	deleted, err := w.client.Delete(t.Context(), mine, "abcde1")
	if deleted {
		t.Error("a refused deletion deleted")
	}
	wantKind(t, err, fault.Unavailable, "")
}

func TestGet_WhatWasNeverThereIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	for _, ref := range []gcal.Ref{mine, {Account: "gm", Calendar: "ana@example.test"}, {Account: "gm", Calendar: "no/such?calendar"}} {
		_, err := w.client.Get(t.Context(), ref, "neverwas")
		wantKind(t, err, fault.NotFound, "")
	}
}
