package main

import (
	"strings"
	"testing"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

// The lines that the demo prints for second addresses run as they are, and end with the
// event without the one that was added.
func TestDemo_AttendeeLines_Run(t *testing.T) {
	t.Parallel()
	ready := startDemo(t, t.TempDir())
	lines, err := ready.SecondAddresses()
	if err != nil {
		t.Fatal(err)
	}
	output := runDemoLines(t, ready, lines, "bash", "curl", "grep", "date", "sed", "cut", "wc")
	for _, want := range []string{
		`["finn@north.example","finn@south.example","inactive"]`, `"email":"dora@south.example"`, "\n1\n", `"mappings":1`,
		`"held":null`,
	} {
		if !strings.Contains(output, want) {
			t.Errorf("the output does not hold %s:\n%s", want, output)
		}
	}
	last := output[strings.LastIndex(output, `{"kind":"calendar#event"`):]
	if !strings.Contains(last, `"email":"dora@north.example"`) || strings.Contains(last, "south.example") {
		t.Errorf("at the end the event is %s", last)
	}
}

// serviceKey is the JSON key of a service account, as Google gives it.
func serviceKey(t *testing.T) string {
	t.Helper()
	sim, err := google.New(google.Options{Clock: control.NewClock(nil)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := sim.AddServiceAccount(google.ServiceAccount{Email: "sync@quests-example.iam.gserviceaccount.com"})
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}
