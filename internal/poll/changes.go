package poll

import (
	"maps"
	"reflect"
	"slices"

	"questscheduler/internal/store"
)

// field is a part of a poll's document that is written as a whole.
type field struct {
	path store.FieldPath
	// value is the field of the document for a poll; store.Delete for none.
	value func(p Poll) any
	// ours reports whether the next write removes an unreadable value: the server alone reads
	// the field, or the web app treats any value in it as true.
	ours bool
}

// written are the fields of a poll's document that transitions change after the poll was
// made, beside finalizedSlotPriorityAtMs. The fields of its Discord card are written by
// notify (card_record.go, discord.go); no other is ever written.
var written = []field{
	{path: store.Field("title"), value: func(p Poll) any { return p.Title }},
	{path: store.Field("description"), value: func(p Poll) any { return p.Description }},
	{path: store.Field("timezone"), value: func(p Poll) any { return store.NullIfEmpty(p.Timezone) }},
	{path: store.Field("participantIds"), value: func(p Poll) any { return listOf(p.ParticipantIDs) }},
	{path: store.Field("joinedIds"), value: func(p Poll) any {
		if len(p.JoinedIDs) == 0 {
			return store.Delete
		}
		return listOf(p.JoinedIDs)
	}, ours: true},
	{path: store.Field("pendingInvites"), value: func(p Poll) any { return listOf(p.PendingInvites) }},
	{path: store.Field("allowLinkSharing"), value: func(p Poll) any { return p.AllowLinkSharing }},
	{path: store.Field("status"), value: func(p Poll) any { return string(p.Status) }},
	{path: store.Field("winningSlotId"), value: func(p Poll) any { return store.NullIfEmpty(p.WinningSlotID) }},
	{path: store.Field("googleEventId"), value: func(p Poll) any { return store.NullIfEmpty(p.GoogleEventID) }},
	{path: store.Field("googleCalendarId"), value: func(p Poll) any { return store.NullIfEmpty(p.GoogleCalendarID) }},
	{path: store.Field("finalizedAtMs"), value: func(p Poll) any {
		if p.FinalizedAt.IsZero() {
			return store.Delete
		}
		return p.FinalizedAt.UnixMilli()
	}},
	{path: store.Field("cancelled"), value: func(p Poll) any { return p.Cancelled.field() }, ours: true},
	{path: store.Field("cancelledAt"), value: func(p Poll) any {
		if !p.HasCancelledAt {
			return store.Delete
		}
		return true // whatever it is: it is never set here
	}},
	{path: store.Field("updatedAt"), value: func(p Poll) any { return store.NullIfZero(p.UpdatedAt) }},
	{path: SyncField("state"), value: func(p Poll) any { return orDelete(string(p.Sync.State)) }, ours: true},
	{path: SyncField("lastSyncedAt"), value: func(p Poll) any { return orDelete(p.Sync.LastSyncedAt) }, ours: true},
	{path: SyncField("lastEventFingerprint"), value: func(p Poll) any {
		if p.Sync.Applied.IsZero() {
			return store.Delete
		}
		return p.Sync.Applied.String()
	}, ours: true},
	{path: SyncField("generation"), value: func(p Poll) any { return orDelete(p.Sync.Generation) }, ours: true},
	{path: SyncField("sequence"), value: func(p Poll) any { return orDelete(p.Sync.Sequence) }, ours: true},
	{path: SyncField("observedUpdated"), value: func(p Poll) any { return orDelete(p.Sync.Observed) }, ours: true},
	{path: SyncField("baseline"), value: func(p Poll) any { return encodeBaseline(p.Sync.Baseline) }, ours: true},
	{path: SyncField("rescheduled"), value: func(p Poll) any { return p.Sync.Rescheduled.field() }, ours: true},
	{path: SyncField("cancelled"), value: func(p Poll) any { return p.Sync.Cancelled.field() }, ours: true},
	{path: SyncField("error"), value: func(p Poll) any { return p.Sync.Error.field() }, ours: true},
	{path: SyncField("awaited"), value: func(p Poll) any { return p.Sync.Awaited.field() }, ours: true},
	{path: SyncField("recorded"), value: func(p Poll) any { return p.Sync.Recorded.field() }, ours: true},
	{path: SyncField("request"), value: func(p Poll) any { return p.Sync.Request.field() }, ours: true},
}

// Changes gives the difference between the poll and the document that it was read from. A
// field that the poll does not change is not among it, whatever the document holds there,
// unless it is ours and cannot be read.
func (p Poll) Changes() []store.Update {
	before := p.Stored()
	var updates []store.Update
	for _, f := range written {
		value := f.value(p)
		unreadable := f.ours && store.IsDelete(value) && valueAt(p.stored.Data, f.path) != nil
		if unreadable || !equal(value, f.value(before)) {
			updates = append(updates, store.Update{Path: f.path, Value: value})
		}
	}
	for _, slot := range slices.Sorted(maps.Keys(p.SlotPriority)) {
		if at, known := before.SlotPriority[slot]; !known || at != p.SlotPriority[slot] {
			updates = append(updates, store.Update{Path: store.Field("finalizedSlotPriorityAtMs", slot), Value: p.SlotPriority[slot]})
		}
	}
	return updates
}

// Stored is the poll as its document had it.
func (p Poll) Stored() Poll { return Decode(p.stored) }

// Write writes what Changes gives: nothing where nothing changed.
func (p Poll) Write(tx store.Tx) error {
	updates := p.Changes()
	if len(updates) == 0 {
		return nil
	}
	return tx.Update(Path(p.ID), updates...)
}

func equal(a, b any) bool {
	if store.IsDelete(a) || store.IsDelete(b) {
		return store.IsDelete(a) && store.IsDelete(b)
	}
	a, errA := store.NormalizeValue(a)
	b, errB := store.NormalizeValue(b)
	return errA == nil && errB == nil && reflect.DeepEqual(a, b)
}

// valueAt is the value of a document at a path; nil for none and for null.
func valueAt(data map[string]any, path store.FieldPath) any {
	for _, name := range path[:len(path)-1] {
		data, _ = data[name].(map[string]any)
	}
	return data[path[len(path)-1]]
}

// orDelete is a value for writing, or store.Delete for the zero one.
func orDelete[T comparable](value T) any {
	if value == *new(T) {
		return store.Delete
	}
	return value
}
