package explain_test

import (
	"fmt"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/operations/explain"
	"questscheduler/rules"
)

// The times of the journal.
var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	first  = session("2026-03-10T18:00:00Z", 4*time.Hour)
	second = session("2026-03-11T20:00:00Z", 6*time.Hour)
	third  = rules.Fingerprint{Start: day("2026-03-14"), End: day("2026-03-16"), AllDay: true}
)

func session(start string, length time.Duration) rules.Fingerprint {
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		panic(err)
	}
	return rules.Timed(at, at.Add(length))
}

func day(date string) int64 {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return at.UnixMilli()
}

// entry is the nth of the journal; each follows an hour after the one before.
func entry(n int, change func(e *poll.JournalEntry)) poll.JournalEntry {
	e := poll.JournalEntry{
		ID: fmt.Sprintf("jrn_%02d", n), At: noon.Add(time.Duration(n) * time.Hour), Trace: fmt.Sprintf("trc_%02d", n),
		Trigger: "push", Status: rules.Finalized, State: rules.StateOK, Generation: 1, WinningSlotID: "slot-1",
		EventID: "questsched1", CalendarID: "gm@example.com", AccountID: "acc_1", Baseline: first,
	}
	change(&e)
	return e
}

// observed is the nth entry, about an observation.
func observed(n int, action rules.Action, row string, before, at rules.Fingerprint, change func(e *poll.JournalEntry)) poll.JournalEntry {
	return entry(n, func(e *poll.JournalEntry) {
		e.EventState, e.Fingerprint, e.Updated, e.Fence = "present", at, e.At.Add(-time.Minute), int64(n)
		e.Decision, e.Reason, e.Before, e.After = action, row, before, at
		e.Inputs = &poll.Inputs{Now: e.At, Winning: before}
		change(e)
	})
}

// journal is that of a poll that went through everything.
func journal() []poll.JournalEntry {
	return []poll.JournalEntry{
		entry(0, func(e *poll.JournalEntry) {
			e.Trigger, e.Who, e.Command, e.Reason = "person", "gm", rules.CommandFinalise, "the event was made"
			e.EventState, e.Fingerprint, e.Updated, e.After, e.Announcement = "present", first, e.At, first, e.ID
		}),
		observed(1, rules.Reschedule, "moved", first, second, func(e *poll.JournalEntry) {
			e.State, e.WinningSlotID, e.Rescheduled, e.Announcement = rules.StateRescheduled, "slot-2", true, e.ID
		}),
		entry(2, func(e *poll.JournalEntry) {
			e.Trigger, e.Decision, e.Reason, e.Error = "look", rules.Warn, "token_expired", rules.TokenExpired
			e.State, e.WinningSlotID, e.Rescheduled, e.Before, e.After = rules.StateError, "slot-2", true, second, second
		}),
		observed(3, rules.RescheduleAgain, "moved_again", second, third, func(e *poll.JournalEntry) {
			e.State, e.WinningSlotID, e.Rescheduled, e.Announcement = rules.StateRescheduled, "slot-2", true, e.ID
		}),
		observed(
			4, rules.Restore, "moved_back", third, first,
			func(e *poll.JournalEntry) { e.Trigger, e.Who, e.Announcement = "person", "gm", e.ID },
		),
		observed(5, rules.Cancel, "deleted", first, first, func(e *poll.JournalEntry) {
			e.EventState, e.Fingerprint, e.Updated = "gone", rules.Fingerprint{}, time.Time{}
			e.Status, e.State, e.Cancelled, e.Announcement = rules.Cancelled, rules.StateCancelled, true, e.ID
		}),
		entry(6, func(e *poll.JournalEntry) {
			e.Trigger, e.Who, e.Command, e.Reason = "person", "gm", rules.CommandReopen, "reopened"
			e.Status, e.State, e.Generation, e.WinningSlotID, e.AccountID = rules.Open, "", 2, "", ""
			e.Before, e.Baseline, e.Announcement = first, rules.Fingerprint{}, e.ID
		}),
		entry(7, func(e *poll.JournalEntry) {
			e.Trigger, e.Who, e.Command, e.Reason = "person", "gm", rules.CommandFinalise, "finalised without a calendar event"
			e.State, e.Generation, e.WinningSlotID, e.Fingerprint = "", 3, "slot-3", second
			e.EventID, e.CalendarID, e.AccountID, e.Baseline, e.Announcement = "", "", "", rules.Fingerprint{}, e.ID
		}),
		entry(8, func(e *poll.JournalEntry) {
			e.Trigger, e.Who, e.Command, e.Reason = "outside_edit", "gm", rules.CommandCancel, "outside_cancel"
			e.Status, e.State, e.Generation, e.WinningSlotID = rules.Cancelled, rules.StateCancelled, 4, "slot-3"
			e.Before, e.Cancelled = rules.Fingerprint{}, true
			e.EventID, e.CalendarID, e.AccountID, e.Baseline, e.Announcement = "", "", "", rules.Fingerprint{}, e.ID
		}),
	}
}

// historyOf is a history that ends with entry upTo, and the poll as that entry leaves
// it.
func historyOf(entries []poll.JournalEntry, upTo int) explain.History {
	entries = entries[:upTo+1]
	last := entries[upTo]
	known := poll.Recorded{At: last.At, Status: last.Status, WinningSlotID: last.WinningSlotID, EventID: last.EventID}
	p := poll.Poll{
		ID: "poll-1", Title: "Session nine", CreatorID: "gm", Status: last.Status, WinningSlotID: last.WinningSlotID,
		GoogleEventID: last.EventID, GoogleCalendarID: last.CalendarID,
		Sync: poll.Sync{State: last.State, Applied: last.After, Baseline: last.Baseline, Generation: last.Generation, Recorded: known},
	}
	if last.Cancelled {
		p.Cancelled = &poll.Cancelled{At: last.At, Reason: rules.ReasonManual}
	}
	if last.Rescheduled {
		p.Sync.Rescheduled = &poll.Rescheduled{FromSlotID: "slot-1", ToSlotID: last.WinningSlotID}
	}
	if last.Error != "" {
		p.Sync.Error = &poll.SyncError{Code: last.Error}
	}
	return explain.History{Poll: p, Entries: entries}
}
