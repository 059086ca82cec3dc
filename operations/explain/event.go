package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

func isEvent(id string) bool { return strings.HasPrefix(id, "evt_") }

// eventHistory is what is stored of a canonical event, and its journal.
type eventHistory struct {
	event   mirror.Event // zero if it was removed; its journal outlives it
	mirrors []mirror.Mirror
	entries []mirror.JournalEntry
}

func loadEvent(ctx context.Context, reader store.Reader, id string) (h eventHistory, err error) {
	h.event, err = mirror.LoadEvent(ctx, reader, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return h, err
	}
	h.mirrors, err = mirror.OfEvent(ctx, reader, id)
	if err != nil {
		return h, err
	}
	h.entries, err = store.Collect(mirror.Journal(ctx, reader, id))
	slices.SortFunc(h.mirrors, func(a, b mirror.Mirror) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(h.entries, func(a, b mirror.JournalEntry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return h, err
}

// eventReport is the report of a canonical event with the mirrors of all users. It names no
// title.
func eventReport(ctx context.Context, reader store.Reader, id string) (report Report, err error) {
	var h eventHistory
	if mirror.EventPath(id).Valid() == nil {
		h, err = consistent("the event and its mirrors change", func() (eventHistory, error) { return loadEvent(ctx, reader, id) })
	}
	if err != nil {
		return Report{}, err
	}
	if h.event.ID == "" && len(h.entries) == 0 {
		return Report{}, fault.Newf(fault.NotFound, "there is no event %s in this store; check the id", clean(id))
	}
	report = Report{Head: append([]Line{{"event", id}}, eventHead(h.event)...), Steps: []Step{}}
	for _, m := range h.mirrors {
		report.Head = append(report.Head, Line{"mirror", mirrorText(m)})
	}
	for _, entry := range h.entries {
		report.Steps = append(report.Steps, mirrorStep(entry))
	}
	return report, nil
}

func eventHead(e mirror.Event) []Line {
	if e.ID == "" {
		return []Line{{"status", "removed; only its journal is left"}}
	}
	head := []Line{{"owner", e.OwnerID}, {"status", fmt.Sprintf("%s, version %d, made by %s", e.Status, e.Version, e.Source)}}
	if e.EventID != "" {
		head = append(head, Line{"origin", e.EventID + " in " + e.CalendarID + " of " + e.AccountID})
	}
	return head
}

func mirrorText(m mirror.Mirror) string {
	failure := ""
	if m.State == mirror.Failed || m.Attempts > 0 {
		failure = m.LastError
	}
	return fmt.Sprintf("%s into %s of %s: %s, %s in %s, generation %d%s%s%s", m.ID, m.TargetAccountID, m.OwnerID, m.State, m.Detail, m.Target,
		m.Generation, after(", event ", m.EventID), after(", due ", at(m.Due)), after(", error: ", failure))
}

// mirrorSteps say in words what happened, and by whom if the entry names no user.
var mirrorSteps = map[mirror.Step]struct{ what, by string }{
	mirror.StepObserved: {"the event was created or changed", "the calendar"},
	mirror.StepUnlisted: {"the event is no longer in its calendar", "the calendar"},
	mirror.StepPlanned:  {"planned", "the sync"}, mirror.StepWouldPlan: {"planned", "the sync"},
	mirror.StepWritten: {"written", "the sync"}, mirror.StepFailed: {"writing failed", "the sync"},
	mirror.StepDeleted: {"deleted", "the sync"},
	mirror.StepDrift:   {"changed in its calendar", "a person"}, mirror.StepRemoved: {"deleted in its calendar", "a person"},
	mirror.StepStray:     {"an event of ours without a mirror was found", "the reconciliation"},
	mirror.StepForgotten: {"the mirror's document was removed", "the sync"}, mirror.StepReconciled: {"corrected", "the reconciliation"},
}

func mirrorStep(entry mirror.JournalEntry) Step {
	words := mirrorSteps[entry.Step]
	step := Step{
		At: entry.At, Step: string(entry.Step), What: cmp.Or(words.what, string(entry.Step)), Observed: entry.Step == mirror.StepWouldPlan,
		By: cmp.Or(entry.Who, words.by, "the sync"), Trigger: entry.Trigger, Trace: entry.Trace, Why: entry.Reason, Entry: entry.ID,
	}
	if entry.MirrorID == "" {
		step.Change = "version " + changed(entry.Before, entry.After)
		return step
	}
	step.Mirror = entry.MirrorID + after(" into ", entry.TargetAccountID)
	step.Change = changed(entry.Before, entry.After)
	if entry.After != "" {
		step.Change += fmt.Sprintf("; generation %d", entry.Generation)
	}
	if entry.Attempts > 0 {
		step.Change += fmt.Sprintf("; failed attempts %d", entry.Attempts)
	}
	return step
}
