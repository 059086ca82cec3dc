package explain_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/mirrors/plan"
	"questscheduler/operations/explain"
	"questscheduler/rules"
)

// mirrored is a canonical event with one mirror, whose steps are journaled as they are
// decided.
type mirrored struct {
	explain.EventHistory
	at time.Time
	m  mirror.Mirror
}

func newMirrored() *mirrored {
	h := &mirrored{at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	h.ID = "evt_1"
	h.Event = mirror.Event{ID: h.ID, OwnerID: "gm", AccountID: "acc_1", CalendarID: "c", EventID: "e", Status: "confirmed", Version: 1, Source: mirror.SourceProvider, Title: "Secret"}
	h.entry(mirror.OriginEntry(mirror.StepObserved, mirror.Event{}, h.Event, "confirmed"))
	h.to(mirror.StepPlanned, mirror.Mirror{
		ID: "mir_1", CanonicalID: h.ID, OwnerID: "gm", TargetAccountID: "acc_2", Generation: 1, Wanted: "hash1", State: mirror.Pending, Detail: mirror.Busy, Target: mirror.Overlay,
	}, "")
	return h
}

func (h *mirrored) entry(entry mirror.Entry) {
	h.at = h.at.Add(time.Minute)
	entry.ID, entry.At, entry.Trigger = fmt.Sprintf("jrn_%03d", len(h.Entries)), h.at, "push"
	h.Entries = append(h.Entries, entry)
}

// to makes the mirror another by a step.
func (h *mirrored) to(step mirror.Step, next mirror.Mirror, reason string) {
	h.entry(mirror.StepEntry(step, h.m, next, reason))
	h.m, h.Mirrors = next, []mirror.Mirror{next}
}

func (h *mirrored) written() {
	h.to(mirror.StepWritten, plan.Written(h.m, h.m.Wanted, gcal.Event{ID: "m", ETag: "1", EventState: rules.Present, Details: &gcal.Details{}}, h.at), "")
}

func (h *mirrored) failed(kind fault.Kind) {
	h.to(mirror.StepFailed, plan.FailedWrite(h.m, fault.New(kind, "no"), h.at), kind.String())
}

func (h *mirrored) observed(step mirror.Step, shown gcal.Event) {
	shown.ID, shown.ETag = h.m.EventID, "2"
	next, verdict := plan.Observed(h.m, shown, h.at)
	h.to(step, next, string(verdict))
}

func (h *mirrored) dragged() {
	h.observed(mirror.StepDrift, gcal.Event{EventState: rules.Present, Details: &gcal.Details{Summary: fmt.Sprint("moved ", len(h.Entries))}})
}

func (h *mirrored) removed() { h.observed(mirror.StepRemoved, gcal.Event{EventState: rules.Gone}) }

// lived is a mirror that went through much.
func lived() *mirrored {
	h := newMirrored()
	h.failed(fault.Unavailable)
	h.failed(fault.RateLimited)
	h.written()
	for range 3 {
		h.dragged()
		h.written()
	}
	h.removed()
	h.written()
	h.dragged()
	return h
}

func TestJudgeEvent_OfStepsAsDecided_Agrees(t *testing.T) {
	t.Parallel()
	contested := lived()
	if contested.m.State != mirror.Contested {
		t.Fatalf("after four reverts the mirror is %s", contested.m.State)
	}
	suppressed := newMirrored()
	suppressed.written()
	suppressed.removed()
	suppressed.written()
	suppressed.removed()
	failed := newMirrored()
	for range 6 {
		failed.failed(fault.Provider)
	}
	forbidden := newMirrored()
	forbidden.failed(fault.Forbidden)
	gone := newMirrored()
	gone.written()
	gone.to(mirror.StepDeleted, mirror.Mirror{}, "")
	gone.Mirrors = nil
	for name, row := range map[string]struct {
		h     *mirrored
		state mirror.State
	}{
		"contested": {contested, mirror.Contested}, "suppressed": {suppressed, mirror.Suppressed}, "failed": {failed, mirror.Failed},
		"forbidden": {forbidden, mirror.Failed}, "removed": {gone, ""},
	} {
		v := explain.JudgeEvent(row.h.EventHistory)
		if !v.Agrees || v.Partial || v.Entries != len(row.h.Entries) || row.h.m.State != row.state {
			t.Errorf("%s: %s, %+v", name, row.h.m.State, v)
		}
	}
}

func TestJudgeEvent_OfWhatDoesNotFollow_Disagrees(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(h *mirrored){
		"another state is stored":      func(h *mirrored) { h.Mirrors[0].State = mirror.Active },
		"another generation is stored": func(h *mirrored) { h.Mirrors[0].Generation++ },
		"another hash is stored":       func(h *mirrored) { h.Mirrors[0].Wanted = "hash2" },
		"the mirror is gone":           func(h *mirrored) { h.Mirrors = nil },
		"the event has changed":        func(h *mirrored) { h.Event.Version++ },
		"an entry is missing":          func(h *mirrored) { h.Entries = append(h.Entries[:4:4], h.Entries[5:]...) },
		"contested after two reverts": func(h *mirrored) {
			*h = *newMirrored()
			h.written()
			h.dragged()
			h.written()
			next := h.m
			next.State = mirror.Contested
			h.to(mirror.StepDrift, next, string(plan.GaveUp))
		},
		"reverted a fourth time": func(h *mirrored) {
			last := &h.Entries[len(h.Entries)-1]
			last.After, last.Reason, last.Written = string(mirror.Pending), string(plan.Drift), ""
			h.Mirrors[0].State, h.Mirrors[0].Written = mirror.Pending, ""
		},
		"in error after one failure": func(h *mirrored) {
			*h = *newMirrored()
			h.failed(fault.Unavailable)
			h.Entries[len(h.Entries)-1].After = string(mirror.Failed)
			h.Mirrors[0].State = mirror.Failed
		},
		"active by planning": func(h *mirrored) {
			*h = *newMirrored()
			next := h.m
			next.State = mirror.Active
			h.to(mirror.StepPlanned, next, "")
		},
	} {
		h := lived()
		tamper(h)
		if v := explain.JudgeEvent(h.EventHistory); v.Agrees {
			t.Errorf("%s, and the replay agrees", name)
		}
	}
}

func TestJudgeEvent_WithoutTheOldestEntries_IsPartial(t *testing.T) {
	t.Parallel()
	h := lived()
	h.Entries = h.Entries[5:]
	if v := explain.JudgeEvent(h.EventHistory); !v.Partial {
		t.Errorf("%+v", v)
	}
	h.Entries = nil
	if v := explain.JudgeEvent(h.EventHistory); !v.Partial || !v.Agrees {
		t.Errorf("without a journal: %+v", v)
	}
}

func TestEventReport_Written_TellsEachStepAndNoTitle(t *testing.T) {
	t.Parallel()
	h := lived()
	report := explain.NewEventReport(h.EventHistory, true)
	var text, object bytes.Buffer
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteJSON(&object); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"evt_1", "mir_1 into acc_2 of gm: CONTESTED", "changed by a person", "deleted by a person", "PENDING → ACTIVE", "replay    agrees"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String()+object.String(), "Secret") {
		t.Error("the report names the title")
	}
	h.Mirrors[0].State = mirror.Active
	report, text = explain.NewEventReport(h.EventHistory, true), bytes.Buffer{}
	if err := report.WriteText(&text); err != nil || !report.Disagrees() || !strings.Contains(text.String(), "mir_1 state: CONTESTED by the journal, ACTIVE stored") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

func TestLoadEvent_ByID_ReadsItAndItsJournal(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(mirror.Queries)
	if err != nil {
		t.Fatal(err)
	}
	h := lived()
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, entry := range h.Entries {
			if err := tx.Create(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry)); err != nil {
				return err
			}
		}
		return tx.Create(mirror.Path(h.m.ID), mirror.Encode(h.m))
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := explain.LoadEvent(t.Context(), documents, h.ID) // its document was removed
	if err != nil || got.Event.ID != "" || len(got.Mirrors) != 1 || len(got.Entries) != len(h.Entries) || !explain.JudgeEvent(got).Agrees {
		t.Errorf("%+v, %v", got, err)
	}
	for _, id := range []string{"evt_2", "evt_a/b"} {
		if _, err := explain.LoadEvent(t.Context(), documents, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
