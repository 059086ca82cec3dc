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
	// back in time; SlotsEdited whether the poll's time was edited since.
	EntryAwaited bool
	Awaiting     bool
	AwaitOver    bool
	SlotsEdited  bool
	// LongPast reports whether the session ended ForgetAfter ago, so that its event is no
	// longer followed.
	LongPast bool
}

// Repair is a repair of a poll and its index entry.
type Repair string

// The repairs, as stored in the journal.
const (
	// RepairNothing: they agree.
	RepairNothing Repair = "nothing"
	// RepairDeleted: the poll was deleted. Its link and event go, and the documents below it,
	// some of which are closed to the web app.
	RepairDeleted Repair = "outside_delete"
	// RepairRecreated: the poll was deleted and another created with its id. As RepairDeleted;
	// the new one starts with an empty journal.
	RepairRecreated Repair = "outside_recreate"
	// RepairCancel: the poll was cancelled; its link and event go.
	RepairCancel Repair = "outside_cancel"
	// RepairReopen: the poll was reopened; its link and reschedule go, the event stays.
	RepairReopen Repair = "outside_reopen"
	// RepairLink: the poll names an event that the index lacks.
	RepairLink Repair = "outside_link"
	// RepairUnlink: the index has an event that the poll does not name.
	RepairUnlink Repair = "outside_unlink"
	// RepairRestore: the poll is no longer cancelled, but has marks of it.
	RepairRestore Repair = "outside_restore"
	// RepairForget: the session is long past, or its event did not come back in time; the
	// event is no longer followed. This is no edit, and is not journaled.
	RepairForget Repair = "long_past"
	// RepairSlots: the poll's time was edited while its event was awaited, which is a
	// person's decision; the event is no longer awaited.
	RepairSlots Repair = "outside_slots"
	// RepairRecord: status, winning slot or event differ from the journal; only a journal
	// entry follows.
	RepairRecord Repair = "outside_status"
)

// RepairRow is one row of the table of direct edits.
type RepairRow struct {
	// Documents describes the row.
	Documents string
	Repair    Repair
	when      func(d Documents) bool
}

// repairs is the table of direct edits; the first matching row counts.
var repairs = []RepairRow{
	{"poll deleted, entry, insert, announcement or something below it left", RepairDeleted, func(d Documents) bool {
		return !d.Exists && (d.HasEntry || d.Inserting || d.Left)
	}},
	{
		"another poll made of the id of a deleted one, of which something is left", RepairRecreated,
		func(d Documents) bool { return d.Recreated },
	},
	{"poll deleted", RepairNothing, func(d Documents) bool { return !d.Exists }},
	{"awaited event did not come back in time", RepairForget, func(d Documents) bool { return d.Awaiting && d.AwaitOver && !d.Edited }},
	{"awaited event, and the winning slot or the one from before was edited", RepairSlots, func(d Documents) bool {
		return d.Awaiting && d.SlotsEdited && (d.Status == Cancelled && d.Cancelled || d.Status == Finalized && !d.Marked)
	}},
	{"ARCHIVED, which the journal does not know", RepairRecord, func(d Documents) bool { return d.Status == Archived && d.Edited }},
	{"ARCHIVED", RepairNothing, func(d Documents) bool { return d.Status == Archived }},
	{"CANCELLED, but linked or not marked as cancelled", RepairCancel, func(d Documents) bool {
		return d.Status == Cancelled && (d.HasEntry && !d.Awaiting || d.Inserting || !d.Cancelled)
	}},
	{"CANCELLED, which the journal does not know", RepairRecord, func(d Documents) bool { return d.Status == Cancelled && d.Edited }},
	{"CANCELLED", RepairNothing, func(d Documents) bool { return d.Status == Cancelled }},
	{"OPEN, which the journal does not know, or linked, or marked as rescheduled or cancelled", RepairReopen, func(d Documents) bool {
		return d.Status != Finalized && (d.Edited || d.HasEntry || d.Rescheduled || d.Marked || d.State != StateNone)
	}},
	{"OPEN", RepairNothing, func(d Documents) bool { return d.Status != Finalized }},
	{
		"FINALIZED, entry of an awaited event, but names one", RepairUnlink,
		func(d Documents) bool { return d.EntryAwaited && (d.HasEvent || !d.Fits) },
	},
	{"FINALIZED, but marked as cancelled", RepairRestore, func(d Documents) bool { return d.Marked || d.State == StateCancelled }},
	{"FINALIZED, entry of another event", RepairUnlink, func(d Documents) bool { return d.HasEntry && !d.Fits }},
	{"FINALIZED, event without entry", RepairLink, func(d Documents) bool { return d.HasEvent && !d.HasEntry && !d.Inserting && !d.LongPast }},
	{"FINALIZED, or another winning slot or event, which the journal does not know", RepairRecord, func(d Documents) bool { return d.Edited }},
	{
		"FINALIZED, entry of a session that is long past", RepairForget,
		func(d Documents) bool { return d.HasEntry && d.LongPast && !d.Awaiting },
	},
	{"FINALIZED", RepairNothing, func(Documents) bool { return true }},
}

// Repairs returns the table, for documentation and tests.
func Repairs() []RepairRow { return append([]RepairRow(nil), repairs...) }

// RepairFor returns the repair of a poll and its index entry after a direct edit.
func RepairFor(d Documents) Repair {
	for _, row := range repairs {
		if row.when(d) {
			return row.Repair
		}
	}
	return RepairNothing
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
