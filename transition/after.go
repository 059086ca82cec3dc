package transition

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Details are what a poll after a transition depends on beside its journal entry. A
// replay leaves them zero where no entry holds them.
type Details struct {
	// Request names the request of a finalisation.
	Request poll.Request
	// Cancelled is an existing mark of a cancellation; nil for none.
	Cancelled *poll.Cancelled
	// EventGone reports whether a cancellation or reopening deletes the poll's event.
	EventGone bool
	// Removed are the slots that an edit removes.
	Removed map[string]bool
	// NotAwaited reports whether an edit of the slots ends the waiting for an event.
	NotAwaited bool
	// AnotherEvent reports whether a direct edit made the poll name another event, or
	// none; Awaiting whether the poll still awaits its deleted event.
	AnotherEvent, Awaiting bool
	// Given is the time that a poll which is finalised again has for its event, where
	// its slots were edited since it was cancelled; zero where they were not.
	Given rules.Fingerprint
}

// SyncChecked is a poll after an error of its sync was set, or cleared.
func SyncChecked(p poll.Poll, entry poll.JournalEntry) poll.Poll {
	if entry.Decision == rules.Warn {
		p.Sync.State, p.Sync.Error = rules.StateError, syncError(rules.ErrorCode(entry.Reason), entry.At)
		return p
	}
	p.Sync.State, p.Sync.Error = rules.Recovered(p.Rules("", nil, nil)), nil
	return p
}

// TakenBack is a poll after a finalisation under way was taken back, by a command
// that finds the poll as asked already.
func TakenBack(p poll.Poll) poll.Poll {
	p.Sync.Generation++
	p.Sync.Awaited = nil
	return p
}

// Commanded is a poll after a command that rules.Apply accepted, as entry records it:
// for a finalisation the slot, the event and the generation.
func Commanded(p poll.Poll, entry poll.JournalEntry, more Details) poll.Poll {
	switch before := p; entry.Command {
	case rules.CommandFinalise:
		return finalised(p, entry, more)
	case rules.CommandCancel:
		return cancelled(p, entry, more)
	case rules.CommandReopen:
		return reopened(p, entry, more)
	case rules.CommandArchive, rules.CommandUnarchive:
		if before.Status == rules.Cancelled && !p.MarkedCancelled() {
			// The web app cancelled it, and nothing but the status says so: unarchived,
			// it would be something else.
			mark := poll.Cancelled{At: entry.At, Reason: rules.ReasonManual}
			p.Cancelled, p.Sync.Cancelled = &mark, &mark
		}
		p.Status = rules.Archived
		if entry.Command == rules.CommandUnarchive {
			p.Status = rules.Before(p.WinningSlotID != "", p.MarkedCancelled())
		}
	case rules.CommandEditSlots:
		if moved := p.Sync.Rescheduled; moved != nil {
			p.Sync.Rescheduled, p.WinningSlotID = nil, moved.FromSlotID
		}
		if more.Removed[p.WinningSlotID] {
			p.WinningSlotID = ""
		}
		if more.NotAwaited {
			p.Sync.Awaited = nil
		}
		return p
	case rules.CommandDeleteEvent:
		p.GoogleEventID = "" // its calendar is kept
		p = forgotten(p)
		if before.Sync.Applied.IsZero() && before.Sync.Error == nil { // an event that was never read
			p.Sync.State, _ = rules.Forgotten(before.Rules("", nil, nil), false)
		}
	case rules.CommandAcceptNew:
		p = p.Chosen(p.WinningSlotID, entry.At)
		p.Sync.Baseline, p.Sync.Rescheduled = p.Sync.Applied, nil
		if p.Sync.Error == nil || p.Sync.State != rules.StateError {
			p.Sync.State = rules.StateOK
		}
	}
	p.UpdatedAt = entry.At
	return p
}

// finalised leaves nothing of a reschedule, a cancellation or an error of before.
func finalised(p poll.Poll, entry poll.JournalEntry, more Details) poll.Poll {
	p = p.Unmarked()
	if _, kept := p.SlotPriority[entry.WinningSlotID]; !kept {
		p = p.Chosen(entry.WinningSlotID, entry.At)
	}
	p.Status, p.WinningSlotID, p.FinalizedAt, p.UpdatedAt = rules.Finalized, entry.WinningSlotID, entry.At, entry.At
	p.GoogleEventID, p.GoogleCalendarID = entry.EventID, entry.CalendarID
	p.Sync = poll.Sync{Generation: entry.Generation, LastSyncedAt: p.Sync.LastSyncedAt, Recorded: p.Sync.Recorded, Request: more.Request}
	if entry.EventID != "" {
		p.Sync.State, p.Sync.Baseline, p.Sync.Applied = rules.StateOK, entry.Fingerprint, entry.Fingerprint
		p.Sync.Observed, p.Sync.LastSyncedAt = entry.Updated, entry.At
	}
	return p
}

