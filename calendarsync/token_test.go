package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// A 400 to a listing without a token is no token's fault: it is shown while it
// lasts, and makes neither a loop nor a crowd of calls.
func TestListing_RejectedWithoutToken_IsShownAndTriedSeldom(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Refuse("events.list", 400, "invalid", 0)
	before := w.Calls("events.list")
	w.MoveEvent("gm", eventID, noon)
	w.Run(20 * time.Second) // one sync
	equal(t, "listings of one sync", w.Calls("events.list")-before, 2)
	w.Run(6 * time.Hour)
	if listings := w.Calls("events.list") - before; listings > 20 {
		t.Errorf("%d listings in six hours", listings)
	}
	calendar := w.Calendar("gm")
	equal(t, "the calendar's error", calendar.LastError, "provider")
	equal(t, "the token", calendar.SyncToken, "")
	report, err := w.Health.OfPerson(t.Context(), "gm")
	if err != nil || len(report.Accounts) != 1 || len(report.Accounts[0].AllTroubles()) == 0 {
		t.Fatalf("the report is %+v, %v", report, err)
	}
	equal(t, "what it says is wrong", report.Accounts[0].AllTroubles()[0].Code, "look_failed")
	shows(t, w, pollID, "", rules.StateOK)
	w.Check()

	w.Heal()
	w.Sweep()
	w.Run(time.Hour)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	equal(t, "the calendar's error in the end", w.Calendar("gm").LastError, "")
	atRest(t, w)
}
