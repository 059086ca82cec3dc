package mirror

import (
	"time"

	"questscheduler/internal/store"
)

// Step is what happened to a canonical event or one of its mirrors.
type Step string

// The steps, as stored. They are shown to people by explain.
const (
	StepObserved   Step = "observed"   // the origin was created, changed, cancelled or moved
	StepUnlisted   Step = "unlisted"   // the origin is no longer in its calendar
	StepPlanned    Step = "planned"    // a mirror was decided on, or decided again
	StepWritten    Step = "written"    // a mirror's event was created or changed
	StepDeleted    Step = "deleted"    // a mirror's event was deleted by us
	StepDrift      Step = "drift"      // a person changed a mirror's event
	StepRemoved    Step = "removed"    // a person deleted a mirror's event
	StepFailed     Step = "failed"     // a write failed
	StepWouldPlan  Step = "would_plan" // what QS_SYNC=observe left undone
	StepStray      Step = "stray"      // an event of ours that no mirror has
	StepForgotten  Step = "forgotten"  // its mirror's document was removed
	StepReconciled Step = "reconciled" // the daily reconciliation corrected it
)

// Entry is a document of the journal of a canonical event: one step, and its trigger. It is
// written in the transaction of the step and never changed.
type Entry struct {
	ID      string // jrn_ and a ULID, so ids sort by time
	EventID string // of the canonical event
	At      time.Time
	// Trigger is such as push, timer, person; Trace correlates all effects of one trigger.
	Trigger, Trace string
	Step           Step
	// MirrorID is the mirror's; "" for the origin's.
	MirrorID string
	// Before and After are the states of the mirror, or the versions of the origin.
	Before, After string
	// Reason says why in a few words, such as the rule that decided; it names no title.
	Reason string
}

// journals is the collection of the journals below canonical events. It is not named
// journal, since queries over all collections of that name read the journals of polls.
const journals = "mirrorJournal"

// EntryPath is where an entry is.
func EntryPath(eventID, id string) store.Path { return EventPath(eventID).Doc(journals, id) }

// EncodeEntry gives the fields of an entry.
func EncodeEntry(e Entry) map[string]any {
	return map[string]any{
		"at": e.At, "trigger": e.Trigger, "trace": store.NullIfEmpty(e.Trace), "step": string(e.Step),
		"mirrorId": store.NullIfEmpty(e.MirrorID), "before": store.NullIfEmpty(e.Before), "after": store.NullIfEmpty(e.After),
		"reason": store.NullIfEmpty(e.Reason),
	}
}

// DecodeEntry reads an entry.
func DecodeEntry(doc store.Document) Entry {
	f := store.Fields(doc.Data)
	return Entry{
		ID: doc.Path.ID(), EventID: doc.Path.Parent().ID(), At: f.Time("at"), Trigger: f.String("trigger"), Trace: f.String("trace"),
		Step: Step(f.String("step")), MirrorID: f.String("mirrorId"), Before: f.String("before"), After: f.String("after"),
		Reason: f.String("reason"),
	}
}
