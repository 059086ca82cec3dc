package worldtest_test

import (
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

func TestMalform_PersonInTheirBrowser_SeesTheEventAsItIs(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, eventID := w.Finalised()
	before := w.EventOf("gm", eventID)
	w.Malform("gm", eventID, `{"start": "tomorrow", "updated": null}`)
	if got := w.EventOf("gm", eventID); got.Start != before.Start || got.Updated != before.Updated {
		t.Errorf("the event is %+v, want %+v", got, before)
	}
	w.MoveEvent("gm", eventID, worldtest.Noon)
	if list := w.Events("gm"); len(list) != 1 || list[0].Fingerprint() == before.Fingerprint() {
		t.Errorf("the calendar is %+v", list)
	}
	if got := w.Google.Malformed(); len(got) != 1 || string(got[0].Fields["start"]) != `"tomorrow"` {
		t.Errorf("the program is shown %+v", got)
	}
	w.Heal()
	if got := w.Google.Malformed(); len(got) != 0 {
		t.Errorf("still malformed: %+v", got)
	}
}

func TestClearCalendar_WithALinkedPoll_CancelsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.ClearCalendar("gm")
	if left := w.Events("gm"); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	w.Run(time.Minute)
	if got := w.View(pollID).Poll.Status; got != rules.Cancelled {
		t.Errorf("the poll is %s", got)
	}
}
