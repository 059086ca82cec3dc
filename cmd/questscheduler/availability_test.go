package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAvailability_OfAnAccountThatIsNotSynced_IsGooglesAnswer: the game master's accounts
// grant that we ask when they are busy.
func TestAvailability_OfAnAccountThatIsNotSynced_IsGooglesAnswer(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	start := time.Now().UTC().AddDate(0, 0, 40).Truncate(time.Hour)
	stamp := func(at time.Time) string { return at.Format(time.RFC3339) }
	gm := o.ready.Users["gm"]
	o.do("POST", o.ready.Google+"/calendar/v3/calendars/primary/events", "Bearer "+gm.GoogleToken, map[string]any{
		"summary": "Secret", "start": map[string]any{"dateTime": stamp(start)}, "end": map[string]any{"dateTime": stamp(start.Add(time.Hour))},
	}).want(t, http.StatusOK)
	data, err := o.v1("gm", "GET", "/availability?start="+stamp(start.Add(-time.Hour))+"&end="+stamp(start.Add(24*time.Hour)), nil)
	if err != nil {
		t.Fatal(err)
	}
	accounts := list(data["accounts"])
	for _, account := range accounts {
		if account["source"] != "freebusy" || account["as_of"] == nil || account["unknown"] != nil {
			t.Errorf("an account is %v", account)
		}
	}
	busy := list(data["busy"])
	if len(accounts) == 0 || len(busy) != 1 || len(list(data["unknown"])) != 0 ||
		busy[0]["start"] != stamp(start) || busy[0]["end"] != stamp(start.Add(time.Hour)) {
		t.Errorf("the answer is %v", data)
	}
	result := o.result("googleCalendarBusyWindows", map[string]any{"start": stamp(start), "end": stamp(start.Add(time.Hour))})
	if len(list(result["busyWindows"])) != 1 || len(list(result["unknownWindows"])) != 0 {
		t.Errorf("the callable answers %v", result)
	}
	if said := fmt.Sprint(data, result); strings.Contains(said, "Secret") {
		t.Errorf("the answers hold the title: %s", said)
	}
}
