package rules

// Documents is how a poll's document and its index entry stand to each other.
// The web app writes the one without asking us, so the two can disagree.
type Documents struct {
	// Exists tells whether the poll is there at all. Left tells, where it is not,
	// whether something of it is: below it, or to be announced.
	Exists bool
	Left   bool
	// Recreated tells of a poll that is there that its id was another one's before,
	// of which something is left.
	Recreated bool
	Status    Status
	State     State
	// HasEvent tells whether the poll names a calendar event.
	HasEvent bool
	// HasEntry tells whether the index holds an entry for the poll, Fits
	// whether that is for the event the poll names.
	HasEntry bool
	Fits     bool
	// Rescheduled tells whether that field is present.
	Rescheduled bool
	// Marked tells whether any mark of a cancellation is present, Cancelled
	// whether both of ours are.
	Marked    bool
	Cancelled bool
	// Inserting tells whether a finalisation is under way.
	Inserting bool
	// Edited tells whether the journal knows another status, winning slot or event.
	Edited bool
	// EntryAwaited tells whether the entry is for an event whose deletion cancelled
	// the poll. Awaiting tells whether the poll awaits that event still, AwaitOver
	// whether it did not come back in time, and SlotsEdited whether somebody changed
	// the time since that the poll had.
	EntryAwaited bool
	Awaiting     bool
	AwaitOver    bool
	SlotsEdited  bool
	// LongPast tells whether the session is over for ForgetAfter, so that its
	// event is not followed any more.
	LongPast bool
}

// Mending is what sets poll and index right again.
type Mending string

// The mendings, as they stand in the journal.
const (
	// MendNothing: they agree.
	MendNothing Mending = "nothing"
	// MendGone: the poll was deleted; its link goes, and the event with it, and
	// whatever is left below it. Nobody else can remove that: snapshots and
	// journal are closed to the web app.
	MendGone Mending = "outside_delete"
	// MendRecreated: the poll was deleted, and somebody made another one of its id;
	// as MendGone, and the new one begins with an empty journal.
	MendRecreated Mending = "outside_recreate"
	// MendCancel: the poll was cancelled; its link goes, and the event with it.
	MendCancel Mending = "outside_cancel"
	// MendReopen: the poll was reopened; the link and what is left of a
	// reschedule go, the event stays.
	MendReopen Mending = "outside_reopen"
	// MendLink: the poll names an event that the index does not know.
	MendLink Mending = "outside_link"
	// MendUnlink: the index knows an event that the poll does not name.
	MendUnlink Mending = "outside_unlink"
	// MendRestore: the poll is no longer cancelled, but its fields still say
	// so.
	MendRestore Mending = "outside_restore"
	// MendForget: the session is long past, or its event did not come back in time;
	// the event is followed no more. This is nobody's edit, and stands in no journal.
	MendForget Mending = "long_past"
	// MendSlots: the poll's time was edited while its event was awaited, which is a
	// decision of a person: the event is not awaited any more.
	MendSlots Mending = "outside_slots"
	// MendNote: the status, the winning slot or the event is another than the
	// journal knows, and nothing follows from it but a line.
	MendNote Mending = "outside_status"
)

// MendingRow is one row of the table of direct edits.
type MendingRow struct {
	// Documents says the row in words.
	Documents string
	Mending   Mending
	when      func(d Documents) bool
}

// mendings is the table of direct edits. The order matters.
var mendings = []MendingRow{
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

// Mendings gives the table, for documentation and tests.
func Mendings() []MendingRow { return append([]MendingRow(nil), mendings...) }

// Mend says what sets a poll and its index entry right again after a direct
// edit.
func Mend(d Documents) Mending {
	for _, row := range mendings {
		if row.when(d) {
			return row.Mending
		}
	}
	return MendNothing
}

// Forgotten is the sync state and the error of a poll when nothing is known any
// more of the event that it followed: what was wrong with that event is over
// with it. linked tells whether the poll names another one.
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
