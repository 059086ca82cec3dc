package rules

// Documents is how a poll's document and its index entry agree. The web app writes the
// poll directly, so they may not.
type Documents struct {
	// Exists reports whether the poll exists. Left reports, if it does not, whether
	// something of it remains: documents below it, or an announcement.
	Exists bool
	Left   bool
	// Recreated reports that an existing poll has the id of a deleted one of which
	// something remains.
	Recreated bool
	Status    Status
	State     State
	// HasEvent reports whether the poll names a calendar event.
	HasEvent bool
	// HasEntry reports whether the index has an entry for the poll, Fits whether that is
	// for the poll's event.
	HasEntry bool
	Fits     bool
	// Rescheduled reports whether that field is present.
	Rescheduled bool
	// Marked reports whether any mark of a cancellation is present, Cancelled whether
	// both of ours are.
	Marked    bool
	Cancelled bool
	// Inserting reports whether a finalisation is under way.
	Inserting bool
	// Edited reports whether status, winning slot or event differ from the journal.
	Edited bool
	// EntryAwaited reports whether the entry is for an event whose deletion cancelled the
	// poll; Awaiting whether the poll still awaits it; AwaitOver whether it did not come
	// back in time; SlotsEdited whether somebody changed the poll's time since.
	EntryAwaited bool
	Awaiting     bool
	AwaitOver    bool
	SlotsEdited  bool
	// LongPast reports whether the session ended ForgetAfter ago, so that its event is no
	// longer followed.
	LongPast bool
}

// Mending is a repair of a poll and its index entry.
type Mending string

// The repairs, as stored in the journal.
const (
	// MendNothing: they agree.
	MendNothing Mending = "nothing"
	// MendGone: the poll was deleted. Its link and event go, and the documents below it,
	// some of which are closed to the web app.
	MendGone Mending = "outside_delete"
	// MendRecreated: the poll was deleted and another created with its id. As MendGone;
	// the new one starts with an empty journal.
	MendRecreated Mending = "outside_recreate"
	// MendCancel: the poll was cancelled; its link and event go.
	MendCancel Mending = "outside_cancel"
	// MendReopen: the poll was reopened; its link and reschedule go, the event stays.
	MendReopen Mending = "outside_reopen"
	// MendLink: the poll names an event that the index lacks.
	MendLink Mending = "outside_link"
	// MendUnlink: the index has an event that the poll does not name.
	MendUnlink Mending = "outside_unlink"
	// MendRestore: the poll is no longer cancelled, but has marks of it.
	MendRestore Mending = "outside_restore"
	// MendForget: the session is long past, or its event did not come back in time; the
	// event is no longer followed. This is no edit, and is not journaled.
	MendForget Mending = "long_past"
	// MendSlots: the poll's time was edited while its event was awaited, which is a
	// person's decision; the event is no longer awaited.
	MendSlots Mending = "outside_slots"
	// MendNote: status, winning slot or event differ from the journal; only a journal
	// entry follows.
	MendNote Mending = "outside_status"
)

// MendingRow is one row of the table of direct edits.
type MendingRow struct {
	// Documents describes the row.
	Documents string
	Mending   Mending
	when      func(d Documents) bool
}

// repairs is the table of direct edits; the first matching row counts.
var repairs = []MendingRow{
	{"poll deleted, entry, insert, announcement or something below it left", MendGone, func(d Documents) bool {
		return !d.Exists && (d.HasEntry || d.Inserting || d.Left)
	}},
	{"another poll made of the id of a deleted one, of which something is left", MendRecreated, func(d Documents) bool { return d.Recreated }},
	{"poll deleted", MendNothing, func(d Documents) bool { return !d.Exists }},
	{"awaited event did not come back in time", MendForget, func(d Documents) bool { return d.Awaiting && d.AwaitOver && !d.Edited }},
	{"awaited event, and the winning slot or the one from before was edited", MendSlots, func(d Documents) bool {
		return d.Awaiting && d.SlotsEdited && (d.Status == Cancelled && d.Cancelled || d.Status == Finalized && !d.Marked)
	}},
	{"ARCHIVED, which the journal does not know", MendNote, func(d Documents) bool { return d.Status == Archived && d.Edited }},
	{"ARCHIVED", MendNothing, func(d Documents) bool { return d.Status == Archived }},
	{"CANCELLED, but linked or not marked as cancelled", MendCancel, func(d Documents) bool {
		return d.Status == Cancelled && (d.HasEntry && !d.Awaiting || d.Inserting || !d.Cancelled)
	}},
	{"CANCELLED, which the journal does not know", MendNote, func(d Documents) bool { return d.Status == Cancelled && d.Edited }},
	{"CANCELLED", MendNothing, func(d Documents) bool { return d.Status == Cancelled }},
	{"OPEN, which the journal does not know, or linked, or marked as rescheduled or cancelled", MendReopen, func(d Documents) bool {
		return d.Status != Finalized && (d.Edited || d.HasEntry || d.Rescheduled || d.Marked || d.State != StateNone)
	}},
	{"OPEN", MendNothing, func(d Documents) bool { return d.Status != Finalized }},
	{"FINALIZED, entry of an awaited event, but names one", MendUnlink, func(d Documents) bool { return d.EntryAwaited && (d.HasEvent || !d.Fits) }},
	{"FINALIZED, but marked as cancelled", MendRestore, func(d Documents) bool { return d.Marked || d.State == StateCancelled }},
	{"FINALIZED, entry of another event", MendUnlink, func(d Documents) bool { return d.HasEntry && !d.Fits }},
	{"FINALIZED, event without entry", MendLink, func(d Documents) bool { return d.HasEvent && !d.HasEntry && !d.Inserting && !d.LongPast }},
	{"FINALIZED, or another winning slot or event, which the journal does not know", MendNote, func(d Documents) bool { return d.Edited }},
	{"FINALIZED, entry of a session that is long past", MendForget, func(d Documents) bool { return d.HasEntry && d.LongPast && !d.Awaiting }},
	{"FINALIZED", MendNothing, func(Documents) bool { return true }},
}

// Mendings returns the table, for documentation and tests.
func Mendings() []MendingRow { return append([]MendingRow(nil), repairs...) }

// Mend returns the repair of a poll and its index entry after a direct edit.
func Mend(d Documents) Mending {
	for _, row := range repairs {
		if row.when(d) {
			return row.Mending
		}
	}
	return MendNothing
}

// Forgotten is the sync state and error of a poll whose event is no longer known: errors
// of that event go with it. linked reports whether the poll names another one.
func Forgotten(poll Poll, linked bool) (State, ErrorCode) {
	code := poll.Error
	switch code {
	case SyncFailed, MassCancellationHeld, RecurringUnsupported, UnreadableEvent:
		code = ""
	}
	switch {
	case poll.State == StateNone || poll.State == StateCancelled:
		return poll.State, code
	case !linked:
		return StateNone, ""
	case code != "":
		return StateError, code
	default:
		return StateOK, ""
	}
}
