package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestCommands_OfBothDoors_ShareOneBound: requests to our routes count against the web
// app's calls, and the other way round.
func TestCommands_OfBothDoors_ShareOneBound(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir(), "QS_POLL_COMMANDS=4")} // two at once
	id := o.ready.Polls["open"]
	finalise := map[string]any{"schedulerId": id, "slotId": o.slotsOf(id)[0]}
	o.result("googleCalendarFinalizePoll", finalise)
	if _, err := o.v1("gm", "POST", "/polls/"+id+"/cancel", nil); err != nil {
		t.Fatal(err)
	}
	got, err := o.call("gm", "/googleCalendarFinalizePoll", finalise)
	if err != nil {
		t.Fatal(err)
	}
	problem, _ := got.body["error"].(map[string]any)
	said := fmt.Sprint(problem["message"])
	if got.status != http.StatusTooManyRequests || problem["status"] != "RESOURCE_EXHAUSTED" || !strings.Contains(said, "Try again in") {
		t.Errorf("the call answers %d: %v", got.status, got.body)
	}
	o.result("googleCalendarDeleteEvent", finalise) // it comes before deleting, which is never refused
	if _, err := o.v1("gm", "POST", "/polls/"+id+"/reopen", nil); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("our route answers %v", err)
	}
	if _, err := o.v1("gm", "POST", "/polls/"+id+"/sync", nil); err != nil {
		t.Error(err)
	}
}

// TestCallable_RepeatedBeyondTheBound_IsAnswered: the app's client repeats a call
// without an answer, and gets the result of the first one.
func TestCallable_RepeatedBeyondTheBound_IsAnswered(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir(), "QS_POLL_COMMANDS=2")} // one at once
	id := o.ready.Polls["open"]
	finalise := map[string]any{"schedulerId": id, "slotId": o.slotsOf(id)[0]}
	first := o.result("googleCalendarFinalizePoll", finalise)["eventId"]
	for range 5 {
		if again := o.result("googleCalendarFinalizePoll", finalise)["eventId"]; again != first {
			t.Errorf("event %v, then %v", first, again)
		}
	}
}
