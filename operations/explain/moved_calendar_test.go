package explain_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/operations/explain"
	"questscheduler/rules"
)

func TestReport_AnEventMovedToAnotherCalendar_SaysWhereItIs(t *testing.T) {
	t.Parallel()
	away := observed(1, rules.MoveCalendar, "moved_calendar", first, first, func(e *poll.JournalEntry) {
		e.EventState, e.Fingerprint, e.Updated = "gone", rules.Fingerprint{}, time.Time{}
		e.Inputs.MovedTo = poll.Place{AccountID: "acc_1", CalendarID: "club@example.com"}
	})
	there := observed(2, rules.Reschedule, "moved", first, second, func(e *poll.JournalEntry) {
		e.CalendarID = "club@example.com"
		e.State, e.WinningSlotID, e.Rescheduled, e.Announcement = rules.StateRescheduled, "slot-2", true, e.ID
	})
	entries := append(journal()[:1:1], away, there)
	if verdict := explain.Judge(historyOf(entries, 2)); !verdict.Agrees {
		t.Errorf("it does not replay: %+v", verdict)
	}
	there.CalendarID = "gm@example.com" // which it left
	if verdict := explain.Judge(historyOf(append(entries[:2:2], there), 2)); len(verdict.Breaks) == 0 {
		t.Error("it replays though the calendar is one that the event has left")
	}
	golden(t, "moved_calendar.txt", textOf(t, explain.NewReport(historyOf(entries, 1), true)))
}
