package explain_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/operations/explain"
	"questscheduler/rules"
)

func TestReport_AnEventMovedToAnotherCalendar_SaysWhereItIs(t *testing.T) {
	t.Parallel()
	away := observed(1, rules.MoveCalendar, "moved_calendar", first, first, func(e *poll.Entry) {
		e.EventState, e.Fingerprint, e.Updated = "gone", rules.Fingerprint{}, time.Time{}
		e.Inputs.MovedTo = poll.Place{AccountID: "acc_1", CalendarID: "club@example.com"}
	})
	there := observed(2, rules.Reschedule, "moved", first, second, func(e *poll.Entry) {
		e.CalendarID = "club@example.com"
		e.State, e.WinningSlotID, e.Rescheduled, e.Announcement = rules.StateRescheduled, "slot-2", true, e.ID
	})
	entries := append(journal()[:1:1], away, there)
	if replayed := explain.Replay(entries); len(replayed.Breaks) > 0 {
		t.Errorf("it does not replay: %+v", replayed.Breaks)
	}
	there.CalendarID = "gm@example.com" // which it left
	if replayed := explain.Replay(append(entries[:2:2], there)); len(replayed.Breaks) == 0 {
		t.Error("it replays though the calendar is one that the event has left")
	}
	var text strings.Builder
	if err := explain.NewReport(historyOf(entries, 1), true).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "moved_calendar.txt", text.String())
}
