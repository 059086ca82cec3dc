package mirror

import (
	"strconv"
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

// JournalEntry is a document of the journal of a canonical event: one step, and its trigger. It is
// written in the transaction of the step and never changed.
type JournalEntry struct {
	ID      string // jrn_ and a ULID, so ids sort by time
	EventID string // of the canonical event
	// OwnerID is whose journal it is in: the owner of the mirror, else of the canonical event.
	OwnerID string
	At      time.Time
	// Trigger is such as push, timer, person; Trace correlates all effects of one trigger.
	Trigger, Trace string
	// Who is the person who commanded it; "" for what a calendar or a timer did.
	Who  string
	Step Step
	// MirrorID and TargetAccountID are the mirror's; "" for the origin's.
	MirrorID, TargetAccountID string
	// Before and After are the states of the mirror, or the versions of the origin; Before is
	// "" for what was new, After for a mirror whose document was removed.
	Before, After string
	// Reason says why in a few words, such as the rule that decided, the verdict on an
	// observation, or the kind of an error; it names no title.
	Reason string
	// Generation and Attempts are the mirror's after the step.
	Generation, Attempts int64
}

// StepEntry is the entry of a step that made a mirror what it is from what it was: the
// zero Mirror before it was planned, and after its document was removed. The caller adds
// the id, the time, the trigger and the trace.
func StepEntry(step Step, was, is Mirror, reason string) JournalEntry {
	known := is
	if is.ID == "" {
		known = was
	}
	return JournalEntry{
		EventID: known.CanonicalID, OwnerID: known.OwnerID, Step: step, MirrorID: known.ID, TargetAccountID: known.TargetAccountID,
		Before: string(was.State), After: string(is.State), Reason: reason,
		Generation: is.Generation, Attempts: is.Attempts,
	}
}

// OriginEntry is the entry of a step that made a canonical event what it is from what it was:
// the zero Event before it was known, and after its document was removed. The caller adds
// what StepEntry lacks too.
func OriginEntry(step Step, was, is Event, reason string) JournalEntry {
	known := is
	if is.ID == "" {
		known = was
	}
	return JournalEntry{EventID: known.ID, OwnerID: known.OwnerID, Step: step, Before: versionOf(was), After: versionOf(is), Reason: reason}
}

func versionOf(e Event) string {
	if e.ID == "" {
		return ""
	}
	return strconv.FormatInt(e.Version, 10)
}

// journals is the collection of the journals below canonical events. It is not named
// journal, since queries over all collections of that name read the journals of polls.
const journals = "mirrorJournal"

// EntryPath is where an entry is.
func EntryPath(eventID, id string) store.Path { return EventPath(eventID).Doc(journals, id) }

// EncodeEntry gives the fields of an entry.
func EncodeEntry(e JournalEntry) map[string]any {
	return map[string]any{
		"at": e.At, "ownerId": e.OwnerID, "trigger": e.Trigger, "trace": store.NullIfEmpty(e.Trace),
		"who": store.NullIfEmpty(e.Who), "step": string(e.Step),
		"mirrorId": store.NullIfEmpty(e.MirrorID), "targetAccountId": store.NullIfEmpty(e.TargetAccountID),
		"before": store.NullIfEmpty(e.Before), "after": store.NullIfEmpty(e.After),
		"reason": store.NullIfEmpty(e.Reason), "generation": e.Generation, "attempts": e.Attempts,
	}
}

// DecodeEntry reads an entry.
func DecodeEntry(doc store.Document) JournalEntry {
	f := store.Fields(doc.Data)
	return JournalEntry{
		ID: doc.Path.ID(), EventID: doc.Path.Parent().ID(), At: f.Time("at"), Trigger: f.String("trigger"),
		Trace: f.String("trace"), Who: f.String("who"),
		OwnerID: f.String("ownerId"), Step: Step(f.String("step")), MirrorID: f.String("mirrorId"), TargetAccountID: f.String("targetAccountId"),
		Before: f.String("before"), After: f.String("after"), Reason: f.String("reason"),
		Generation: f.Int("generation"), Attempts: f.Int("attempts"),
	}
}