// cancelled keeps the winning slot and a reschedule. An event that stays keeps its
// id on the poll, so that the next finalisation knows of it. A poll that the calendar
// cancelled before has been cancelled since then: people know that.
func cancelled(p poll.Poll, entry poll.JournalEntry, more Details) poll.Poll {
	mark := poll.Cancelled{At: entry.At, Reason: rules.ReasonManual}
	switch {
	case more.Cancelled != nil:
		mark = *more.Cancelled
	case p.Status == rules.Cancelled && p.Cancelled != nil:
		mark.At = p.Cancelled.At
	}
	again := p.Status == rules.Cancelled
	p = marked(TakenBack(p), mark)
	if again {
		p.UpdatedAt = entry.At
	}
	if more.EventGone {
		p.GoogleEventID = ""
	}
	return p
}

// marked is a poll that is cancelled, and says so.
func marked(p poll.Poll, mark poll.Cancelled) poll.Poll {
	p.Status, p.Cancelled, p.UpdatedAt = rules.Cancelled, &mark, mark.At
	p.Sync.State, p.Sync.Cancelled, p.Sync.Error = rules.StateCancelled, &mark, nil
	return p
}

// reopened keeps nothing of a reschedule or cancellation, and of an event that stays
// its id, so that the next finalisation knows of it.
func reopened(p poll.Poll, entry poll.JournalEntry, more Details) poll.Poll {
	p = p.Unmarked()
	p.Status, p.WinningSlotID, p.UpdatedAt = rules.Open, "", entry.At
	p.Sync = poll.Sync{
		Generation: p.Sync.Generation + 1, LastSyncedAt: p.Sync.LastSyncedAt, Recorded: p.Sync.Recorded, Request: p.Sync.Request,
	}
	if more.EventGone {
		p.GoogleEventID = ""
	}
	return p
}

// Repaired is a poll after the repair of a direct edit, as entry records it: the status,
// the winning slot and the event are what somebody wrote already.
func Repaired(p poll.Poll, entry poll.JournalEntry, more Details) poll.Poll {
	switch repair := rules.Repair(entry.Reason); repair {
	case rules.RepairCancel:
		return cancelled(p, entry, more)
	case rules.RepairReopen:
		return reopened(p, entry, more)
	case rules.RepairRestore:
		if more.Awaiting {
			p = awaitingStill(p)
		}
		if !more.Given.IsZero() {
			p.Sync.Baseline, p.Sync.Applied = more.Given, more.Given
			p = unmoved(p)
		}
	case rules.RepairUnlink, rules.RepairSlots:
		p.Sync.Awaited = nil
	}
	if more.AnotherEvent {
		p = forgotten(p)
	}
	if rules.Repair(entry.Reason) != rules.RepairRestore {
		return p
	}
	p = p.Unmarked()
	p.UpdatedAt = entry.At
	if p.Sync.State == rules.StateCancelled {
		p.Sync.State = rules.StateNone
		if p.GoogleEventID != "" {
			p.Sync.State = rules.Recovered(p.Rules("", nil, nil))
		}
	}
	return p
}

// forgotten is a poll that knows nothing any more of the event that it followed, in
// the next generation: a time that it does not have, a move that was none, and what
// was wrong with it. The event that it names now is adopted as it is.
func forgotten(p poll.Poll) poll.Poll {
	p.Sync.Generation++
	if p.Sync.Applied.IsZero() && p.Sync.Error == nil { // nothing was known of it
		return p
	}
	p.Sync.Baseline, p.Sync.Applied, p.Sync.Observed = rules.Fingerprint{}, rules.Fingerprint{}, time.Time{}
	var code rules.ErrorCode
	p.Sync.State, code = rules.Forgotten(p.Rules("", nil, nil), p.GoogleEventID != "")
	if code == "" {
		p.Sync.Error = nil
	}
	return unmoved(p)
}

// awaitingStill is a poll that a person finalised again while its event is awaited:
// what the calendar moved went with the event, so the original time counts, and is
// what the event is compared with when it comes back.
func awaitingStill(p poll.Poll) poll.Poll {
	rescheduled := p.Sync.Rescheduled != nil
	if p.Sync.Awaited != nil {
		awaited := *p.Sync.Awaited
		awaited.Link.Generation = p.Sync.Generation
		if rescheduled {
			awaited.Winning, awaited.Original = awaited.Original, rules.Fingerprint{}
		}
		p.Sync.Awaited = &awaited
	}
	if rescheduled {
		p.Sync.Applied = p.Sync.Baseline
	}
	return unmoved(p)
}

// unmoved is a poll without its reschedule: the slot from before it wins again.
func unmoved(p poll.Poll) poll.Poll {
	if moved := p.Sync.Rescheduled; moved != nil {
		p.Sync.Rescheduled = nil
		if p.WinningSlotID == moved.ToSlotID {
			p.WinningSlotID = moved.FromSlotID
		}
	}
	return p
}
