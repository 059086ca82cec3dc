package explain_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/operations/explain"
)

// mirrored is a canonical event with one mirror, and its journal.
type mirrored struct {
	event   mirror.Event
	m       mirror.Mirror
	entries []mirror.JournalEntry
}

func (h *mirrored) add(entry mirror.JournalEntry, by string) {
	entry.ID, entry.At, entry.Trigger, entry.Who = fmt.Sprintf("jrn_%02d", len(h.entries)),
		noon.Add(time.Duration(len(h.entries))*time.Minute), "push", by
	entry.Trace = "trc_" + entry.ID[4:]
	h.entries = append(h.entries, entry)
}

// to makes the mirror another by a step.
func (h *mirrored) to(step mirror.Step, state mirror.State, reason string) {
	next := h.m
	next.State, next.Attempts = state, 0
	h.add(mirror.StepEntry(step, h.m, next, reason), "")
	h.m = next
}

func (h *mirrored) failed(reason string) {
	next := h.m
	next.Attempts++
	h.add(mirror.StepEntry(mirror.StepFailed, h.m, next, reason), "")
	h.m = next
}

// lived is an event whose mirror went through much.
func lived() *mirrored {
	h := &mirrored{event: mirror.Event{
		ID: "evt_1", OwnerID: "gm", AccountID: "acc_1", CalendarID: "gm@example.com", EventID: "e1", Status: "confirmed", Version: 1,
		Source: mirror.SourceAPI, Title: "Secret",
	}}
	h.add(mirror.OriginEntry(mirror.StepObserved, mirror.Event{}, h.event, "confirmed"), "gm")
	was := h.event
	h.event.Version = 2
	h.add(mirror.OriginEntry(mirror.StepObserved, was, h.event, "confirmed"), "")
	h.m = mirror.Mirror{
		ID: "mir_1", CanonicalID: "evt_1", OwnerID: "gm", TargetAccountID: "acc_2", Detail: mirror.Busy, Target: mirror.Overlay,
		Generation: 1,
	}
	h.to(mirror.StepWouldPlan, mirror.Pending, "")
	h.m.State = ""
	h.to(mirror.StepPlanned, mirror.Pending, "")
	h.failed("unavailable")
	h.to(mirror.StepWritten, mirror.Active, "")
	h.to(mirror.StepDrift, mirror.Pending, "drift")
	h.to(mirror.StepRemoved, mirror.Suppressed, "gave_up")
	h.to("unheard_of", mirror.Failed, "")
	h.m.EventID, h.m.Due, h.m.LastError = "m1", noon.Add(time.Hour), "Google refuses it."
	return h
}

// stored is a store that holds the event, its mirror and its journal.
func (h *mirrored) stored(t *testing.T) store.Store {
	t.Helper()
	documents, err := memorystore.Open(mirror.Queries)
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, entry := range h.entries {
			if err := tx.Create(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry)); err != nil {
				return err
			}
		}
		if h.m.ID != "" {
			if err := tx.Create(mirror.Path(h.m.ID), mirror.Encode(h.m)); err != nil {
				return err
			}
		}
		if h.event.ID != "" {
			return tx.Create(mirror.EventPath(h.event.ID), mirror.EncodeEvent(h.event))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

func TestReport_OfAnEvent_HasItsMirrorsAndEachStep(t *testing.T) {
	t.Parallel()
	removed := lived()
	removed.event, removed.m, removed.entries = mirror.Event{}, mirror.Mirror{}, removed.entries[:2]
	for name, h := range map[string]*mirrored{"event": lived(), "removed_event": removed} {
		report, err := explain.New(t.Context(), h.stored(t), "evt_1", false)
		if err != nil {
			t.Fatal(err)
		}
		text, object := textOf(t, report), jsonOf(t, report)
		golden(t, name+".txt", text)
		golden(t, name+".json", object)
		if strings.Contains(text+object, "Secret") {
			t.Error("the report names the title")
		}
	}
}

func TestReport_OfAnUnknownEvent_IsNotFound(t *testing.T) {
	t.Parallel()
	documents := lived().stored(t)
	for _, id := range []string{"evt_2", "evt_a/b", "evt_"} {
		if _, err := explain.New(t.Context(), documents, id, false); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestReport_AnEventChangesDuringIt_IsReadAgain(t *testing.T) {
	t.Parallel()
	documents, changes := lived().stored(t), 0
	change := func(state mirror.State) {
		changes++
		err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Merge(mirror.Path("mir_1"), store.Set("state", fmt.Sprint(state)))
		})
		if err != nil {
			t.Error(err)
		}
	}
	once := restless{documents, func() {
		if changes == 0 {
			change(mirror.Contested)
		}
	}}
	report, err := explain.New(t.Context(), once, "evt_1", false)
	if err != nil || !strings.Contains(textOf(t, report), string(mirror.Contested)) {
		t.Errorf("it is not read again: %v, %+v", err, report.Head)
	}
	always := restless{documents, func() { change(mirror.State(fmt.Sprint(changes))) }}
	if _, err := explain.New(t.Context(), always, "evt_1", false); !fault.Is(err, fault.Unavailable) {
		t.Errorf("an event that never stops changing: %v", err)
	}
}
